"""The conformance kit says what is wrong with a bad plugin, and the laws what is wrong with a bad run."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import attrs
import pytest

from alignsim import (
    Algorithm,
    AlignSimError,
    Architecture,
    Choice,
    Component,
    Const,
    Given,
    Preset,
    Slot,
    default_registry,
    term,
)
from alignsim.compose import compose
from alignsim.kernel import Kernel
from alignsim.testing import (
    LAWS,
    AlgorithmTests,
    ArchitectureTests,
    ComponentTests,
    PresetTests,
    ScenarioTests,
    Setup,
    SolverTests,
    TermTests,
    Workbench,
    assert_lawful,
    laws,
    offering,
    registry_of,
)
from alignsim.testing.kit import workbench_of
from small_graphs import formula, terms_of

TOOLS = Slot(name="tools", promises={"tool_memory": "byte"}, required_for=frozenset({"train"}))


def small_registry():
    """One algorithm and one filling of each slot: quick to look through."""
    everything = default_registry()
    chosen = Workbench(everything).setup("SFT").components
    keep = {everything.components.origin(f"{slot}:{name}").plugin for slot, name in chosen.items()}
    keep.add(everything.algorithms.origin("SFT").plugin)
    many = {f"alignsim_{kind}" for kind in ("algorithms", "components", "scenarios", "architectures", "accelerators")}
    keep |= {report.provider.plugin for report in everything.plugins if not many & report.hooks.keys()}
    return registry_of(*(import_module(name) for name in sorted(keep)))


@pytest.fixture(scope="module", autouse=True)
def workbench():
    registry = small_registry()
    with patch("alignsim.testing.kit.default_registry", lambda: registry):
        yield Workbench(registry)


@pytest.fixture
def run(workbench):
    return workbench.setup("SFT").scenario(workbench.registry)


@term("byte", per={"role"}, during={"train"}, resource="allocated", source="made up")
def tool_memory(parameters, tool_bytes=Const(1, "byte/parameter", source="made up")):
    """What tools keep."""
    return parameters * tool_bytes


TOOL = Component(name="hammer", slot=TOOLS, terms=(tool_memory,), source="made up")
TABLE = Algorithm(name="HAMMERING", phases={"update": {"policy": "train"}}, source="made up")


def failing(kit, **offers):
    """Return what a plugin of these objects is told, by the name of the test that fails."""
    cls: Any = type("Kit", (kit,), {"plugin": offering("acme", **offers)})
    kit = cls()
    said = {}
    for name in (name for name in dir(cls) if name.startswith("test_")):
        wanted = inspect.signature(getattr(cls, name)).parameters
        for item in kit.offered().values() if cls.subject in wanted else [None]:
            given = {cls.subject: item, "workbench": workbench_of(kit.plugin)}
            try:
                getattr(kit, name)(**{key: value for key, value in given.items() if key in wanted})
            except (AssertionError, AlignSimError, TypeError, pytest.fail.Exception) as error:
                said[name.removeprefix("test_")] = str(error)
            except pytest.skip.Exception:
                pass
    return said


def test_a_good_component():
    assert failing(ComponentTests, components=[TOOL]) == {}
    assert failing(TermTests, components=[TOOL]) == {}


def test_nothing_offered():
    for kit in (AlgorithmTests, ArchitectureTests, ComponentTests, ScenarioTests, SolverTests, TermTests):
        assert list(failing(kit, accelerators=[])) == ["offers_at_least_one"]


def test_a_component_in_other_units():
    per_parameter = Component(name="saw", slot=TOOLS, defaults={"tool_memory": Const(1, "s", source="x")}, source="x")
    said = failing(ComponentTests, components=[per_parameter])
    assert said["keeps_the_units_of_its_slot"].startswith("tool_memory is in s, and promised in byte")


def test_a_component_without_sources_or_words():
    (bare,) = terms_of("tool_memory(tool_count) = tool_count", unit="byte", per={"role"}, resource="allocated")
    said = failing(ComponentTests, components=[Component(name="saw", slot=TOOLS, terms=(bare,), defaults={"x": 1})])
    assert "name the paper" in said["says_where_it_is_from"]
    assert "no algorithm composes with it" in said["goes_with_some_algorithm"]
    said = failing(
        ComponentTests, components=[Component(name="saw", slot=TOOLS, terms=(bare,), defaults={"x": 1}, source="me")]
    )
    assert "has no docstring" in said["says_where_it_is_from"]
    assert "has no source=" in said["says_where_it_is_from"]


def test_a_term_that_cannot_travel_and_is_nowhere():
    lost = attrs.evolve(terms_of("lost(nowhere) = nowhere", during={"sleepwalk"}, per={"role"})[0], source="me")
    said = failing(TermTests, terms=[lost])
    assert "cannot travel" in said.get("travels", "")
    assert "no run that was found has it" in said["has_a_place_in_some_run"]


def test_an_algorithm_that_goes_round_in_circles():
    row = {"policy": "train", "twin": "infer"}
    round_ = Algorithm(name="ROUND", phases={"update": row}, model_of={"policy": "twin", "twin": "policy"})
    said = failing(AlgorithmTests, algorithms=[round_])
    assert "policy -> twin -> policy" in said["every_role_has_a_model"]
    assert "source=" in said["says_where_it_is_from"]


def test_an_algorithm_in_which_nothing_happens():
    idle = Algorithm(
        name="IDLE", phases={"update": {"policy": "train"}, "rest": {}}, numbers={"x": Given(1)}, source="x"
    )
    said = failing(AlgorithmTests, algorithms=[idle])
    assert said["every_phase_is_busy"].startswith("nobody does anything in rest")
    assert "these numbers are from: x" in said["says_where_it_is_from"]


def test_a_model_that_is_larger_than_its_shape():
    shape: dict[str, Any] = {"layers": 2, "hidden": 64, "heads": 4, "ffn": 128, "vocab": 100}
    wrong = Architecture(name="Acme-1M", **shape, recorded=Given(1e6, "parameter", source="a card"), source="a card")
    said = failing(ArchitectureTests, architectures=[wrong])
    assert list(said) == ["shape_gives_the_recorded_count"]
    assert "recorded are 1,000,000" in said["shape_gives_the_recorded_count"]
    taken = attrs.evolve(wrong, name=next(iter(default_registry().architectures)), recorded=None, source="user")
    assert list(failing(ArchitectureTests, architectures=[taken])) == ["names_are_free", "says_where_it_is_from"]


@attrs.frozen
class Silent:
    name: str = "silent"

    def solve(self, scenario):
        return None


def test_a_solver_without_an_answer():
    assert list(failing(SolverTests, solvers=[Silent()])) == ["answers"]


def test_a_scenario_whose_numbers_are_from_nowhere(run):
    bare = attrs.evolve(run, name="bare", batch=attrs.evolve(run.batch, source=" "))
    assert list(failing(ScenarioTests, scenarios=[bare])) == ["every_number_has_a_source"]
    assert failing(ScenarioTests, scenarios=[run]) == {}


# ---- laws ----------------------------------------------------------------------------------------------------------


def _like(**parts: Any) -> Any:
    """Something that a law takes for a run."""
    return SimpleNamespace(**parts)


def test_a_lawful_run(run):
    assert_lawful(run)
    assert len(LAWS) == 11


def test_less_than_nothing(run):
    debt = term("parameter", per={"role"})(formula("debt", "parameters", "-parameters"))
    with pytest.raises(AssertionError, match=r"nothing is negative: less than 0 at the low end: .*policy.debt"):
        assert_lawful(run.with_terms(debt))


@term("byte", per={"role"}, resource="allocated")
def shrinking(micro_batch, most=Const("1 GB", "byte")):
    return most / micro_batch


@term("byte", per={"role"}, resource="allocated")
def turned(room=Const("4 MB", "byte", low="1 MB", high="9 MB"), whole=Const("10 MB", "byte")):
    return whole - room


def test_more_that_takes_less(run):
    with pytest.raises(AssertionError, match=r"micro_batch from 2.0 to 3.0 makes less of"):
        laws.more_never_takes_less(run.with_terms(shrinking))


def test_a_range_the_wrong_way_round(run):
    with pytest.raises(AssertionError, match=r"allocated_resident is 21238336.0, 18238336.0, 13238336.0"):
        laws.ends_are_in_order(run.with_terms(turned))


@term("parameter", per={"role"}, during={"train"}, replaces=True)
def trainable_parameters(parameters, lora_rank):
    return parameters + lora_rank * lora_rank


def test_states_that_do_not_scale_with_rank(run):
    squared = run.with_terms(trainable_parameters)
    with pytest.raises(AssertionError, match=r"trainable_parameters is .* at once, twice, thrice policy.lora_rank"):
        laws.trained_states_scale_with_rank(squared)


def test_an_instant_that_the_totals_lose(run, monkeypatch):
    monkeypatch.setattr("alignsim.pool_totals.undominated", lambda events, alive: events[:1])
    with pytest.raises(AssertionError, match=r"update is .*, but its instants hold at most"):
        laws.the_peak_is_the_largest_sum(run)


def test_a_role_that_is_lost(run):
    algorithm = SimpleNamespace(roles=(*run.algorithm.roles, "ghost"))
    with pytest.raises(AssertionError, match="no value belongs to ghost"):
        laws.every_role_appears(_like(algorithm=algorithm, graph=run.graph))


def test_an_answer_that_is_too_small(run):
    result = SimpleNamespace(values=run.result.values, value=lambda path: 1.0)
    with pytest.raises(AssertionError, match="is always there in gpus"):
        laws.what_stays_is_in_the_peak(_like(graph=run.graph, result=result, resource="allocated"))


def test_a_binding_instant_that_leaves_something_out(run):
    short = attrs.evolve(run.result.binding, terms=run.result.binding.terms[1:])
    with pytest.raises(AssertionError, match="are told"):
        laws.the_binding_instant_adds_up(_like(result=SimpleNamespace(binding=short, runner_up=None)))


def test_a_sweep_that_is_off_by_a_bit(run, monkeypatch):
    exact = Kernel.run
    monkeypatch.setattr(Kernel, "run", lambda *a: {path: column * (1 + 2**-52) for path, column in exact(*a).items()})
    with pytest.raises(AssertionError, match=r"row 0 of .*: swept, alone"):
        laws.a_sweep_is_the_same_bit_for_bit(run)


def test_an_order_that_matters(run, monkeypatch):
    monkeypatch.setattr(laws, "compose", lambda parts: compose(attrs.evolve(parts, givens={"micro_batch": Given(9)})))
    with pytest.raises(AssertionError):
        laws.the_order_of_parts_changes_nothing(run)


def test_a_setup_reads_as_what_it_is():
    assert repr(Setup("SFT", {"engine": "single-device"})) == (
        "Setup(algorithm='SFT', components={'engine': 'single-device'}, model='grouped', other='plain', batch={})"
    )


def preset(workbench, *more, without=(), **fields):
    chosen = workbench.setup("SFT").components
    first = {slot: name for slot, name in chosen.items() if slot not in without}
    choices = [Choice(components=first, batch={"micro_batch": 1, "sequence_tokens": 64}, source="acme.py"), *more]
    fields = {"framework": "Acme", "version": "1", "source": "acme", **fields}
    return Preset(name="acme", algorithms="SFT", choices=choices, **fields)


def test_a_good_preset(workbench):
    assert failing(PresetTests, presets=[preset(workbench)]) == {}
    asking = preset(workbench, without={"loss"}, asks=["policy.loss: what is trained"])
    assert failing(PresetTests, presets=[asking]) == {}


def test_a_preset_without_sources(workbench):
    bare = preset(workbench, Choice(givens={"layer_inputs_saved": 1}, source=" "), version="")
    said = failing(PresetTests, presets=[bare])["says_where_it_is_from"]
    assert said.startswith("say which version")
    bare = preset(workbench, Choice(givens={"gradient_copies": 1}, source=" "))
    assert "gradient_copies" in failing(PresetTests, presets=[bare])["says_where_it_is_from"]


def test_a_preset_that_leaves_open_what_it_does_not_ask_for(workbench):
    said = failing(PresetTests, presets=[preset(workbench, without={"loss", "optimizer"}, asks="loss: any")])
    assert said["composes"].startswith("SFT needs optimizer: choose it, or ask for it in asks=")


def test_a_preset_of_components_and_roles_that_are_not_there(workbench):
    misspelt = preset(workbench, Choice(components={"loss": "cross-entropie"}, source="x"))
    assert "cross-entropie" in failing(PresetTests, presets=[misspelt])["names_what_is_there"]
    critic = preset(workbench, Choice(components={"critic.engine": "none"}, source="x"))
    assert failing(PresetTests, presets=[critic])["names_what_is_there"].startswith("critic.engine: no algorithm")


def test_a_choice_that_is_never_in_force(workbench):
    (loss,) = (name for slot, name in workbench.setup("SFT").components.items() if slot == "loss")
    again = Choice(components={"loss": loss}, batch={"micro_batch": 2}, source="later.py")
    said = failing(PresetTests, presets=[preset(workbench, again)])["every_choice_is_in_force"]
    assert said.startswith("never in force: ")
    assert "loss, micro_batch of 'acme.py'" in said
    unread = preset(workbench, Choice(givens={"lora_ranc": 4}, source="lora.py"))
    assert "lora_ranc: nothing reads this" in failing(PresetTests, presets=[unread])["every_choice_is_in_force"]
