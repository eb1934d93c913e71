"""The scenarios of all plugins by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim.errors import UnknownName
from alignsim.registry import default_registry


class ScenarioCatalogue:
    """The named scenarios of all plugins: ``Scenarios.Llama2_70B_PpoAlignment.result``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return default_registry().scenarios[name]
        except UnknownName as error:
            raise AttributeError(str(error)) from None

    def __getitem__(self, name: str) -> Any:
        return default_registry().scenarios[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *default_registry().scenarios]

    def __iter__(self) -> Iterator[str]:
        return iter(default_registry().scenarios)

    def __len__(self) -> int:
        return len(default_registry().scenarios)


Scenarios = ScenarioCatalogue()
