"""The catalogue of published models: data files, one a family, each model with a total counted elsewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from alignsim.architecture import Architecture
from alignsim.errors import InvalidInput, Origin, Problem
from alignsim.given import Given, as_count
from alignsim.hookspecs import hookimpl


@cache
def published() -> Mapping[str, Architecture]:
    """Return the catalogue by name, family after family.

    Raises:
        InvalidInput: a data file holds what is not a model.
    """
    folder = files("alignsim_plugins.architectures") / "catalogue"
    families = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return {model.name: model for family in families for model in read_family(family)}


def read_family(file: Traversable) -> Iterator[Architecture]:
    """Yield the models of one data file.

    The file has a table ``models`` with one table a model: fields of :class:`~alignsim.architecture.Architecture`,
    and the recorded count as ``total_parameters`` with its ``total_source``. A table ``every`` holds fields that all
    its models share.

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


def _model(name: str, fields: dict[str, Any]) -> Architecture:
    problems = [Problem(key, "is required") for key in ("total_parameters", "total_source") if key not in fields]
    total, source = fields.pop("total_parameters", 0), fields.pop("total_source", "")
    try:
        model = Architecture(name=name, recorded=Given(float(as_count(total)), "parameter", source=source), **fields)
    except InvalidInput as error:
        raise InvalidInput([*problems, *error.problems]) from None
    if problems:
        raise InvalidInput(problems)
    return model


@hookimpl
def alignsim_architectures() -> list[Architecture]:
    """Offer the models of the catalogue."""
    return list(published().values())
