"""A run as the text of a YAML file: what was asked, and as comments what was taken for granted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from alignsim.errors import InvalidInput, Origin, Problem
from alignsim.frozen import FrozenDict
from alignsim.graph import Node
from alignsim.rundata import amount, checked, data_of
from alignsim.scenario import Scenario
from alignsim.yamlfile import PLAIN, STRANGE, tree_of

ENDINGS = (".yaml", ".yml")
WORD = re.compile(r"[A-Za-z][\w./+-]*", re.ASCII)
CHOSEN = """
# Chosen by the preset, each with where it was read. Another choice goes under components:
"""
TAKEN = """
# Taken for granted, each number with its source. One that should be another goes under givens:
"""


def save(run: Scenario, path: str | Path) -> None:
    """Write a run to a YAML file that is not there yet.

    Raises:
        InvalidInput: the file is there, cannot be written, or is not called like a YAML file; or a file cannot say what
            the run is.
    """
    origin = Origin(str(path))
    if Path(path).suffix not in ENDINGS:
        raise InvalidInput(Problem("", f"a run is saved as YAML: expected a name that ends in {ENDINGS[0]}", origin))
    text = text_of(run)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidInput(Problem("", "is there already, and stays as it is; name another file", origin)) from None
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise InvalidInput(Problem("", f"cannot be written: {told}", origin)) from None


def text_of(run: Scenario) -> str:
    """Return a run as YAML that reads back to an equal one.

    Raises:
        InvalidInput: what a file cannot say of it: terms of its own, objects that no catalogue has.
    """
    data = data_of(run)
    sources = {f"components.{key}": component.source for key, component in run.components.items()}
    if run.preset is not None:
        sources["preset"] = run.preset.source
    text = yaml_of(data, sources)
    checked(run, tree_of(text, run.name).sound().content)
    return text + _comments(CHOSEN, _chosen(run)) + _comments(TAKEN, _taken(run))


def _comments(head: str, lines: Iterator[str]) -> str:
    told = "".join(f"#   {line}\n" for line in lines)
    return f"{head}{told}" if told else ""


def yaml_of(data: Mapping[str, Any], sources: Mapping[str, str] = FrozenDict()) -> str:
    """Return plain data as YAML; ``sources`` become comments beside the values at their places.

    >>> print(yaml_of({"algorithm": "SFT", "batch": {"micro_batch": 2}}, {"batch.micro_batch": "ours"}), end="")
    algorithm: SFT
    batch:
      micro_batch: 2  # ours
    """
    return "".join(f"{line}\n" for line in _lines(data, sources))


def _lines(data: Mapping[str, Any], sources: Mapping[str, str], place: str = "", indent: str = "") -> Iterator[str]:
    for name, value in data.items():
        here = f"{place}.{name}" if place else name
        if isinstance(value, Mapping) and value:
            yield f"{indent}{_scalar(name)}:"
            yield from _lines(value, sources, here, f"{indent}  ")
        else:
            source = _comment(sources.get(here, ""))
            yield f"{indent}{_scalar(name)}: {_value(value)}{source}"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_scalar, value))}]"
    return "{}" if isinstance(value, Mapping) else _scalar(value)


def _scalar(value: Any) -> str:
    """Return a number, a truth value or a text as the reader takes it; texts are quoted where they could be another."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if WORD.fullmatch(value) and value not in PLAIN and not STRANGE.fullmatch(value):
        return str(value)
    return f'"{"".join(map(_letter, value))}"'


def _letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


def _comment(text: str) -> str:
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return f"  # {plain}" if plain else ""


def _chosen(run: Scenario) -> Iterator[str]:
    """Yield the components that a preset chose."""
    for place, default in run.settled.defaults.components.items():
        yield f"{_scalar(place)}: {_scalar(default.value)}{_comment(default.source)}"


def _taken(run: Scenario) -> Iterator[str]:
    """Yield the defaults that what was asked depends on; zeros add nothing, and are left out."""
    graph = run.graph
    for path in graph.needed(run.outputs):
        number = graph.nodes[path].given
        if number is not None and number.obtained == "default" and number.value and not _switch(run, graph.nodes[path]):
            ends = "" if not number.ranged else f"{amount(number.at('low'), '')} to {amount(number.at('high'), '')}; "
            yield f"{_scalar(path)}: {_scalar(amount(number.value, number.unit))}{_comment(ends + number.source)}"


def _switch(run: Scenario, node: Node) -> bool:
    """Whether a number is a switch that a slot promises: choosing a component is what sets it."""
    name = node.path.rpartition(".")[2]
    return not node.unit and any(name in slot.promises for slot in run.registry.slots.values())
