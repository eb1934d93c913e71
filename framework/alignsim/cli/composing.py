"""A run that the flags of a command line describe by themselves: nothing of it is the reference case's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from alignsim.algorithm import Algorithm
from alignsim.batch import Batch
from alignsim.cli.devices import Devices
from alignsim.errors import InvalidInput, Problem
from alignsim.given import Inputs
from alignsim.layout import Layout
from alignsim.lengths import Lengths
from alignsim.registry import Registry
from alignsim.scenario import Scenario

CHOICES = ("component", "number", "spread", "preset", "lengths")
SIZES = tuple(field.name for field in attrs.fields(Batch) if field.name not in {f.name for f in attrs.fields(Inputs)})
OWN = (*CHOICES, *(size for size in SIZES if not size.startswith("rollout_")))
"""The flags that the reference case has nothing to do with: with one of them, a run is described."""

DEGREES = ("tensor", "pipeline", "sequence", "data")
WORDS = {"true": True, "false": False}


def pairs(flag: str, texts: Iterable[str], example: str) -> dict[str, str]:
    """Return ``NAME=VALUE`` texts as a dictionary.

    Raises:
        InvalidInput: one is no such text, or names what another one names.
    """
    found: dict[str, str] = {}
    problems = []
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            problems.append(Problem(f"--{flag}", f"expected a name, = and a value, such as {example}; got {text!r}"))
        elif name in found:
            problems.append(Problem(f"--{flag}", f"names {name!r} twice"))
        found[name] = value
    if problems:
        raise InvalidInput(problems)
    return found


def components(texts: Iterable[str]) -> dict[str, str]:
    """Return fillings by slot, or by role and slot."""
    return pairs("component", texts, "loss=cross-entropy or critic.loss=score")


def numbers(texts: Iterable[str]) -> dict[str, Any]:
    """Return numbers by path; a text that is no number has a unit."""
    return {path: _number(text) for path, text in pairs("set", texts, "policy.lora_rank=64").items()}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def spread(texts: Iterable[str]) -> dict[str, Any]:
    """Return fields of a layout by name.

    Raises:
        InvalidInput: a value is neither a whole number nor true or false.
    """
    named = pairs("spread", texts, "context=2")
    found = {name: WORDS.get(text, int(text) if text.isdecimal() else None) for name, text in named.items()}
    wrong = [
        Problem("--spread", f"{name} is a whole number, true or false; got {named[name]!r}")
        for name, value in found.items()
        if value is None
    ]
    if wrong:
        raise InvalidInput(wrong)
    return found


def lengths(texts: Iterable[str]) -> Lengths:
    """Return the lengths that texts such as ``mean=900,maximum=4096`` say.

    Raises:
        InvalidInput: all that is wrong with them.
    """
    named = pairs("real-lengths", (part for text in texts for part in text.split(",")), "mean=900,maximum=4096")
    found: dict[str, Any] = {name: _number(text) for name, text in named.items()}
    wrong = [
        Problem("--real-lengths", f"{name} is a number of tokens; got {text!r}")
        for name, text in found.items()
        if isinstance(text, str)
    ]
    if wrong:
        raise InvalidInput(wrong)
    try:
        return Lengths(**found)
    except InvalidInput as error:
        told = (f"{p.field.removeprefix('Lengths.')} {p.message}" for p in error.problems)
        raise InvalidInput([Problem("--real-lengths", message) for message in told]) from None


def run_of(registry: Registry, flags: Mapping[str, Any], devices: Devices | None) -> tuple[Scenario, list[str]]:
    """Return the run that the flags describe, and what was decided for the user.

    Raises:
        InvalidInput: all that is wrong with the flags.
        UnknownName: a model, algorithm or component that nobody offers.
    """
    given = dict(flags)
    if "algorithm" not in given:
        raise InvalidInput(Problem("--algorithm", "is required to describe a run; or name a scenario to change"))
    if "device_memory" in given:
        raise InvalidInput(Problem("--device-memory", "is not for a run of its own: name the devices by --gpus"))
    algorithm: Algorithm = registry.algorithms[given["algorithm"]]
    notes: list[str] = []
    models: dict[str, Any] = dict(_models(registry, algorithm, given, notes))
    degrees = {name: given[name] for name in DEGREES if name in given}
    more = spread(given.get("spread", ()))
    twice = [Problem("--spread", f"names {name!r}, as --{name} does") for name in degrees if name in more]
    if twice:
        raise InvalidInput(twice)
    degrees |= more
    if devices is not None:
        replicas = {name: degrees[name] for name in (*DEGREES, "context") if name in degrees}
        if all(degree >= 1 for degree in replicas.values()):
            degrees["data"] = devices.replicas(**replicas)
    of = next(iter(models.values()), None)
    run = Scenario(
        name=f"{algorithm.name} of {registry.resolve('architectures', of).name}" if of else algorithm.name,
        algorithm=algorithm,
        models=models,
        accelerator=devices.accelerator if devices else None,
        layout=Layout(**degrees),
        batch=Batch(**{name: given[name] for name in SIZES if name in given}),
        lengths=lengths(given.get("lengths", ())),
        components=components(given.get("component", ())),
        preset=given.get("preset"),
        givens={**(devices.givens if devices else {}), **numbers(given.get("number", ()))},
        registry=registry,
    )
    return run, notes


def _models(
    registry: Registry, algorithm: Algorithm, given: Mapping[str, Any], notes: list[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the names of the models of the roles that have one of their own; a scenario gives them scalar heads."""
    own = [role for role in ("policy", "critic") if role in given]
    named = {role: given[role] for role in own}
    found = {role: registry.resolve("architectures", given[role], f"--{role}") for role in own}
    if "policy" in named and "policy" in algorithm.roles:
        yield "policy", named["policy"]
    scalar = [role for role in algorithm.scalar_heads if algorithm.model_of.get(role) not in algorithm.scalar_heads]
    name = named.get("critic", named.get("policy"))
    if not scalar or name is None:
        return
    if "critic" not in named:
        notes.append(f"{' and '.join(scalar)}: {found['policy'].name} with a scalar head, since no --critic is given")
    yield from ((role, name) for role in scalar)
