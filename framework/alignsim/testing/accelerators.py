"""What a plugin of accelerators should pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pytest

from alignsim.given import Given
from alignsim.hardware import Accelerator
from alignsim.registry import default_registry
from alignsim.testing.registries import registry_of
from alignsim.units import human

LEAST, MOST = 2.0**28, 2.0**44


class AcceleratorTests:
    """Conformance of a plugin that offers accelerators. Subclass it and say which plugin is meant.

    ```python
    import alignsim_acme
    from alignsim.testing import AcceleratorTests


    class TestAcme(AcceleratorTests):
        plugin = alignsim_acme
    ```
    """

    plugin: Any = None
    """The plugin: a module, an object, or what ``scan`` returns."""

    @pytest.fixture
    def accelerators(self) -> Mapping[str, Accelerator]:
        """What the plugin offers, by name."""
        assert self.plugin is not None, "say which plugin is meant: `plugin = alignsim_acme` in the class"
        return registry_of(self.plugin).accelerators

    def test_nothing_fails(self) -> None:
        """Every hook answers, with objects of the right type under names of their own."""
        assert not registry_of(self.plugin).failures
        assert all(report.status == "loaded" for report in registry_of(self.plugin).plugins)

    def test_offers_at_least_one(self, accelerators: Mapping[str, Accelerator]) -> None:
        """There is something to offer."""
        assert accelerators, "the plugin offers no accelerator: does alignsim_accelerators yield one?"

    def test_every_number_has_a_source(self, accelerators: Mapping[str, Accelerator]) -> None:
        """Whoever doubts a number can look it up."""
        bare = [f"{a.name}.{where}" for a in accelerators.values() for where, n in numbers(a) if unsourced(n.source)]
        assert not bare, f"say where these are from, with source= for all or sources= for some: {', '.join(bare)}"

    def test_memory_is_plausible(self, accelerators: Mapping[str, Accelerator]) -> None:
        """A slip between MiB, GB and GiB, or in a power of ten, is noticed."""
        for accelerator in accelerators.values():
            for memory in (accelerator.usable_memory, accelerator.total_memory):
                size = memory.value if memory is not None else LEAST
                assert LEAST <= size <= MOST, f"{accelerator.name} would have {human(size, 'byte')} of memory"

    def test_usable_memory_is_known(self, accelerators: Mapping[str, Accelerator]) -> None:
        """Without it there is no verdict; what is on the box is more than what a program gets."""
        without = [a.name for a in accelerators.values() if a.usable_memory is None]
        assert not without, f"state usable_memory, as nvidia-smi or a framework reports it: {', '.join(without)}"

    def test_names_are_free(self, accelerators: Mapping[str, Accelerator]) -> None:
        """No name or alias is one that somebody else has. The plugin itself may be installed."""
        installed = default_registry().accelerators
        for accelerator in accelerators.values():
            for name in (accelerator.name, *accelerator.aliases):
                if name in installed and installed.offer(name).name != accelerator.name:
                    pytest.fail(f"{name!r} of {accelerator.name} already means {installed[name].name}")
                if name in installed and installed[name] != accelerator:
                    pytest.fail(f"{name!r} is offered by {installed.origin(name)} as well, with other numbers")

    def test_answers_the_same_twice(self, accelerators: Mapping[str, Accelerator]) -> None:
        """A hook has no memory of its own."""
        assert dict(accelerators) == dict(registry_of(self.plugin).accelerators)


def numbers(accelerator: Accelerator) -> Iterator[tuple[str, Given]]:
    """Yield every number of an accelerator with its field, those by data type included."""
    for field in attrs.fields(type(accelerator)):
        value = getattr(accelerator, field.name)
        if isinstance(value, Given):
            yield field.name, value
        elif isinstance(value, Mapping):
            yield from ((f"{field.name}[{key}]", n) for key, n in value.items() if isinstance(n, Given))


def unsourced(source: str) -> bool:
    """Whether a source says nothing: it is blank, or the one of numbers that a user typed in."""
    return source.strip() in ("", "user")
