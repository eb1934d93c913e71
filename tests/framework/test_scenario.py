"""Scenarios: immutable, varied by making another, and able to travel; their results."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import pytest

from alignsim import (
    Algorithm,
    Const,
    InvalidInput,
    Layout,
    Place,
    Registry,
    Scenario,
    Scenarios,
    UnknownName,
    at,
    default_registry,
    given,
    quantity,
    term,
)
from alignsim.errors import AlignSimError, CompositionError
from alignsim_plugins.engines.model_state import weights

RUN = Scenarios.Llama2_70B_PpoAlignment.as_run(accelerator="H100-SXM5-80GB")
MODELS = {"policy": "Llama-2-70B", "critic": "Llama-2-13B", "reward": "Llama-2-13B"}
AnyScenario: Any = Scenario


@term("byte", per={"role"}, during={"train"}, resource="allocated", live=at("optimizer_step"), source="a test")
def workspace(
    parameters: Any,
    each: Any = Const(1, "byte", low=0.5, high=4, source="measured"),
    model_parallel_devices: Any = None,
) -> Any:
    """What a fused optimizer needs for a moment."""
    return parameters * each / model_parallel_devices


WITH_WORKSPACE = RUN.with_terms(workspace)


def wrong(**changes):
    with pytest.raises(AlignSimError) as caught:
        RUN.using(**changes)
    return str(caught.value)


def test_nothing_of_it_can_be_changed():
    run: Any = RUN
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        run.layout = Layout()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        run.layout.tensor = 3


def test_it_does_not_see_later_changes_of_what_it_was_made_of():
    layouts, places, givens = {"policy": Layout(tensor=2)}, {"policy": Place()}, {"policy.weight_bytes": 4}
    models, components = dict(RUN.models), dict(RUN.components)
    run = RUN.using(layouts=layouts, places=places, givens=givens, models=models, components=components)
    before = (dict(run.layouts), dict(run.places), dict(run.givens), dict(run.models), dict(run.components))
    for mapping in (layouts, places, givens, models, components):
        mapping.clear()
    assert (dict(run.layouts), dict(run.places), dict(run.givens), dict(run.models), dict(run.components)) == before


def test_using_makes_another():
    other = RUN.using(tensor=4)
    assert (RUN.layout.tensor, other.layout.tensor, other.layout.pipeline) == (8, 4, 4)
    assert other.result.peak == 2 * RUN.result.peak
    assert RUN.using(name="x").name == "x"
    assert RUN.using(layout=Layout(tensor=2), pipeline=8).layout == Layout(tensor=2, pipeline=8)
    assert RUN.using() == RUN


def test_using_sets_inputs_of_the_graph():
    more = RUN.using(kv_bytes=8)
    assert (more.result.peak - RUN.result.peak).m_as("byte") == 3 * 85899345920 / 32
    assert more.givens["policy.kv_bytes"].value == 8


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"tensr": 4}, "tensr: no such field or input; did you mean tensor"),
        ({"tensor": 0}, "must be at least 1, got 0"),
        ({"algorithm": "PPP"}, "no algorithm is named 'PPP'; did you mean PPO"),
        ({"algorithm": 5}, "Scenario.algorithm: expected one of the algorithms, or the name of one; got 5"),
        ({"accelerator": "H100"}, "no accelerator is named 'H100'; did you mean"),
        (
            {"accelerator": {"gpu": "H100-SXM5-80GB"}},
            "accelerator['gpu']: no role is in such a pool; did you mean gpus",
        ),
        (
            {"models": MODELS | {"polic": "Llama-2-7B"}},
            "models['polic']: algorithm PPO has no such role; did you mean policy",
        ),
        ({"models": {"policy": "Llama-2-70B"}}, "needs a model"),
        ({"models": MODELS | {"policy": 7e10}}, "Scenario.models['policy']: expected one of the architectures"),
        ({"models": ["Llama-2-70B"]}, "models: expected a dictionary"),
        ({"models": None}, "models: expected a dictionary, got None"),
        ({"layouts": {"critc": Layout()}}, "layouts['critc']: algorithm PPO has no such role; did you mean critic"),
        ({"layouts": {"policy": 3}}, "layouts['policy']: expected a Layout, got 3"),
        ({"places": {"policy": "gpus"}}, "places['policy']: expected a Place, got 'gpus'"),
        ({"components": {"engin": "even-split"}}, "no slot is named 'engin'; did you mean engine"),
        (
            {"components": {"engine": "evn-split"}},
            "no component of slot 'engine' is named 'evn-split'; did you mean even-split",
        ),
        ({"components": {"polic.engine": "even-split"}}, "algorithm PPO has no role 'polic'; did you mean policy"),
        ({"components": {"engine": 5}}, "components['engine']: expected a component or its name, got 5"),
        (
            {"components": {"engine": default_registry().component("optimizer", "adamw-fused")}},
            "fills slot 'optimizer', not 'engine'",
        ),
        ({"givens": {"policy.weight_bytes": "2 gigs"}}, "policy.weight_bytes: cannot read '2 gigs'"),
        ({"givens": {"a": None, "b": float("nan")}}, "b: expected a finite number"),
        ({"terms": (5,)}, "terms: expected a term, a function under @term(...); got 5"),
    ],
)
def test_what_is_wrong_is_told_with_what_would_be_right(changes, wanted):
    assert wanted in wrong(**changes)


def test_fields_are_keywords_and_their_names_are_checked():
    with pytest.raises(InvalidInput, match=r"Scenario\.modles: no such field; did you mean models"):
        AnyScenario(algorithm="PPO", modles=MODELS)
    with pytest.raises(InvalidInput, match="takes keywords only"):
        AnyScenario("PPO", MODELS)


def test_two_models_of_one_name_are_not_mixed_up():
    small = attrs.evolve(default_registry().architectures["Llama-2-70B"], layers=2)
    found = wrong(models=MODELS | {"critic": small})
    assert "is another model than that of 'policy', but has the same name 'Llama-2-70B'; rename one of them" in found


def test_names_stand_for_objects():
    architectures = default_registry().architectures
    by_name = RUN.using(models=MODELS, algorithm="PPO", components=RUN.components)
    objects = {role: architectures[name] for role, name in MODELS.items()}
    headed = {role: objects[role].with_scalar_head() for role in ("critic", "reward")}
    by_object = RUN.using(models=objects | headed)
    assert by_name == by_object
    assert RUN.using(models=MODELS | {"policy": "llama-2-70b"}) == by_name


def test_numbers_by_path():
    run = RUN.with_givens({"policy.weight_bytes": 4, "critic.model_state": "1 GiB"})
    text = str(run.result.explain("policy.weights"))
    assert "policy.weight_bytes = 4 B" in text
    assert text.count("[user]") == 1
    pinned = run.result.explain("critic.model_state")
    assert (pinned.value, pinned.origin) == (
        2.0**30,
        "user instead of parts by alignsim_plugins.engines.model_state.model_state",
    )
    for path, wanted in (
        ("policy.weight_byts", "did you mean policy.weight_bytes"),
        ("polcy.weight_bytes", "did you mean policy"),
    ):
        with pytest.raises(InvalidInput, match=wanted):
            _ = RUN.with_givens({path: 4}).result
    with pytest.raises(InvalidInput, match="is not a path"):
        _ = RUN.with_givens({"a b": 4}).result


def test_terms_are_added_and_replaced():
    added = WITH_WORKSPACE.result
    assert added.value("policy.workspace") == 70e9 / 32
    assert added["policy.workspace"] == quantity(70e9 / 32, "byte")
    assert "policy.workspace" in dict(added.bindings("update:allocated")[0].terms)

    @term("byte", per={"role"}, group="model_state", replaces=True, name="weights")
    def no_weights(parameters):
        return 0 * parameters

    lighter = RUN.with_terms(no_weights).result
    assert lighter.value("policy.weights") == 0
    assert lighter.value("init:allocated") == RUN.result.value("init:allocated") - 2 * 2 * (70e9 + 13e9) / 32


@pytest.mark.parametrize(
    "what", [RUN, RUN.result, WITH_WORKSPACE.result, weights, RUN.graph, RUN.algorithm, RUN.components["engine"]]
)
def test_it_travels(what):
    again = pickle.loads(pickle.dumps(what))
    if hasattr(what, "to_json"):
        assert again.to_json() == what.to_json()
    elif what is RUN.graph:
        assert list(again.nodes) == list(what.nodes)
    else:
        assert again == what


def test_it_travels_to_another_process():
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).result.to_json())"
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(RUN), capture_output=True, check=True)
    assert json.loads(done.stdout) == json.loads(RUN.result.to_json())


def test_a_term_without_a_name_of_its_own_cannot_travel():
    @term("byte", per={"role"}, resource="allocated")
    def local(parameters):
        return parameters

    with pytest.raises(TypeError, match=r"term 'local' cannot travel: .*local is not a name of a module"):
        pickle.dumps(RUN.with_terms(local))


def test_the_answer_is_the_same_in_many_threads():
    registry = Registry(discover=True)

    def ask(i):
        run = AnyScenario(
            algorithm="PPO",
            models=MODELS,
            layout=RUN.layout,
            components={s: c.name for s, c in RUN.components.items()},
            batch=RUN.batch,
            givens=RUN.givens,
            registry=registry,
        )
        return run.using(tensor=1 + i % 2).result.to_json()

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(16)))
    assert len(set(answers[::2])) == len(set(answers[1::2])) == 1
    assert answers[0] != answers[1]


# ---- results ---------------------------------------------------------------------------------------------------------


def test_low_expected_high():
    result = WITH_WORKSPACE.result
    low, expected, high = result.range
    assert low <= expected <= high
    state = 1494e9 / 32
    assert low == max(state + 35e9 / 32, RUN.result.value("allocated"))
    assert expected == RUN.result.value("allocated")
    assert high == state + 4 * 70e9 / 32
    assert result.at("high")["policy.workspace"] == 8 * result.at("low")["policy.workspace"]
    assert RUN.result.range == (RUN.result.value("allocated"),) * 3


def test_json_is_plain_and_whole():
    result = WITH_WORKSPACE.result
    found = json.loads(result.to_json())
    assert found == result.to_dict()
    assert found["schema"] == "alignsim.result/2"
    assert found["peak"]["expected"] == result.peak.m_as("byte")
    assert found["binding"]["value"] == sum(found["binding"]["terms"].values())
    assert set(found["phases"]) == {"init", "rollout", "score", "update"}
    assert max(phase["value"] for phase in found["phases"].values()) == found["binding"]["value"]
    assert found["runner_up"]["value"] <= found["binding"]["value"]


def test_explanations_have_a_depth():
    result = RUN.result
    assert result.explain(depth=0).inputs == ()
    assert all(not e.inputs for _, e in result.explain(depth=1).inputs)
    whole = str(result.explain())
    assert whole.count("{Llama-2-70B-nominal}.parameters = 70,000,000,000") >= 1
    assert result.explain("policy.weights").to_dict()["inputs"]["weight_bytes"]["value"] == 2
    with pytest.raises(UnknownName, match=r"did you mean policy\.weights"):
        result.explain("policy.weigths")


def test_a_resource_or_a_solver_that_there_is_not():
    with pytest.raises(InvalidInput, match="nothing takes up 'devise' in this run"):
        _ = RUN.using(resource="devise").result
    with pytest.raises(UnknownName, match="did you mean peak-memory"):
        _ = RUN.using(solver="peak-memry").result


def test_sweeps_agree_with_single_answers():
    swept = WITH_WORKSPACE.sweep(tensor=[1, 2, 4, 8], outputs=("allocated", "update:allocated", "policy.workspace"))
    for row, tensor in enumerate([1, 2, 4, 8]):
        result = WITH_WORKSPACE.using(tensor=tensor).result
        assert [swept[path][row] for path in swept.answers] == [result.value(path) for path in swept.answers]
    assert [name.partition("/")[0] for name in swept.binding("update:allocated")] == ["update:policy"] * 4
    with pytest.raises(UnknownName, match="output of this sweep"):
        _ = swept["policy.weights"]


def test_an_algorithm_of_ones_own():
    distil = Algorithm(name="DISTIL", phases={"teach": {"student": "train", "teacher": "infer"}})
    run = AnyScenario(
        algorithm=distil,
        models={"student": "Llama-3.1-8B", "teacher": "Llama-2-70B"},
        layout=Layout(tensor=8),
        components={
            "precision": "bf16-master",
            "engine": "even-split",
            "optimizer": "adamw-fused",
            "adapter": "full",
            "*": "none",
        },
        givens={"teacher.weight_bytes": 1},
    )
    assert run.result.peak.m_as("byte") == (16 * 8_030_261_248 + 68_976_648_192) / 8
    assert given(run.givens["teacher.weight_bytes"]).value == 1


def test_a_named_model_has_the_head_that_the_algorithm_says():
    run = Scenario(algorithm="PPO", models={"policy": "Llama-3.2-1B", "critic": "Llama-3.2-1B"})
    assert (run.models["policy"].head, run.models["critic"].head) == ("language-model", "scalar")
    kept = run.using(models={"policy": "Llama-3.2-1B", "critic": run.models["policy"]})
    assert kept.models["critic"].head == "language-model"


def test_a_scalar_head_is_of_a_role():
    with pytest.raises(CompositionError, match="no role 'critc'; did you mean critic"):
        Algorithm(name="odd", phases={"update": {"critic": "train"}}, scalar_heads=("critc",))
