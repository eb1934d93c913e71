"""What a registry answers, and what it says when it cannot."""

import itertools
import pickle
import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace

import pytest

from alignsim import Algorithm, Component, Registry, Resource, Slot, default_registry, hookimpl, term
from alignsim.errors import DuplicateName, PluginError, UnknownName

TAPE = """
from alignsim import Resource, hookimpl

@hookimpl
def alignsim_resources():
    yield Resource(name="tape", unit="byte")
"""
OPTIMIZER, ENGINE = Slot(name="optimizer"), Slot(name="engine")


def algorithm(name):
    return Algorithm(name=name, phases={"update": {"policy": "train"}})


class Resources:
    """A plugin of resources."""

    def __init__(self, *names, plugin="acme"):
        self.name, self.resources = plugin, tuple(Resource(name=name, unit="byte") for name in names)

    @hookimpl
    def alignsim_resources(self):
        return self.resources


def plugin(**hooks):
    module = ModuleType(hooks.pop("name", "acme"))
    for name, function in hooks.items():
        setattr(module, name, function)
    return module


# ---- what is handed over is checked at once


def misspelt():
    @hookimpl
    def alignsim_resource():
        yield from ()

    return alignsim_resource


def unmarked():
    def alignsim_resources():
        yield from ()

    return alignsim_resources


def wrong_argument():
    @hookimpl
    def alignsim_terms(algorythm):
        yield from ()

    return alignsim_terms


def no_argument():
    @hookimpl
    def alignsim_resources(algorithm):
        yield from ()

    return alignsim_resources


def defaulted():
    @hookimpl
    def alignsim_terms(algorithm=None):
        yield from ()

    return alignsim_terms


def wrapper():
    @hookimpl(wrapper=True)
    def alignsim_resources():
        return (yield)

    return alignsim_resources


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (misspelt, "no hook is named 'alignsim_resource'; did you mean alignsim_resources"),
        (unmarked, "alignsim_resources: is not marked as a hook; put @hookimpl above it"),
        (wrong_argument, "the hook has no argument 'algorythm'; did you mean algorithm?"),
        (no_argument, "the hook has no argument 'algorithm'; it takes none"),
        (defaulted, "parameter 'algorithm' must have no default"),
        (wrapper, "hooks cannot be wrapped"),
    ],
)
def test_a_hook_that_would_never_be_called_rightly_is_refused(make, message):
    function = make()
    with pytest.raises(PluginError) as error:
        Registry([plugin(**{function.__name__: function})])
    assert message in str(error.value)
    assert f"{__file__}:{function.__code__.co_firstlineno}" in str(error.value)
    assert str(error.value).startswith("plugin acme (given in code): ")


def test_what_is_no_hook_but_looks_like_one_is_refused():
    with pytest.raises(PluginError, match="alignsim_version"):
        Registry([plugin(alignsim_version="1")])


def test_modules_and_other_spellings_are_no_hooks():
    @hookimpl(specname="alignsim_resources")
    def offer():
        yield Resource(name="tape", unit="byte")

    @hookimpl(optionalhook=True, specname="alignsim_of_a_later_version")
    def alignsim_of_a_later_version():
        yield 1

    module = plugin(offer=offer, alignsim_acme=ModuleType("alignsim_acme"), later=alignsim_of_a_later_version)
    assert list(Registry([module]).resources) == ["tape"]
    assert list(Registry([plugin(alignsim_resources=Resources("disk").alignsim_resources)]).resources) == ["disk"]


def test_a_plugin_without_a_hook_is_refused():
    with pytest.raises(PluginError, match=r"plugin acme .given in code.: offers nothing"):
        Registry([plugin()])
    with pytest.raises(PluginError, match="offers nothing"):
        Registry([SimpleNamespace()])


def test_a_plugin_of_another_api_is_refused():
    with pytest.raises(PluginError, match="written for plugin API 2; this alignsim speaks 1"):
        Registry([plugin(ALIGNSIM_API=2)])


def test_a_class_is_a_plugin():
    class Mine:
        @hookimpl
        def alignsim_resources(self):
            yield Resource(name="tape", unit="byte")

    registry = Registry([Mine])
    assert list(registry.resources) == ["tape"]
    assert registry.resources.origin("tape").plugin.endswith("Mine")


# ---- a failing hook is kept apart


def midway():
    yield Resource(name="first", unit="byte")
    raise RuntimeError("the second is not there")


@pytest.mark.parametrize(
    ("offer", "message"),
    [
        (midway, "RuntimeError: the second is not there"),
        (lambda: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda: Resource(name="a", unit="byte"), "returned one Resource; return a list, or yield it"),
        (lambda: [OPTIMIZER], "(of type Slot) where Resource was expected"),
        (lambda: "tape", "returned 'tape' (of type str) where a list of Resource was expected"),
        (lambda: {"tape": 1}, "returned 'tape' (of type str) where Resource was expected"),
        (lambda: 7, "returned 7 (of type int) where a list of Resource was expected"),
        (lambda: [Resource(name="", unit="byte")], "without a name"),
        (lambda: sys.exit(2), "SystemExit: 2"),
    ],
)
def test_a_hook_that_fails_is_told_of_and_breaks_nothing_else(offer, message):
    fine = hookimpl(lambda: [algorithm("a")])
    broken = plugin(alignsim_resources=hookimpl(lambda: offer()), alignsim_algorithms=fine)
    registry = Registry([broken, Resources("tape", plugin="other")])
    assert list(registry.resources) == ["tape"]
    assert list(registry.algorithms) == ["a"]
    (failure,) = registry.failures
    assert (failure.provider.plugin, failure.hook) == ("acme", "alignsim_resources")
    with pytest.raises(UnknownName, match=r"plugin acme .given in code. failed in alignsim_resources: ") as error:
        _ = registry.resources["scratch"]
    assert message in str(error.value)
    assert not registry.algorithms.note
    reports = {r.provider.plugin: (r.status, dict(r.hooks)) for r in registry.plugins}
    assert reports == {"acme": ("failed", {"alignsim_algorithms": 1}), "other": ("loaded", {"alignsim_resources": 1})}
    strict = Registry([broken], strict=True)
    with pytest.raises(PluginError, match="failed in alignsim_resources"):
        _ = strict.resources


def test_a_failure_names_the_line_of_the_plugin():
    line = midway.__code__.co_firstlineno + 2
    registry = Registry([plugin(alignsim_resources=hookimpl(midway))])
    assert not registry.resources
    assert str(registry.failures[0]).endswith(f"({__file__}:{line})")


def test_nothing_is_an_answer():
    assert not Registry([plugin(alignsim_resources=hookimpl(lambda: None))]).failures


def test_a_plugin_cannot_ask_for_what_it_is_about_to_offer():
    def alignsim_terms(algorithm):
        return registry.terms(algorithm)

    registry = Registry([plugin(alignsim_terms=hookimpl(alignsim_terms))])
    assert registry.terms(algorithm("a")) == ()
    assert "asks the registry for what alignsim_terms is about to offer" in str(registry.failures[0])


# ---- names


def test_names_are_looked_up_with_their_aliases_and_whatever_the_case():
    class Named(Algorithm):
        aliases = ("direct", "DPO-Loss")

    named = Named(name="DPO", phases={"update": {"policy": "train"}})
    catalogue = Registry([plugin(alignsim_algorithms=hookimpl(lambda: [named, algorithm("ppo")]))]).algorithms
    assert list(catalogue) == ["DPO", "ppo"]
    assert {catalogue[name].name for name in ("DPO", "dpo", "direct", "DIRECT", "dpo-loss")} == {"DPO"}
    assert "dpo" in catalogue
    assert "grpo" not in catalogue
    assert 7 not in catalogue  # type: ignore[comparison-overlap]
    assert catalogue.get("grpo") is None
    assert catalogue.get("grpo", 1) == 1
    assert catalogue.get("PPO") is catalogue["ppo"]
    assert repr(catalogue) == "<algorithm: DPO, ppo>"
    with pytest.raises(UnknownName, match="no algorithm is named 'ppp'; did you mean ppo"):
        _ = catalogue["ppp"]


def test_names_that_differ_only_in_case_need_their_case():
    catalogue = Registry([Resources("Tape", "tape")]).resources
    assert catalogue["Tape"].name == "Tape"
    with pytest.raises(UnknownName):
        _ = catalogue["TAPE"]


def test_a_name_that_two_plugins_offer_names_both_and_the_way_out():
    registry = Registry([Resources("tape", "disk"), Resources("tape", plugin="apex")])
    assert list(registry.resources) == ["disk"]
    with pytest.raises(DuplicateName) as error:
        _ = registry.resources["tape"]
    assert str(error.value) == (
        "resource 'tape' is offered by acme (given in code) and by apex (given in code); leave one of them out"
    )
    assert "tape" not in registry.resources
    with pytest.raises(DuplicateName):
        registry.resources.get("tape")
    assert [report.problems for report in registry.plugins] == [(str(error.value),)] * 2
    with pytest.raises(DuplicateName):
        _ = Registry([Resources("tape"), Resources("tape", plugin="apex")], strict=True).resources


def test_a_name_offered_twice_by_one_plugin():
    with pytest.raises(DuplicateName, match="rename one of them"):
        _ = Registry([Resources("tape", "tape")]).resources["tape"]


def test_an_alias_clashes_like_a_name():
    class Named(Algorithm):
        aliases = ("ppo",)

    named = Named(name="PPO-2", phases={"update": {"policy": "train"}})
    one = plugin(name="one", alignsim_algorithms=hookimpl(lambda: [algorithm("ppo")]))
    two = plugin(name="two", alignsim_algorithms=hookimpl(lambda: [named]))
    registry = Registry([one, two])
    with pytest.raises(DuplicateName, match=r"by two .given in code. as another name of 'PPO-2'"):
        _ = registry.algorithms["ppo"]
    assert list(registry.algorithms) == ["PPO-2"]


def test_a_clash_of_installed_plugins_says_how_to_disable_one(install):
    install("alignsim-acme", {"acme": "acme_x"}, {"acme_x.py": TAPE})
    install("alignsim-apex", {"apex": "acme_y"}, {"acme_y.py": TAPE}, version="2.0")
    with pytest.raises(DuplicateName) as error:
        _ = Registry(discover=True).resources["tape"]
    assert str(error.value) == (
        "resource 'tape' is offered by acme (alignsim-acme 0.1) and by apex (alignsim-apex 2.0); "
        "disable one: ALIGNSIM_DISABLE_PLUGINS=acme or ALIGNSIM_DISABLE_PLUGINS=apex"
    )


def test_components_are_looked_up_by_slot_and_name():
    made = [
        Component(name="adam", slot=OPTIMIZER),
        Component(name="none", slot=OPTIMIZER),
        Component(name="fsdp", slot=ENGINE),
        Component(name="none", slot=ENGINE),
    ]
    registry = Registry([plugin(alignsim_components=hookimpl(lambda: made))])
    assert list(registry.components) == ["engine:fsdp", "engine:none", "optimizer:adam", "optimizer:none"]
    assert registry.component("optimizer", "none") is made[1]
    assert registry.fillings("engine") == ("fsdp", "none")
    with pytest.raises(UnknownName, match="no component of slot 'optimizer' is named 'adamw'; did you mean adam"):
        registry.component("optimizer", "adamw")
    with pytest.raises(UnknownName, match="no slot is named 'optimiser'; did you mean optimizer"):
        registry.component("optimiser", "adam")


# ---- the whole


@term("byte")
def first():
    return 1


@term("byte")
def second():
    return 2


def test_the_order_of_plugins_changes_nothing():
    plugins = [
        plugin(name="a", alignsim_terms=hookimpl(lambda algorithm: [second])),
        plugin(name="b", alignsim_terms=hookimpl(lambda algorithm: [first])),
        Resources("tape", plugin="c"),
        Resources("disk", "tape", plugin="d"),
    ]
    answers = set()
    ppo = algorithm("ppo")
    for order in itertools.permutations(plugins):
        registry = Registry(order)
        resources = registry.resources
        answers.add((registry.terms(ppo), tuple(resources), str(resources.clashes), str(registry.plugins)))
    assert len(answers) == 1
    assert answers.pop()[0] == (first, second)


def test_answers_stay_as_they_are():
    calls = []

    def alignsim_terms(algorithm):
        calls.append(algorithm.name)
        return [first]

    registry = Registry([plugin(alignsim_terms=hookimpl(alignsim_terms)), Resources("tape", plugin="r")])
    ppo, dpo = algorithm("ppo"), algorithm("dpo")
    assert registry.terms(ppo) is registry.terms(ppo)
    registry.terms(dpo)
    assert calls == ["ppo", "dpo"]
    assert registry.resources is registry.resources
    del ppo, dpo
    registry.terms(algorithm("grpo"))
    assert len(registry._terms) <= 1


def test_with_plugins_makes_another_registry():
    one = Registry([Resources("tape")])
    two = one.with_plugins(Resources("disk", plugin="more"))
    assert (list(one.resources), list(two.resources)) == (["tape"], ["disk", "tape"])
    assert repr(two) == "<Registry: acme (given in code), more (given in code)>"
    assert repr(Registry()) == "<Registry: no plugin>"


def test_two_plugins_may_have_one_name():
    registry = Registry([Resources("tape"), Resources("disk")])
    assert [report.provider.plugin for report in registry.plugins] == ["acme", "acme#2"]


def test_a_registry_travels(install):
    assert pickle.loads(pickle.dumps(default_registry())) is default_registry()
    assert pickle.loads(pickle.dumps(Registry(discover=True))) is default_registry()
    install("alignsim-acme", {}, {"acme_t.py": TAPE})
    again = pickle.loads(pickle.dumps(Registry([import_module("acme_t")], strict=True)))
    assert list(again.resources) == ["tape"]


def test_the_default_registry_is_one():
    assert default_registry() is default_registry()


def test_commands_are_asked_for_only_when_wanted():
    click = pytest.importorskip("click")
    command = click.Command("report")
    registry = Registry([plugin(alignsim_commands=hookimpl(lambda: [command]))])
    assert registry.commands["report"] is command
