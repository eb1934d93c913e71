"""A run as plain data that :func:`~alignsim.runfile.scenario_of` reads back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from alignsim.architecture import Architecture
from alignsim.component import NONE
from alignsim.errors import AlignSimError, InvalidInput, Problem
from alignsim.given import Given
from alignsim.runfile import FIELDS, NEEDED, plain_fields, scenario_of
from alignsim.scenario import EVERY, Scenario

SCALAR = "-scalar"


def data_of(run: Scenario) -> dict[str, Any]:
    """Return the fields of a run by name, as a file has them; what is left out is as it is by default.

    Objects of a catalogue become their names; other models are described.

    >>> from alignsim import Batch
    >>> data_of(Scenario(algorithm="SFT", models={"policy": "Llama-3.2-1B"}, batch=Batch(micro_batch=2)))
    {'name': 'run', 'algorithm': 'SFT', 'models': {'policy': 'Llama-3.2-1B'}, 'batch': {'micro_batch': 2}}
    """
    devices: Any = run.accelerator
    told: dict[str, Any] = {
        "name": run.name,
        "algorithm": run.algorithm.name,
        "models": {role: _model(run, role, model) for role, model in run.models.items()},
        "accelerator": _each(devices, _name) if isinstance(devices, Mapping) else devices and devices.name,
        "layout": described(run.layout),
        "layouts": _each(run.layouts, described),
        "batch": described(run.batch),
        "lengths": described(run.lengths),
        "preset": run.preset and run.preset.name,
        "components": _components(run),
        "givens": _each(run.givens, _number),
        "places": _each(run.places, described),
        "resource": run.resource,
        "solver": run.solver,
    }
    usual = {field.name: field.default for field in attrs.fields(Scenario)}
    return {name: told[name] for name in FIELDS if name == "name" or told[name] not in (None, {}, usual[name])}


def checked(run: Scenario, data: Any) -> None:
    """See whether plain data reads back to a run.

    Raises:
        InvalidInput: the fields that it says something else of, or nothing: a file cannot have them.
    """
    wrong = [Problem("terms", "a file cannot hold terms of a run's own")] if run.terms else []
    try:
        again = attrs.evolve(scenario_of(data, run.registry), terms=run.terms)
    except AlignSimError as error:
        raise InvalidInput([*wrong, Problem("", f"a file cannot say what this run is: {error}")]) from error
    for field in (*NEEDED, *FIELDS):
        if getattr(run, field) != getattr(again, field):
            message = "is something that no catalogue has, or has a history that a file cannot tell"
            wrong.append(Problem(field, message))
    if wrong:
        raise InvalidInput(list(dict.fromkeys(wrong)))


def described(item: Any) -> dict[str, Any]:
    """Return the fields of an object that differ from their defaults, as a file has them."""
    found = {}
    for name in plain_fields(type(item)):
        value, field = getattr(item, name), getattr(attrs.fields(type(item)), name)
        usual = field.default.factory() if isinstance(field.default, attrs.Factory) else field.default  # type: ignore[arg-type]
        if value != usual:
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _each(items: Mapping[str, Any], tell: Any) -> dict[str, Any]:
    return {key: tell(item) for key, item in items.items()}


def _name(item: Any) -> str:
    return str(item.name)


def _components(run: Scenario) -> dict[str, str]:
    """The fillings by name; where all slots are told of, those that are filled with nothing are told in one word."""
    empty = {
        key for key, filling in run.components.items() if key in run.registry.slots and filling == filling.slot.none
    }
    if not empty or not run.registry.slots.keys() <= run.components.keys():
        return _each(run.components, _name)
    return {EVERY: NONE, **{key: _name(filling) for key, filling in run.components.items() if key not in empty}}


def _model(run: Scenario, role: str, model: Architecture) -> Any:
    """The name that gives this model to this role, else its description."""
    for name in (model.name, model.name.removesuffix(SCALAR)):
        if name in run.registry.architectures:
            again = attrs.evolve(run, models={**run.models, role: name})
            if again.models[role] == model:
                return name
    return described(model)


def _number(number: Given) -> Any:
    value = amount(number.value, number.unit)
    ends = {
        end: amount(getattr(number, end), number.unit) for end in ("low", "high") if getattr(number, end) is not None
    }
    source = {} if number.source == "user" else {"source": number.source}
    return {"value": value, **ends, **source} if ends or source else value


def amount(value: float, unit: str) -> Any:
    """Return a number in base units as a file has it, exact: a text where it has a unit.

    >>> amount(4.0, ""), amount(0.5, ""), amount(1073741824.0, "byte")
    (4, 0.5, '1073741824 byte')
    """
    number = int(value) if value == int(value) and abs(value) < 2**53 else value
    return f"{number!r} {unit}" if unit else number
