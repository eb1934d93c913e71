"""The catalogue of published models: data files, one a family, each model with a total counted elsewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import attrs

from alignsim.architecture import Architecture
from alignsim.errors import InvalidInput, Origin, Problem
from alignsim.given import as_count, at_least, described
from alignsim.hookspecs import hookimpl


@described
@attrs.frozen(kw_only=True)
class Published:
    """A model of the catalogue, and what its formulas have to arrive at.

    Attributes:
        architecture: the shape, with its source.
        total_parameters: all parameters, obtained without the formulas of this package.
        total_source: where that number is from.
    """

    architecture: Architecture
    total_parameters: int = attrs.field(converter=as_count, validator=at_least(1))
    total_source: str


@cache
def published() -> Mapping[str, Published]:
    """Return the catalogue by name, family after family, smallest first where a family grows.

    Raises:
        InvalidInput: a data file holds what is not a model.
    """
    folder = files("alignsim_plugins.architectures") / "catalogue"
    families = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {model.architecture.name: model for family in families for model in read_family(family)}


def read_family(file: Traversable) -> Iterator[Published]:
    """Yield the models of one data file.

    The file has a table ``models`` with one table a model: fields of :class:`~alignsim.architecture.Architecture`,
    ``total_parameters`` and ``total_source``. A table ``every`` holds fields that all its models share.

    Raises:
        InvalidInput: the file is not TOML, or a model is wrong; the problems name the file and the model.
    """
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(Problem("", str(error), Origin(file.name))) from None
    unknown = set(content) - {"every", "models"}
    if unknown:
        raise InvalidInput([Problem(key, "is neither models nor every", Origin(file.name)) for key in sorted(unknown)])
    for name, fields in content.get("models", {}).items():
        try:
            yield _model(name, {**content.get("every", {}), **fields})
        except InvalidInput as error:
            raise error.inside(name, Origin(file.name)) from None


def _model(name: str, fields: dict[str, Any]) -> Published:
    totals = {key: fields.pop(key) for key in ("total_parameters", "total_source") if key in fields}
    return Published(architecture=Architecture(name=name, **fields), **totals)


@hookimpl
def alignsim_architectures() -> list[Architecture]:
    """Offer the models of the catalogue."""
    return [model.architecture for model in published().values()]
