"""Tables become instants, and rules pick instants."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Activity, Algorithm, after, always, at, resident, span, while_
from alignsim.errors import CompositionError
from alignsim.schedule import Schedule
from small_graphs import INFER, TRAIN

INFER_MOMENTS = ("forward_layers", "forward_head", "loss")
MOMENTS = ("forward", "backward_start", "backward_end", "optimizer_step")
DPO = Algorithm(
    name="DPO",
    phases={"update": {"policy": TRAIN, "reference": INFER}},
    order={"update": ("policy.forward", "reference.forward", *(f"policy.{moment}" for moment in MOMENTS[1:]))},
    model_of={"reference": "policy"},
)
RLHF = Algorithm(
    name="RLHF",
    phases={
        "rollout": {"policy": "generate", "critic": "offloaded", "reward": "idle"},
        "score": {"critic": INFER, "reward": INFER, "policy": "asleep"},
        "update": {"policy": TRAIN, "critic": TRAIN, "reward": "offloaded"},
    },
)


def picked(algorithm, live, role="policy", phase=None):
    schedule = Schedule.of(algorithm)
    return [str(schedule.events[i]) for i in sorted(live.picks(schedule, phase, role))]


def steady(algorithm, live, role="policy", phase=None):
    return [e for e in picked(algorithm, live, role, phase) if not e.startswith(("first~", "init:"))]


def test_every_instant_of_dpo_in_its_own_order():
    lap = [f"update:{e.replace('.', '/')}" for e in DPO.order["update"]]
    wanted = ["init:policy/load", "init:reference/load", *(f"first~{e}" for e in lap), *lap]
    assert [str(event) for event in Schedule.of(DPO).events] == wanted


def test_the_references_forward_is_inside_the_policys_span():
    held = steady(DPO, span("forward", "backward_start"))
    assert held == ["update:policy/forward", "update:reference/forward", "update:policy/backward_start"]
    assert steady(DPO, span("forward", "forward"), "reference") == ["update:reference/forward"]


def test_without_an_order_of_its_own_a_phase_goes_role_by_role():
    events = [str(e) for e in Schedule.of(RLHF).events if e.lap == "steady"]
    assert events == [
        "rollout:policy/prefill",
        "rollout:policy/decode",
        "score:critic/forward",
        "score:reward/forward",
        *(f"update:policy/{moment}" for moment in MOMENTS),
        *(f"update:critic/{moment}" for moment in MOMENTS),
    ]


def test_a_phase_in_which_nobody_is_busy_still_has_an_instant():
    quiet = Algorithm(name="quiet", phases={"wait": {"policy": "idle", "critic": "idle"}})
    assert [str(e) for e in Schedule.of(quiet).events if e.lap == "steady"] == ["wait:policy/idle"]


def test_always_is_every_instant_of_all_laps_or_of_ones_phase():
    assert len(picked(RLHF, always)) == len(Schedule.of(RLHF).events)
    assert {e.partition(":")[0] for e in picked(RLHF, always, phase="score")} == {"first~score", "score"}


def test_who_is_away_is_not_resident():
    assert {e.partition(":")[0] for e in picked(RLHF, resident)} == {
        "init",
        "first~rollout",
        "first~update",
        "rollout",
        "update",
    }
    assert {e.partition(":")[0] for e in steady(RLHF, resident, "critic")} == {"score", "update"}
    assert {e.partition(":")[0] for e in steady(RLHF, resident, "reward")} == {"rollout", "score"}


def test_at_is_ones_own_moments_alone():
    assert steady(RLHF, at("forward")) == ["update:policy/forward"]
    assert steady(RLHF, at("forward"), "critic") == ["score:critic/forward", "update:critic/forward"]
    assert steady(RLHF, at("forward"), "critic", "score") == ["score:critic/forward"]
    assert steady(RLHF, at("prefill", "decode")) == ["rollout:policy/prefill", "rollout:policy/decode"]
    assert picked(RLHF, at("load"), "reward") == ["init:reward/load"]


def test_while_is_the_whole_phase_in_which_one_does_so():
    assert {e.partition(":")[0] for e in steady(RLHF, while_("train"))} == {"update"}
    assert len(steady(RLHF, while_("train"))) == 8
    assert {e.partition(":")[0] for e in steady(RLHF, while_("infer", "train"), "critic")} == {"score", "update"}
    assert picked(RLHF, while_("train"), role=None) == []


def test_after_is_for_good_from_the_first_time():
    events = [str(e) for e in Schedule.of(RLHF).events]
    start = events.index("first~update:policy/optimizer_step")
    assert picked(RLHF, after("optimizer_step")) == events[start:]
    assert picked(RLHF, after("optimizer_step"), phase="rollout") == ["rollout:policy/prefill", "rollout:policy/decode"]
    assert picked(RLHF, after("never")) == []


def test_a_span_runs_over_other_roles_and_within_its_phase():
    assert steady(RLHF, span("forward", "backward_end"), "critic") == [
        f"update:critic/{moment}" for moment in MOMENTS[:3]
    ]
    assert steady(RLHF, span("backward_end", "forward")) == []


def test_rules_combine():
    either, both = at("prefill") | at("optimizer_step"), while_("train") & at("forward", "decode")
    assert steady(RLHF, either) == ["rollout:policy/prefill", "update:policy/optimizer_step"]
    assert steady(RLHF, both) == ["update:policy/forward"]
    assert either.name == "at prefill or at optimizer_step"
    assert both.name == "while it does train and at forward, decode"


def test_activities_of_ones_own():
    judge = Activity("judge", ("read", "write"), like="generate")
    scan = Activity("scan", like="infer")
    parked = Activity("parked", like="offloaded", resident=False)
    own = Algorithm(name="own", phases={"a": {"x": judge, "y": scan, "z": parked}})
    assert [str(e) for e in Schedule.of(own).events if e.lap == "steady"] == [
        "a:x/read",
        "a:x/write",
        *(f"a:y/{moment}" for moment in INFER_MOMENTS),
    ]
    assert own.activities("x") == {"judge", "generate"}
    assert len(steady(own, while_("generate"), "x")) == 5
    assert steady(own, resident, "z") == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"phases": {"u": {"p": "trian"}}}, r"u\.p: no activity 'trian'; did you mean train\?"),
        ({"phases": {"u": {"p": 5}}}, r"u\.p: no activity 5"),
        ({"phases": {"u": {"p": ["train"]}}}, r"u\.p: no activity \['train'\]"),
        ({"phases": {"u": {"p": Activity("x", like="trian")}}}, "no activity 'trian' to be like; did you mean train"),
        ({"phases": {}}, "algorithm X: phases: no role does anything"),
        ({"phases": {"u": {}}}, "no role does anything"),
        ({"phases": {"init": {"p": TRAIN}}}, "is the name of the loading before the first phase"),
        ({"phases": {"my phase": {"p": TRAIN}}}, "my phase: phases and roles are spelt as identifiers"),
        ({"phases": {"u": {"a.b": TRAIN}}}, r"a\.b: phases and roles are spelt as identifiers"),
        ({"order": {"v": ()}}, r"order\['v'\]: no such phase; known: u"),
        (
            {"order": {"u": ("p.forward", "p.bakward_start")}},
            r"no event 'p.bakward_start'; did you mean p.backward_start",
        ),
        ({"order": {"u": ("p.forward",)}}, r"order\['u'\]: leaves out 'p.backward_end'"),
        ({"order": {"u": ("p.forward", *(f"p.{m}" for m in MOMENTS))}}, r"order\['u'\]: has 'p.forward' twice"),
        ({"concurrent": (("u", "w"),)}, "concurrent: no phase 'w'; known: u"),
        ({"model_of": {"q": "p"}}, "model_of: no role 'q'; known: p"),
        ({"model_of": {"p": "q"}}, "model_of: no role 'q'"),
    ],
)
def test_tables_that_make_no_sense(fields, message):
    with pytest.raises(CompositionError, match=message):
        Algorithm(**({"name": "X", "phases": {"u": {"p": TRAIN}}} | fields))


def test_all_that_is_wrong_with_a_table_at_once():
    with pytest.raises(CompositionError) as caught:
        Algorithm(name="X", phases={"u": {"p": TRAIN}}, concurrent=(("w", "v"),), model_of={"q": "p"})
    assert len(caught.value.problems) == 3


def test_an_order_need_not_say_when_somebody_is_away():
    fields = {"phases": {"u": {"p": TRAIN, "q": "offloaded", "r": "idle"}}, "order": {"u": [f"p.{m}" for m in MOMENTS]}}
    events = Schedule.of(Algorithm(name="X", **fields)).events  # type: ignore[arg-type]
    assert [e.role for e in events if e.lap == "steady"] == ["p"] * 4


def test_a_table_is_not_the_dictionary_that_it_was_made_of():
    table: dict[str, dict[str, Any]] = {"u": {"p": TRAIN}}
    order = {"u": [f"p.{m}" for m in MOMENTS]}
    models = {"p": "p"}
    algorithm = Algorithm(name="X", phases=table, order=order, model_of=models)
    table["u"]["q"] = "infer"
    order["u"].clear()
    models["z"] = "p"
    assert algorithm.roles == ("p",)
    assert len(Schedule.of(algorithm).events) == 1 + 2 * 4
    assert dict(algorithm.model_of) == {"p": "p"}
    with pytest.raises(TypeError):
        algorithm.phases["v"] = {}  # type: ignore[index]
