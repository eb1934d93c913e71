"""From a scenario's name and the flags of a command line to the question that is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from alignsim.cli.composing import OWN, SIZES, components, lengths, numbers, run_of
from alignsim.cli.devices import Devices
from alignsim.errors import InvalidInput, Problem
from alignsim.registry import Registry
from alignsim.runs import ENDINGS, read_run

REFERENCE = "Llama2_70B_PpoAlignment"
SPELT = {"number": "--set", "lengths": "--real-lengths"}
FIELDS = {"tensor": "tp_size", "pipeline": "pp_size", "sequence": "sequence", "data": "dp_size"}
MODELS = ("policy", "critic")


@attrs.frozen
class Asked:
    """A question, and what belongs to it.

    Attributes:
        question: what is to be answered.
        notes: what was decided for the user on the way to it.
        left_out: what the scenario says that it does not count.
    """

    question: Any
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def is_file(name: str) -> bool:
    """Whether a name is that of a run file."""
    return name.endswith(ENDINGS)


def ask(registry: Registry, name: str | None, flags: Mapping[str, Any]) -> Asked:
    """Return the scenario of that name, or the run of that file, changed as the flags say.

    Unless one is named, the flags describe a run of their own where they choose components or a batch; else they change
    the reference case.

    Raises:
        InvalidInput: all that is wrong with the flags, each by its own name.
        UnknownName: a scenario, model, algorithm or accelerator that nobody offers.
    """
    given = {flag: value for flag, value in flags.items() if value not in (None, ())}
    if name is None and any(flag in given for flag in OWN):
        return _own(registry, given)
    base: Any = read_run(name, registry) if name and is_file(name) else registry.scenarios[name or REFERENCE]
    algorithm = given.pop("algorithm", None)
    preset = given.pop("preset", None) if algorithm is not None and hasattr(base, "as_run") else None
    gpus = given.pop("gpus", None)
    told = ", ".join(_told(flag, value) for flag, value in given.items())
    notes: list[str] = []
    problems: list[Problem] = []
    for role in MODELS:
        if role in given:
            given[role] = registry.resolve("architectures", given[role], f"--{role}")
    if "policy" in given and "critic" not in given and "critic" in {*_fields(base), *getattr(base, "models", ())}:
        given["critic"] = given["policy"]
        notes.append(f"critic and reward: the policy's model, {given['policy'].name}, since no --critic is given")
    devices = Devices.read(gpus, registry) if gpus is not None else None
    if devices is not None:
        told = ", ".join(part for part in (told, f"gpus {gpus}") if part)
        problems += _spread(devices, base, given, notes)
    question = base
    if given or devices:
        try:
            question = base.using(**_changes(base, given, devices), name=f"{base.name} with {told}")
        except InvalidInput as error:
            problems += [attrs.evolve(p, field=_flag(p.field)) for p in error.problems]
    if problems:
        raise InvalidInput(problems)
    left_out = tuple(getattr(question, "left_out", ()))
    if algorithm is not None:
        question = _as_run(question, registry.algorithms[algorithm], devices, preset)
    return Asked(question, tuple(notes), left_out)


def _own(registry: Registry, given: Mapping[str, Any]) -> Asked:
    """Return the run that the flags describe by themselves."""
    devices = Devices.read(given["gpus"], registry) if "gpus" in given else None
    try:
        question, notes = run_of(registry, given, devices)
    except InvalidInput as error:
        raise InvalidInput([attrs.evolve(p, field=_flag(p.field)) for p in error.problems]) from None
    return Asked(question, tuple(notes), question.left_out)


def _told(flag: str, value: Any) -> str:
    return " ".join(value) if isinstance(value, tuple) else f"{flag.replace('_', ' ')} {value}"


def _spread(devices: Devices, base: Any, given: dict[str, Any], notes: list[str]) -> Iterator[Problem]:
    """Work out what the devices say of memory and replicas; yield what is wrong with that."""
    if "device_memory" in given:
        yield Problem("--device-memory", "is given beside --gpus, which sets it; leave one of them out")
    elif "device_memory" in _fields(base) and devices.memory is not None:
        given["device_memory"] = devices.memory
        notes.append(f"memory of a device: {devices.memory.source}")
    degrees = {flag: given.get(flag, _degree(base, flag)) for flag in ("tensor", "pipeline", "sequence")}
    if min(*degrees.values(), given.get("data", 1)) >= 1:  # else the scenario says what is wrong with them
        try:
            given["data"] = devices.replicas(**degrees, data=given.get("data"))
        except InvalidInput as error:
            yield from error.problems


def _fields(question: Any) -> set[str]:
    return {field.name for field in attrs.fields(type(question))} if attrs.has(type(question)) else set()


def _degree(question: Any, flag: str) -> int:
    owner = question if FIELDS[flag] in _fields(question) else getattr(question, "layout", None)
    return int(getattr(owner, FIELDS[flag] if owner is question else flag, 1))


def _changes(base: Any, given: Mapping[str, Any], devices: Devices | None) -> dict[str, Any]:
    fields = _fields(base)
    changes: dict[str, Any] = {}
    problems = []
    for flag, value in given.items():
        field = FIELDS.get(flag, flag)
        if field in fields and flag != "lengths":
            changes[field] = value
        elif flag in MODELS and "models" in fields:
            changes["models"] = {**changes.get("models", base.models), flag: value}
        elif flag == "component" and "components" in fields:
            changes["components"] = {**base.components, **components(value)}
        elif flag == "lengths" and "lengths" in fields:
            changes["lengths"] = lengths(value)
        elif flag == "number" and "givens" in fields:
            changes["givens"] = {**base.givens, **numbers(value)}
        elif "layout" in fields if flag in FIELDS else flag in SIZES and "batch" in fields:
            changes[flag] = value
        else:
            problems.append(Problem(_spelt(flag), f"scenario {base.name} has nothing of the kind"))
    if devices is not None and "accelerator" in fields:
        changes["accelerator"] = devices.accelerator
    if problems:
        raise InvalidInput(problems)
    return changes


def _flag(field: str) -> str:
    """Return the flag that a problem's field was set by; the field itself where it was none."""
    name = field.rpartition(".")[2]
    flags = {scenario: flag for flag, scenario in FIELDS.items()}
    flag = flags.get(name, name)
    known = (*FIELDS, *MODELS, *SIZES, "device_memory")
    return _spelt(flag) if flag in known else field


def _spelt(flag: str) -> str:
    return SPELT.get(flag, f"--{flag.replace('_', '-')}")


def _as_run(question: Any, algorithm: Any, devices: Devices | None, preset: str | None) -> Any:
    if hasattr(question, "as_run"):
        accelerator = devices.accelerator if devices else None
        return question.as_run(algorithm=algorithm, accelerator=accelerator, preset=preset)
    if "algorithm" in _fields(question):
        return question.using(algorithm=algorithm)
    raise InvalidInput(Problem("--algorithm", f"scenario {question.name} is not about an algorithm"))
