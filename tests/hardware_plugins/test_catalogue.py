"""The built-in hardware: true values, a source for each, names that never collide."""

import subprocess
import sys
from itertools import pairwise
from typing import Any

import attrs
import pytest

import alignsim_hardware
from alignsim.errors import UnknownName
from alignsim.given import Given
from alignsim.registry import Registry
from alignsim_hardware.catalogue import accelerators, alignsim_accelerators, vendors
from alignsim_hardware.files import OBTAINED
from alignsim_hardware.nodes import alignsim_nodes, nodes

BY_NAME: dict[str, Any] = {device.name: device for device in accelerators()}
NODES: dict[str, Any] = {node.name: node for node in nodes()}
MIB = 2**20


def numbers(owner):
    for field in attrs.fields(type(owner)):
        value = getattr(owner, field.name)
        if isinstance(value, Given):
            yield field.name, value
    yield from getattr(owner, "flop_rates", {}).items()


# What a framework can use: the least that was seen, and what is typical, in MiB.
@pytest.mark.parametrize(
    ("name", "least", "typical", "total"),
    [
        ("A100-SXM4-40GB", 40192, 40366, 40960),
        ("A100-SXM4-80GB", 81039, 81050, 81920),
        ("H100-SXM5-80GB", 80998, 81089, 81559),
        ("H200-SXM-141GB", 143073, 143156, 143771),
        ("B200-SXM-180GB", 182630, 182631, 183359),
        ("L40S-48GB", 45404, 45589, 46068),
        ("RTX-4090-24GB", 24084, 24126, 24564),
        ("MI300X-192GB", 196290, 196588, 196592),
    ],
)
def test_memory(name, least, typical, total):
    device = BY_NAME[name]
    assert device.least_memory == least * MIB
    assert device.usable_memory.value == typical * MIB
    assert device.total_memory.value == total * MIB


def test_the_least_of_an_h100_in_bytes():
    assert BY_NAME["H100-SXM5-80GB"].least_memory == 84_932_558_848


def test_usable_is_less_than_the_label():
    # The label counts GB or GiB as it likes; 80 GiB would promise 922 MiB that are not there.
    assert 80 * 2**30 - BY_NAME["H100-SXM5-80GB"].least_memory == 922 * MIB


def test_error_correction_of_gddr_takes_a_sixteenth():
    assert BY_NAME["L40S-48GB"].total_memory.value == pytest.approx(49140 * MIB * 15 / 16, abs=MIB)
    assert BY_NAME["A10G-24GB"].total_memory.value == pytest.approx(24564 * MIB * 15 / 16, abs=MIB)


@pytest.mark.parametrize("name", ["Trainium1-32GB", "Trainium2-96GB", "Trainium3-144GB", "TPU7x", "A30-24GB"])
def test_where_only_the_vendor_has_spoken_nothing_is_usable_and_that_is_said(name):
    device = BY_NAME[name]
    assert device.usable_memory is None
    assert device.least_memory is None
    assert "has not been seen stated" in device.note


@pytest.mark.parametrize("device", accelerators(), ids=lambda device: device.name)
class TestEveryAccelerator:
    def test_each_number_has_a_source_and_how_it_was_obtained(self, device):
        found = dict(numbers(device))
        assert found
        for name, number in found.items():
            assert len(number.source) > 10, name
            assert number.source != "user", name
            assert number.obtained in OBTAINED, name
            assert number.origin.line is not None, name
            assert "shared" not in number.source, name

    def test_memory_is_ordered(self, device):
        total, usable = device.total_memory, device.usable_memory
        assert total is not None or usable is not None
        if usable is not None:
            most = total.value if total is not None else usable.value
            assert 0 < usable.at("low") <= usable.value <= usable.at("high") <= most
            assert most - usable.at("low") < 0.06 * most

    def test_memory_is_near_its_label(self, device):
        size = float(device.label.removesuffix(" GB"))
        known = device.total_memory or device.usable_memory
        assert 0.92 * size * 2**30 < known.value < 1.02 * size * 2**30

    def test_whole_bytes(self, device):
        for name, number in numbers(device):
            if number.unit == "byte":
                assert number.value == int(number.value) < 2**53, name

    def test_bandwidths_are_plausible(self, device):
        if device.memory_bandwidth is not None:
            assert 2e11 < device.memory_bandwidth.value < 1e13
        if device.link_bandwidth is not None:
            assert 3e10 < device.link_bandwidth.value < 1e12
            assert device.memory_bandwidth is None or device.link_bandwidth.value < device.memory_bandwidth.value

    def test_rates_are_dense_and_grow_as_types_shrink(self, device):
        known = [device.flop_rates[dtype].value for dtype in ("bf16", "fp8", "fp4") if dtype in device.flop_rates]
        assert known == sorted(known)
        assert all(5e13 < rate < 2e16 for rate in known)
        assert all(later < 4 * earlier for earlier, later in pairwise(known))

    def test_power_is_plausible(self, device):
        assert device.power is None or 50 <= device.power.value <= 1500

    def test_its_file_is_named_after_it_in_the_folder_of_its_vendor(self, device):
        assert device.source.endswith(f"{device.vendor.lower()}/{device.name.lower()}.toml")


def test_names_and_aliases_never_collide():
    spoken = [name.casefold() for device in accelerators() for name in (device.name, *device.aliases)]
    assert len(spoken) == len(set(spoken))


def test_fixed_costs_of_nvidia_are_ranges():
    for device in BY_NAME.values():
        if device.vendor == "NVIDIA":
            assert device.context_memory.at("low") < device.context_memory.value < device.context_memory.at("high")
            assert device.communicator_memory.ranged
            assert device.allocation_granularity.at("low") == 512
            assert device.allocation_granularity.value == 2 * MIB
            assert device.allocation_granularity.at("high") == 20 * MIB


def test_library_workspace_grew_with_hopper():
    assert BY_NAME["A100-SXM4-80GB"].library_workspace.value == 2 * 4096 * 1024 + 8 * 16 * 1024
    assert BY_NAME["H100-SXM5-80GB"].library_workspace.value == 64 * MIB
    assert BY_NAME["H100-SXM5-80GB"].library_workspace.at("low") == 32 * MIB


def test_costs_without_a_source_are_left_out():
    assert BY_NAME["TPU-v5p"].context_memory is None
    assert BY_NAME["MI300X-192GB"].communicator_memory is None


def test_every_vendor_folder_is_found():
    assert [vendor.name for vendor in vendors()] == ["amd", "aws", "google", "nvidia"]
    assert {device.vendor for device in accelerators()} == {"AMD", "AWS", "Google", "NVIDIA"}


def test_hooks_offer_the_catalogue():
    assert alignsim_accelerators() == accelerators()
    assert alignsim_nodes() == nodes()


def test_a_registry_offers_all_of_it_by_name_and_alias():
    registry = Registry([alignsim_hardware.modules], strict=True)
    assert len(registry.accelerators) == len(accelerators())
    assert len(registry.nodes) == len(nodes())
    assert registry.accelerators["NVIDIA H100 80GB HBM3"] is BY_NAME["H100-SXM5-80GB"]


def test_a_name_that_fits_several_means_none_of_them():
    registry = Registry([alignsim_hardware.modules], strict=True)
    with pytest.raises(UnknownName, match="did you mean H100-NVL-94GB or H100-PCIe-80GB or H100-SXM5-80GB"):
        registry.accelerators["H100"]


@pytest.mark.parametrize("node", nodes(), ids=lambda node: node.name)
def test_every_node_has_sources(node):
    assert node.source != "user"
    assert node.accelerator is BY_NAME[node.accelerator.name]
    assert node.count in (4, 8, 16)
    for name, number in numbers(node):
        assert number.obtained in OBTAINED, name
        assert number.source != "user", name


def test_nodes():
    hgx = NODES["HGX-H100-8"]
    assert (hgx.count, hgx.link.value, hgx.network_bandwidth.value) == (8, 450e9, 50e9)
    assert NODES["trn2.48xlarge"].host_memory.value == 2 * 2**40
    assert NODES["TPU-v5e-Host"].network_bandwidth.value * 8 == 25e9


def test_node_names_are_unique():
    assert len(NODES) == len(nodes())


def test_the_catalogue_opens_without_heavy_libraries():
    code = (
        "import sys, alignsim_hardware.nodes as n; n.nodes();"
        "print([m for m in ('pint', 'networkx', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
