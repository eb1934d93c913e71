"""Runs as plain data: a scenario's fields by name, as a JSON file has them, and what was measured of the run.

```json
{"runs": [{
    "key": "dpo-8b",
    "scenario": {
        "algorithm": "DPO",
        "models": {"policy": "Llama-3.1-8B"},
        "components": {"precision": "bf16", "engine": "single-device"},
        "batch": {"micro_batch": 2, "sequence_tokens": 2048},
        "givens": {"policy.weight_bytes": 2}
    },
    "measured": {"peak": "61.2 GiB", "phases": {"update": 65712570368}}
}]}
```
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import attrs

from alignsim import agreement
from alignsim.architecture import Architecture
from alignsim.batch import Batch
from alignsim.errors import AlignSimError, InvalidInput, PluginError, Problem, UnknownName, suggestion
from alignsim.fields import Fields, short
from alignsim.given import given
from alignsim.layout import Layout, Place
from alignsim.lengths import Lengths
from alignsim.registry import Registry, default_registry
from alignsim.scenario import EVERY, Scenario
from alignsim.units import measure, to_base
from alignsim.validation import Case, Refusal

NOT_PLAIN = ("registry", "terms")
FIELDS = tuple(field.name for field in attrs.fields(Scenario) if field.name not in NOT_PLAIN)
"""The fields of a scenario that plain data can say."""
STATED = ("gpus", "global_batch")
"""The totals that plain data may state beside them."""
NEEDED = ("algorithm", "models")
REST = ("preset", "accelerator", "layout", "layouts", "batch", "lengths", "givens", "resource", "solver", *STATED)
"""The fields without which the others can still be looked at."""
ENDS = ("low", "high")
RUN = ("key", "scenario", "measured", "about", "source", "cause")
"""The fields of a run beside what was measured of it."""


def scenario_of(data: Any, registry: Registry | None = None, place: str = "scenario") -> Scenario:
    """Return the run that plain data describes: the fields of :class:`Scenario` by name.

    Names of a catalogue stand for its objects; ``models`` may describe a model by the fields of ``Architecture``
    instead, ``layout``, ``layouts``, ``batch`` and ``lengths`` are objects with the fields of ``Layout``, ``Batch`` and
    ``Lengths``, ``places`` with those of ``Place``. A number with a unit is a text, such as ``"80 GiB"``. ``gpus``, for
    all pools or for each, and ``global_batch`` state what the layouts and the batch must come to.

    >>> scenario_of({"algorithm": "PPO", "modles": {}}, Registry())
    Traceback (most recent call last):
    alignsim.errors.InvalidInput: scenario.modles: no such field; did you mean models?

    Raises:
        InvalidInput: all that is wrong, each with its place.
    """
    registry = registry or default_registry()
    fields = Fields(data, place)
    found, problems = _read(fields, registry)
    wrong = {problem.field.removeprefix(f"{place}.").partition(".")[0] for problem in problems}
    if wrong.isdisjoint({*FIELDS, *STATED} - {*REST}):  # what else is wrong is told as well
        try:
            run = Scenario(**{n: v for n, v in found.items() if n not in {*wrong, *STATED}}, registry=registry)
            together = [problem for name in STATED if name in found for problem in _STATED[name](run, found[name])]
            problems += InvalidInput(together).inside(place).problems if place else together
        except InvalidInput as error:
            problems += (error.inside(place) if place else error).problems
    if problems:
        raise InvalidInput(problems)
    return run


def _read(fields: Fields, registry: Registry) -> tuple[dict[str, Any], list[Problem]]:
    """Return every field as what it stands for, names still as names, and what is wrong with each by itself."""
    known = (*FIELDS, *STATED)
    problems = [Problem(fields.at(name), "is required") for name in NEEDED if name not in fields.data]
    found: dict[str, Any] = {}
    for name in fields.data:
        if name not in known:
            problems.append(Problem(fields.at(name), f"no such field; {suggestion(name, known)}"))
            continue
        try:
            found[name] = _READ.get(name, Fields.text)(fields, name)
        except InvalidInput as error:
            problems += error.problems
    for path, look_up in _named(found, registry):
        try:
            look_up(fields.at(path))
        except InvalidInput as error:
            problems += error.problems
        except UnknownName as error:
            problems.append(Problem(fields.at(path), str(error)))
    return found, problems


def _named(found: Mapping[str, Any], registry: Registry) -> Iterator[tuple[str, Any]]:
    """Yield the place of every name in a run, and what looks it up."""
    for field, catalogue in (
        ("algorithm", "algorithms"),
        ("preset", "presets"),
        ("accelerator", "accelerators"),
        ("models", "architectures"),
    ):
        look_up = partial(registry.resolve, catalogue)
        value = found.get(field)
        if isinstance(value, dict):
            for key, name in value.items():
                if isinstance(name, str):
                    yield f"{field}.{key}", partial(look_up, name)
        elif value is not None:
            yield field, partial(look_up, value)
    chosen = found.get("components", {})
    for key in chosen:
        if key != EVERY:
            slot = key.rpartition(".")[2]
            yield f"components.{key}", lambda _, slot=slot, name=chosen[key]: registry.component(slot, name)


def cases(data: Any, registry: Registry | None = None) -> Iterator[Case | Refusal]:
    """Yield the runs of plain data, as cases to compare; one that is wrong is refused by itself.

    ``measured`` has ``peak``, ``phases``, or both; the largest phase is the peak unless that is given. A phase is one
    of the algorithm's, or an instant such as ``update:policy/loss``; ``key`` is how the run is called. ``about``,
    ``source`` and ``cause`` (of an error) are for people.

    Raises:
        InvalidInput: there are no runs.
    """
    fields = Fields(data, "")
    if "runs" not in fields.only(("runs",)).data:
        raise fields.wrong("runs", "is required: a list of runs, each with its scenario and what was measured")
    runs = fields.any("runs")
    if not isinstance(runs, list):
        raise fields.wrong("runs", f"expected a list, got {short(runs)}")
    for index, run in enumerate(runs):
        place = f"runs[{index}]"
        try:
            yield _case(Fields(run, place).only(RUN), index, registry)
        except AlignSimError as error:
            if isinstance(error, PluginError):
                raise
            named = run.get("key") if isinstance(run, dict) else None
            yield Refusal(named if isinstance(named, str) else place, str(error), wrong=True)


def _case(run: Fields, index: int, registry: Registry | None) -> Case:
    problems: list[Problem] = []
    for read in (partial(_run_of, run, registry), partial(_measured, run)):  # both halves of it are told of at once
        try:
            read()
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput(problems)
    scenario, (peak, phases) = _run_of(run, registry), _measured(run)
    known = scenario.algorithm.phases
    of_phases = Fields(dict.fromkeys(phase for phase in phases if ":" not in phase), run.at("measured.phases"))
    of_phases.only(known)
    key = run.text("key") if "key" in run.data else f"{index}: {scenario.name}"
    return Case(
        key=key,
        measured_peak=peak,
        measured_phase=max(phases, key=lambda phase: phases[phase]) if phases else None,
        measured_phases=phases,
        predict=lambda: _predicted(scenario, phases),
    )


def _run_of(run: Fields, registry: Registry | None) -> Scenario:
    return scenario_of(run.any("scenario"), registry, run.at("scenario"))


def _measured(run: Fields) -> tuple[float, dict[str, float]]:
    """Return the peak, and the bytes of each phase."""
    measured = run.inside("measured").only(("peak", "phases"))
    of_phases = measured.inside("phases") if "phases" in measured.data else Fields({}, "")
    phases = {phase: _bytes(of_phases, phase) for phase in of_phases.data}
    if not phases and "peak" not in measured.data:
        raise measured.wrong("peak", "is required, unless there are phases")
    peak = _bytes(measured, "peak") if "peak" in measured.data else max(phases.values())
    above = [f"{phase} {value:,.0f}" for phase, value in phases.items() if value > peak]
    if above:
        raise measured.wrong("peak", f"{peak:,.0f} bytes are less than in its own phases: {', '.join(above)}")
    return peak, phases


def _predicted(scenario: Scenario, measured: Mapping[str, float]) -> dict[str, float]:
    """The largest total of each phase; instant by instant where one of its instants was measured."""
    result = scenario.result
    by_instant = {path.partition(":")[0] for path in measured if ":" in path}
    found: dict[str, float] = {}
    for phase, quantity in result.phases.items():
        if phase not in ("init", *by_instant):
            found[phase] = quantity.magnitude
    for phase in by_instant.intersection(scenario.algorithm.phases):
        if phase in measured:
            found[phase] = result.value(f"{phase}:{scenario.resource}")
        for role, activity in scenario.algorithm.phases[phase].items():
            for moment in activity.moments:
                with suppress(UnknownName):  # a role that is idle beside others has no instants
                    path = f"{phase}:{role}/{moment}"
                    found[path] = result.value(f"{path}.{scenario.resource}")
    return found | {p: result.value(f"{p}.{scenario.resource}") for p in measured if ":" in p}


def _bytes(fields: Fields, name: str) -> float:
    try:
        value = fields.any(name)
        number = fields.number(name) if not isinstance(value, str) else to_base(value, "byte")
    except AlignSimError as error:
        raise fields.wrong(name, str(error).removeprefix(f"{fields.at(name)}: ")) from None
    if number <= 0:
        raise fields.wrong(name, f"expected more than 0 bytes, got {value!r}")
    return float(number)


def _described(kind: Any) -> Any:
    def read(fields: Fields, name: str) -> Any:
        inside = fields.inside(name)
        return _made(kind, inside)

    return read


def plain_fields(kind: Any) -> tuple[str, ...]:
    """Return the fields of a class that plain data can say: not those that are numbers with a history."""
    return tuple(field.name for field in attrs.fields(kind) if "Given" not in str(field.type))


def _made(kind: Any, fields: Fields) -> Any:
    fields.only(plain_fields(kind))
    if "source" in fields.data:
        fields.text("source")
    if "sources" in fields.data:
        _texts(fields, "sources")
    try:
        return kind(**fields.data)
    except InvalidInput as error:
        own = [attrs.evolve(p, field=p.field.removeprefix(f"{kind.__name__}.")) for p in error.problems]
        raise InvalidInput(own).inside(fields.place) from None


def _by_role(kind: Any, *, named: bool = False) -> Any:
    def read(fields: Fields, name: str) -> dict[str, Any]:
        inside = fields.inside(name)
        return {
            role: inside.text(role)
            if named and isinstance(inside.data[role], str)
            else _made(kind, inside.inside(role))
            for role in inside.data
        }

    return read


def _texts(fields: Fields, name: str) -> dict[str, str]:
    inside = fields.inside(name)
    return {key: inside.text(key) for key in inside.data}


def _givens(fields: Fields, name: str) -> dict[str, Any]:
    inside = fields.inside(name)
    return {path: _given(inside, path) for path in inside.data}


def _given(fields: Fields, path: str) -> Any:
    """A number, a text with a unit, or an object with the number, the ends of its range and its source."""
    if not isinstance(fields.data[path], Mapping):
        return _amount(fields, path)
    inside = fields.inside(path).only(("value", *ENDS, "source"))
    ends = {end: _amount(inside, end) for end in ENDS if end in inside.data}
    source = inside.text("source") if "source" in inside.data else "user"
    value = _amount(inside, "value")
    try:
        return given(value, measure(value)[1], source=source, **ends)
    except InvalidInput as error:
        raise error.inside(inside.place) from None


def _amount(fields: Fields, name: str) -> Any:
    return fields.text(name) if isinstance(fields.any(name), str) else fields.number(name)


def _accelerator(fields: Fields, name: str) -> Any:
    return fields.text(name) if isinstance(fields.data[name], str) else _texts(fields, name)


def _counts(fields: Fields, name: str) -> Any:
    """A count, or one for each pool."""
    if not isinstance(fields.any(name), Mapping):
        return fields.count(name, least=1)
    inside = fields.inside(name)
    return {pool: inside.count(pool, least=1) for pool in inside.data}


_STATED: Mapping[str, Any] = {"gpus": agreement.gpus, "global_batch": agreement.global_batch}
_READ: Mapping[str, Any] = {
    "gpus": _counts,
    "global_batch": partial(Fields.count, least=1),
    "models": _by_role(Architecture, named=True),
    "accelerator": _accelerator,
    "layout": _described(Layout),
    "layouts": _by_role(Layout),
    "batch": _described(Batch),
    "lengths": _described(Lengths),
    "components": _texts,
    "givens": _givens,
    "places": _by_role(Place),
}
