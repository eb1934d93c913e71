"""What a plugin of presets should pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, ClassVar

from alignsim.batch import Batch
from alignsim.component import NONE
from alignsim.errors import AlignSimError, InvalidInput, Problem
from alignsim.layout import Layout
from alignsim.preset import Choice, Defaults, Preset, named
from alignsim.registry import Registry
from alignsim.scenario import Scenario
from alignsim.testing.kit import PluginTests, sourced
from alignsim.testing.setups import DEVICE, MODELS, SIZES, Workbench, batch_fields


class PresetTests(PluginTests):
    """Conformance of a plugin that offers presets. Subclass it and say which plugin is meant."""

    subject: ClassVar[str] = "preset"
    kind: ClassVar[str] = "presets"

    def says(self, preset: Preset, algorithm: str) -> Mapping[str, str]:
        """Return the components that a user has to name; override it where the first that compose are not right."""
        return {}

    def test_says_where_it_is_from(self, preset: Preset) -> None:
        """So does each of its choices; a version tells which code was read."""
        assert preset.framework.strip(), "say which framework: framework="
        assert preset.version.strip(), "say which version of it was read: version="
        assert sourced(preset.source), "say where it was read: source="
        bare = [
            place for c in preset.choices if not sourced(c.source) for place in (*c.components, *c.batch, *c.givens)
        ]
        assert not bare, f"say where these choices were read: {', '.join(bare)}"

    def test_names_what_is_there(self, preset: Preset, workbench: Workbench) -> None:
        """Algorithms, components and roles, whether it chooses them or asks for them."""
        registry = workbench.registry
        roles = {role for name in preset.algorithms for role in registry.algorithms[name].roles}
        told = [pair for c in preset.choices for pair in c.components.items()]
        told += [(place, n) for c in preset.choices for place, names in c.where.items() for n in names]
        told += [(place, n) for place, names in preset.only.items() for n in names]
        for place, name in told:
            role, _, slot = place.rpartition(".")
            assert not role or role in roles, f"{place}: no algorithm that it runs has such a role"
            if not fillings_of(place, [name], registry):
                registry.component(slot, name)  # raises, with what it may have meant

    def test_composes(self, preset: Preset, workbench: Workbench) -> None:
        """With every algorithm that it runs; what has to be said for that, it asks for."""
        asked = {n.strip().rpartition(".")[2] for line in preset.asks for n in line.partition(":")[0].split(",")}
        for algorithm in preset.algorithms:
            said = dict(self.says(preset, algorithm))
            run = completed(preset, algorithm, said, workbench.registry)
            assert run.result.peak.magnitude > 0, f"{algorithm}: nothing takes up any memory"
            lacking = {place.rpartition(".")[2] for place in run.components} - asked
            lacking |= {n for n in batch_fields() if getattr(run.batch, n) is not None and n in SIZES} - asked
            assert not lacking, f"{algorithm} needs {', '.join(sorted(lacking))}: choose it, or ask for it in asks="

    def test_every_choice_is_in_force(self, preset: Preset, workbench: Workbench) -> None:
        """In at least one run, and so is everything that it chooses: else nobody would ever see it."""
        for choice in preset.choices:
            left = {*choice.components, *choice.batch, *choice.givens}
            reasons: list[str] = []
            for algorithm, said in self._asking_for(preset, choice, workbench.registry):
                if not left:
                    break
                if left & in_force(choice, preset, preset.defaults(algorithm, said)):
                    try:
                        run = completed(preset, algorithm, said, workbench.registry)
                    except AlignSimError as error:
                        reasons.append(f"{algorithm}: {error}")
                    else:
                        left -= in_force(choice, preset, run.settled.defaults)
            why = f"; {reasons[0]}" if reasons else ""
            assert not left, f"never in force: {', '.join(sorted(left))} of {choice.source!r}{why}"

    def _asking_for(self, preset: Preset, choice: Choice, registry: Registry) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield what a user may say so that a choice is in force: what it asks for, and then one thing more.

        A later choice may take its place but where that other thing is said.
        """
        places = choice.where.items()
        ways = list(product(*([(p, n) for n in fillings_of(p, names, registry)] for p, names in places)))
        others = {place for other in preset.choices for place in other.where} - choice.where.keys()
        more = [(place, name) for place in sorted(others) for name in registry.fillings(place.rpartition(".")[2])]
        for extra in [(), *((each,) for each in more)]:
            for algorithm, way in product(choice.algorithms or preset.algorithms, ways):
                said = {**self.says(preset, algorithm), **dict((*way, *extra))}
                roles = {place.rpartition(".")[0] for place in said}
                if roles <= {"", *registry.algorithms[algorithm].roles} and not [*preset.problems(algorithm, said)]:
                    yield algorithm, {p: n for p, n in said.items() if not _comes_by_itself(preset, algorithm, p, n)}


def _comes_by_itself(preset: Preset, algorithm: str, place: str, name: str) -> bool:
    told = preset.defaults(algorithm, {}).components.get(place)
    return told is not None and told.value == name


def fillings_of(place: str, patterns: Iterable[str], registry: Registry) -> list[str]:
    """Return the fillings at a place that some names or patterns mean."""
    return [name for name in registry.fillings(place.rpartition(".")[2]) if named(name, patterns)]


def in_force(choice: Choice, preset: Preset, found: Defaults) -> set[str]:
    """Return what of a choice is among the defaults that are in force."""
    source = f"{preset.name}: {choice.source}"
    kinds: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = [
        (found.components, choice.components),
        (found.batch, choice.batch),
        (found.givens, choice.givens),
    ]
    return {
        place
        for told, values in kinds
        for place, value in values.items()
        if place in told and (told[place].value, told[place].source) == (value, source)
    }


def completed(preset: Preset, algorithm: str, said: Mapping[str, str], registry: Registry) -> Scenario:
    """Return a run of a small model under a preset that composes: what is missing is filled with what goes.

    Args:
        preset: chooses whatever it does.
        algorithm: the algorithm's name.
        said: components that a user names.
        registry: where everything is looked up.

    Raises:
        AlignSimError: nothing goes; why.
    """
    components, sizes = dict(said), dict[str, int]()
    while (error := _refusal(run := _run(preset, algorithm, components, sizes, registry))) is not None:
        unfilled = [p.field for p in error.problems if "is unfilled" in p.message]
        missing = {name for problem in error.problems for name in sizes_of(problem)}
        if unfilled:
            slot = unfilled[0].rpartition(".")[2]
            places = [place for place in unfilled if place.rpartition(".")[2] == slot]
            components |= _filled(preset, algorithm, components, places, registry)
        elif wanted := missing - sizes.keys():
            sizes |= {name: SIZES.get(name, 4) for name in wanted}
        else:
            raise error
    return run


def _filled(
    preset: Preset, algorithm: str, components: Mapping[str, str], places: Iterable[str], registry: Registry
) -> dict[str, str]:
    """Return the same filling for places of one slot, the first that leaves the fewest problems."""
    places = list(places)
    slot = places[0].rpartition(".")[2]
    names = [n for n in fillings_of(slot, preset.only.get(slot, "*"), registry) if n != NONE] or [NONE]
    tried = [dict.fromkeys(places, name) for name in names]
    return min(tried, key=lambda more: _amiss(_run(preset, algorithm, {**components, **more}, {}, registry)))


def _amiss(run: Scenario) -> int:
    """Return how many problems there are beside sizes that nobody has told yet, and hints."""
    error = _refusal(run)
    return 0 if error is None else sum(bool(p.field) and not sizes_of(p) for p in error.problems)


def sizes_of(problem: Problem) -> set[str]:
    """Return the sizes of a batch that a problem misses."""
    return set(re.findall(r"needs '(\w+)'", problem.message)).intersection(batch_fields())


def _run(
    preset: Preset, algorithm: str, components: Mapping[str, str], sizes: Mapping[str, int], registry: Registry
) -> Scenario:
    table = registry.algorithms[algorithm]
    own = [role for role in table.roles if role not in table.model_of]
    told: dict[str, Any] = dict(sizes)
    return Scenario(
        algorithm=table,
        models={role: MODELS["scoring" if role in table.scalar_heads else "plain"] for role in own},
        preset=preset,
        components=components,
        layout=Layout(data=2),
        batch=Batch(source="made up", **told),
        accelerator=DEVICE,
        registry=registry,
    )


def _refusal(run: Scenario) -> InvalidInput | None:
    try:
        run.graph[run.resource]
    except InvalidInput as error:
        return error
    except AlignSimError as error:
        return InvalidInput([Problem("run", str(error))])
    return None
