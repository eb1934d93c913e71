"""Data files: read whole, and every mistake named with its file and line."""

from typing import Any

import pytest

from alignsim.errors import InvalidInput, UnitError
from alignsim.units import to_base
from alignsim_hardware import files
from alignsim_hardware.files import Page, node
from alignsim_hardware.quantities import SPELLINGS, in_base_units

accelerator: Any = files.accelerator
accelerators_in: Any = files.accelerators_in

GOOD = """\
name = "Acme-X1"
vendor = "Acme"

[usable_memory]
value = "94 GiB"
low = "93 GiB"
source = "our own X1, torch 2.10"
obtained = "measured"
"""


def messages(call):
    with pytest.raises(InvalidInput) as caught:
        call()
    return [str(problem) for problem in caught.value.problems]


def test_a_good_file():
    device = accelerator(GOOD, "acme/x1.toml")
    assert (device.usable_memory.value, device.least_memory) == (94 * 2**30, 93 * 2**30)
    assert str(device.usable_memory.origin) == "acme/x1.toml:4"
    assert device.source == "alignsim hardware catalogue, acme/x1.toml"


def test_all_mistakes_of_numbers_with_their_lines():
    text = """\
name = "Acme-X1"
vendor = "Acme"
power = "700 W"

[usable_memory]
value = 94
low = "93 GiB"
sauce = "us"
obtained = "guessed"

[memory_bandwidth]
value = "4 TB"
source = "Acme brief"
obtained = "vendor"

[flop_rates.bf16]
low = "5 Gflop/s"
value = "1 Gflop/s"
source = "Acme brief"
obtained = "vendor"

[link_bandwidth]
source = "Acme brief"
obtained = "vendor"
"""
    assert messages(lambda: accelerator(text, "x1.toml")) == [
        "x1.toml:3: power: expected a table of value, low, high, source, obtained, got '700 W'",
        "x1.toml:8: usable_memory.sauce: no such part; did you mean source or value?",
        "x1.toml:5: usable_memory: needs a source: where the number is from",
        "x1.toml:5: usable_memory: obtained must be one of ('vendor', 'measured', 'inferred'), got 'guessed'",
        "x1.toml:6: usable_memory.value: expected a text with a number and a unit, such as '80 GiB', got 94",
        "x1.toml:12: memory_bandwidth.value: 'TB' in '4 TB' is no unit of byte/s; did you mean TB/s?",
        "x1.toml:16: flop_rates.bf16: low <= value <= high does not hold: [5000000000.0, 1000000000.0]",
        "x1.toml:22: link_bandwidth: needs a value",
    ]


def test_a_misspelt_field_and_a_missing_one():
    text = GOOD.replace('vendor = "Acme"', 'vender = "Acme"')
    assert messages(lambda: accelerator(text, "x1.toml")) == [
        "x1.toml:2: vender: no such field; did you mean vendor?",
        "x1.toml: vendor: is required",
    ]


def test_fields_that_disagree_are_placed():
    text = GOOD + '\n[total_memory]\nvalue = "94 GB"\nsource = "Acme brief"\nobtained = "vendor"\n'
    assert messages(lambda: accelerator(text, "x1.toml")) == [
        "x1.toml:4: usable_memory: must be at most total_memory (94000000000 bytes), got 100931731456"
    ]


def test_no_toml():
    assert messages(lambda: accelerator("name = ", "x1.toml"))[0].startswith("x1.toml: is no TOML: ")


def test_a_file_overrides_what_its_vendor_shares(tmp_path):
    number = '\n[context_memory]\nvalue = "{}"\nsource = "Acme runtime 1.0"\nobtained = "measured"\n'
    (tmp_path / "_vendor.toml").write_text(number.format("300 MiB"))
    (tmp_path / "x1.toml").write_text(GOOD)
    (tmp_path / "x2.toml").write_text(GOOD.replace("X1", "X2") + number.format("500 MiB"))
    first, second = accelerators_in(tmp_path)
    assert (first.name, first.context_memory.value) == ("Acme-X1", 300 * 2**20)
    assert (second.name, second.context_memory.value) == ("Acme-X2", 500 * 2**20)
    assert first.context_memory.origin.file.endswith("_vendor.toml")


def test_a_node_of_an_unknown_accelerator():
    text = 'name = "n"\naccelerator = "Acme-X2"\ncount = 8\n'
    device = accelerator(GOOD, "x1.toml")
    assert messages(lambda: node(text, "n.toml", {"Acme-X1": device})) == [
        "n.toml:2: accelerator: no accelerator is named 'Acme-X2'; did you mean Acme-X1?"
    ]
    assert node(text.replace("X2", "X1"), "n.toml", {"Acme-X1": device}).accelerator is device


def test_lines_of_tables_and_keys():
    page = Page.of(GOOD, "x1.toml")
    assert page.origin("usable_memory.low").line == 6
    assert page.origin("usable_memory.high").line == 4
    assert page.origin("power").line is None


@pytest.mark.parametrize(("unit", "spelling"), [(u, s) for u, known in SPELLINGS.items() for s in known])
def test_spellings_mean_what_the_unit_registry_says(unit, spelling):
    assert in_base_units(f"3 {spelling}", unit) == to_base(f"3 {spelling}", unit)


@pytest.mark.parametrize("text", ["80", "GiB", "-1 GiB", "1e3 GiB", "", 80, None, True, "80 gib", "0.3 B", "5 USD"])
def test_quantities_that_are_refused(text):
    with pytest.raises(UnitError):
        in_base_units(text, "byte")


def test_quantities_are_exact():
    assert in_base_units("80998 MiB", "byte") == 84_932_558_848
    assert in_base_units("3.35 TB/s", "byte/s") == 3_350_000_000_000
    assert in_base_units("206_141_652_992 B", "byte") == 196592 * 2**20
