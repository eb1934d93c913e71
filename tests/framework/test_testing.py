"""The conformance kit passes a good plugin and says what is wrong with a bad one."""

import pytest

from alignsim import Accelerator, default_registry
from alignsim.errors import PluginError
from alignsim.testing import AcceleratorTests, offering, registry_of


def accelerator(**changes):
    plain = {"name": "Acme-X1", "vendor": "Acme", "usable_memory": "94 GiB", "source": "Acme X1 brief, 2026"}
    return Accelerator(**{**plain, **changes})


class TestGood(AcceleratorTests):
    plugin = offering("acme", accelerators=[accelerator(aliases=["X1"], memory_bandwidth="4 TB/s")])


def failing(*accelerators):
    """Return the names of the tests that a plugin fails, each with what it says."""
    kit = AcceleratorTests()
    kit.plugin = offering("acme", accelerators=accelerators)
    offered = registry_of(kit.plugin).accelerators
    said = {}
    for name in (name for name in dir(kit) if name.startswith("test_")):
        try:
            getattr(kit, name)(*([offered] if name != "test_nothing_fails" else []))
        except (AssertionError, pytest.fail.Exception) as error:
            said[name.removeprefix("test_")] = str(error)
    return said


def test_an_empty_plugin():
    assert list(failing()) == ["offers_at_least_one"]


def test_a_number_without_a_source():
    said = failing(accelerator(source="user", flop_rates={"bf16": "100 Tflop/s"}))
    assert list(said) == ["every_number_has_a_source"]
    assert "Acme-X1.usable_memory" in said["every_number_has_a_source"]
    assert "Acme-X1.flop_rates[bf16]" in said["every_number_has_a_source"]


def test_a_slip_of_a_thousand():
    said = failing(accelerator(usable_memory="94 TiB"))
    assert list(said) == ["memory_is_plausible"]
    assert "Acme-X1 would have 94.000 TiB of memory" in said["memory_is_plausible"]


def test_memory_that_is_only_on_the_box():
    assert list(failing(accelerator(usable_memory=None, total_memory="96 GiB"))) == ["usable_memory_is_known"]


def test_a_name_that_is_taken():
    installed = default_registry().accelerators
    if not installed:
        pytest.skip("no accelerator is installed")
    taken = next(iter(installed))
    assert list(failing(accelerator(name=taken))) == ["names_are_free"]
    assert list(failing(accelerator(aliases=[taken]))) == ["names_are_free"]
    assert failing(installed[taken]) == {}


def test_a_hook_that_does_not_exist():
    with pytest.raises(PluginError, match="no hook is named 'alignsim_gadgets'"):
        registry_of(offering(gadgets=[]))
