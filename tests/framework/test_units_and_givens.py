"""Units that mean something, numbers that are exact, and errors that list all that is wrong."""

from __future__ import annotations

import math
import pickle
from typing import Any

import attrs
import pint
import pytest

from alignsim import Given, InvalidInput, Layout, UnknownName, given, quantity
from alignsim.errors import Origin, Problem, UnitError, near, suggestion
from alignsim.given import Inputs, as_bandwidth, as_bytes, as_count, as_power, as_rate, described, stated
from alignsim.units import base_unit, dimension, factor, human, measure, to_base

FOREIGN: Any = pint.UnitRegistry()


@pytest.mark.parametrize(
    ("text", "unit", "wanted"),
    [
        ("80 GB", "byte", 80e9),
        ("80 GiB", "byte", 80 * 2.0**30),
        ("80GiB", "byte", 80 * 2.0**30),
        (" 1 MiB ", "byte", 2.0**20),
        ("8 bit", "byte", 1.0),
        ("1 Gbit/s", "byte/s", 1.25e8),
        ("900 GB/s", "byte/s", 9e11),
        ("1 h", "s", 3600.0),
        ("2 kW*h", "joule", 7.2e6),
        ("989.4 Tflop/s", "flop/s", 9.894e14),
        ("2 byte/parameter", "byte", 2.0),
        ("70e9 parameter", "", 7e10),
        ("50 percent", "", 0.5),
        ("3 USD", "dollar", 3.0),
        (7, "byte", 7.0),
        (2, "GiB", 2.0**31),
    ],
)
def test_everything_becomes_base_units(text, unit, wanted):
    assert to_base(text, unit) == wanted


def test_a_byte_has_a_dimension_and_a_count_has_none():
    assert dimension("byte") == "[information]"
    assert {dimension(count) for count in ("parameter", "token", "sequence", "layer", "device", "")} == {
        "dimensionless"
    }
    with pytest.raises(pint.DimensionalityError):
        _ = quantity(1, "byte") + 1
    with pytest.raises(pint.DimensionalityError):
        _ = quantity(1, "byte") + quantity(1, "token")
    assert quantity(2, "byte/parameter") * quantity(3, "parameter") == quantity(6, "byte")


@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        ("80 dollar", "byte", r"expected a quantity of \[information\] with its unit, such as '80 GiB', got 80 dollar"),
        ("80", "byte", "expected a quantity of .*got 80"),
        ("80 W", "byte", "expected a quantity of"),
        ("80 GiB", "", "expected a plain number, got 80 GiB"),
        ("80 GB", "byte/s", "such as '900 GB/s', got 80 GB"),
        ("80 gigs", "byte", "cannot read '80 gigs'"),
        ("eighty", "byte", "cannot read 'eighty'"),
        ("", "byte", "cannot read ''"),
        ("GiB", "byte", "cannot read 'GiB'"),
        ("2**3 GiB", "byte", r"cannot read '2\*\*3 GiB'"),
        ("80 GiB + 1 GiB", "byte", "cannot read"),
        ("9**9**9**9 GiB", "byte", "cannot read"),
        ("__import__('os') GiB", "byte", "cannot read"),
        ("nan GiB", "byte", "expected a finite number, got 'nan GiB'"),
        ("1e400 GiB", "byte", "expected a finite number"),
        (math.nan, "byte", "expected a finite number, got nan"),
        (math.inf, "byte", "expected a finite number, got inf"),
        (10**400, "", "expected a finite number"),
        (True, "byte", "got True"),
        (None, "byte", "got None"),
        ([1], "byte", r"got \[1\]"),
        (1, "blorp", "'blorp' is not a unit"),
        (80 * FOREIGN.kg, "byte", "expected a quantity of .*got 80 kilogram"),
        (80 * FOREIGN.light_year, "byte", "expected a quantity of .*got 80 light_year"),
    ],
)
def test_what_cannot_be_read_says_what_could(value, unit, message):
    with pytest.raises(UnitError, match=message):
        to_base(value, unit)


def test_an_array_is_not_one_number():
    import numpy as np

    with pytest.raises(UnitError, match="expected a quantity"):
        to_base(np.array([80, 90]) * FOREIGN.GB, "byte")


def test_a_quantity_of_another_registry_is_read_by_its_spelling():
    assert to_base(80 * FOREIGN.GB, "byte") == 80e9
    assert to_base(80 * FOREIGN.GiB, "byte") == 80 * 2.0**30
    assert to_base(FOREIGN.Quantity(2, "GB/s"), "byte/s") == 2e9
    assert as_bytes(1 * FOREIGN.TiB).value == 2.0**40
    assert measure(3 * FOREIGN.MiB) == (3 * 2.0**20, "byte")
    with pytest.raises(UnitError, match="is not a unit"):
        measure(3 * FOREIGN.light_year)


def test_numbers_of_numpy_are_numbers():
    import numpy as np

    assert to_base(np.float64(1.5), "GiB") == 1.5 * 2**30
    assert to_base(np.int64(8), "") == 8.0
    assert to_base(np.float32(0.5), "") == 0.5
    assert as_count(np.int32(8)) == 8
    assert type(as_count(np.int32(8))) is int
    assert Layout(tensor=np.int64(4)).tensor == 4
    with pytest.raises(UnitError):
        to_base(np.bool_(True), "")
    with pytest.raises(UnitError):
        as_count(np.bool_(True))


def test_quantities_pickle_into_the_same_registry():
    one = quantity(3, "GiB/s")
    assert pickle.loads(pickle.dumps(one)) + one == 2 * one


def test_factors_and_base_units():
    assert factor("KiB") == 1024.0
    assert factor("") == 1.0
    assert base_unit("GiB/s") == "byte / second"
    assert base_unit("") == ""


@pytest.mark.parametrize(
    ("number", "unit", "wanted"),
    [
        (0, "byte", "0 B"),
        (1023, "byte", "1,023 B"),
        (1024, "byte", "1.000 KiB"),
        (2684354560, "byte", "2.500 GiB"),
        (-(2**30), "byte", "-1.000 GiB"),
        (68976648192, "", "68,976,648,192"),
        (0.1566265, "", "0.156627"),
        (math.inf, "byte", "inf"),
        (3.35e12, "byte/s", "3,350 GB/s"),
    ],
)
def test_numbers_as_people_write_them(number, unit, wanted):
    assert human(number, unit) == wanted


# ---- given -----------------------------------------------------------------------------------------------------------


def test_a_given_keeps_its_range_and_where_it_is_from():
    number = given("0.5 GiB", "byte", low="0.25 GiB", high="1 GiB", source="measured", obtained="measured")
    assert [number.at(end) / 2**30 for end in ("low", "expected", "high")] == [0.25, 0.5, 1.0]
    assert number.ranged
    assert given(number) is number
    exact = given(3)
    assert [exact.at(end) for end in ("low", "expected", "high")] == [3.0, 3.0, 3.0]
    assert not exact.ranged


@pytest.mark.parametrize("ends", [{"low": 2}, {"high": 0.5}, {"low": 0, "high": 0.5}])
def test_a_range_holds_its_value(ends):
    with pytest.raises(UnitError, match="low <= value <= high does not hold"):
        given(1, **ends)


def test_whole_numbers_are_exact_or_refused():
    assert given(2**53).value == 2**53
    value: Any
    for value in (2**53 + 1, 2**54, -(2**53) - 1, 2**70, "9007199254740994 B", "16 PiB"):
        with pytest.raises(UnitError, match=r"above 2\^53"):
            given(value, "byte" if isinstance(value, str) else "")
    with pytest.raises(UnitError, match=r"above 2\^53"):
        given(1, high=2**53 + 1)


def test_rates_may_be_larger_than_any_exact_count():
    assert given("20 Pflop/s", "flop/s").value == 2e16
    assert as_rate("14000 Tflop/s").value == 1.4e16
    assert given(1e30).value == 1e30


@pytest.mark.parametrize("convert", [as_bytes, as_bandwidth, as_rate, as_power])
def test_a_bare_number_has_no_unit(convert):
    value: Any
    for value in (80, 80.0):
        with pytest.raises(UnitError, match="has no unit; write it with one, such as"):
            convert(value)
    for value in ("80 dollar", True, None):
        with pytest.raises(UnitError):
            convert(value)


def test_a_given_of_another_dimension_is_refused():
    with pytest.raises(UnitError):
        as_bytes(given("1 W", "watt"))
    assert as_bytes(Given(5.0, "byte")).value == 5.0


def test_what_a_user_states_keeps_its_own_unit():
    assert stated("2 GiB") == Given(2.0**31, "byte")
    assert stated(7) == Given(7.0, "")
    assert stated("7") == Given(7.0, "")
    assert stated("2 byte/parameter").unit == "byte / parameter"
    for value in ("two", None, True, math.nan, [1]):
        with pytest.raises(UnitError):
            stated(value)


@pytest.mark.parametrize("value", [1.5, "8", True, None, math.nan, math.inf, -math.inf, [8], 8j])
def test_counts_are_whole(value):
    with pytest.raises(UnitError, match="expected a whole number"):
        as_count(value)


def test_a_whole_float_is_a_count():
    assert as_count(8.0) == 8
    assert type(as_count(8.0)) is int


def test_all_that_is_wrong_is_told_at_once():
    wrong: Any = Layout
    with pytest.raises(InvalidInput) as caught:
        wrong(tensor=-8, pipline=3, data=1.5)
    assert [str(problem) for problem in caught.value.problems] == [
        "Layout.pipline: no such field; did you mean pipeline?",
        "Layout.tensor: must be at least 1, got -8",
        "Layout.data: expected a whole number, got 1.5",
    ]


def test_fields_are_named_and_required():
    @described
    @attrs.frozen(kw_only=True)
    class Described(Inputs):
        size: int = attrs.field(converter=as_count)

    Thing: Any = Described

    with pytest.raises(InvalidInput, match=r"Described.size: is required"):
        Thing()
    with pytest.raises(InvalidInput, match="takes keywords only"):
        Thing(3)
    assert Thing(size=3, source="a paper").numbers() == {"size": Given(3.0, source="a paper")}
    assert Thing(size=3, sources={"size": "a table"}).numbers()["size"].source == "a table"


# ---- errors ----------------------------------------------------------------------------------------------------------


def test_near_names():
    assert near("tensr", ["tensor", "pipeline", "data"]) == ["tensor"]
    assert near("TENSOR", ["tensor"]) == ["tensor"]
    assert near("h100", ["NVIDIA-H100-SXM", "A100"])[0] == "A100"
    assert suggestion("zzz", ["a", "b"]) == "known: a, b"
    assert suggestion("zzz", []) == "none is known"
    assert suggestion("zzz", [f"{i:02}" for i in range(20)]).endswith(", ... (20 in all)")


def test_errors_say_where_and_travel():
    problem = Problem("policy.layers", "must be at least 1", Origin("run.yaml", 3, 5))
    assert str(problem) == "run.yaml:3:5: policy.layers: must be at least 1"
    error = InvalidInput([problem, Problem("", "and more")])
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.problems) == (str(error), error.problems)
    assert str(InvalidInput("one").inside("models")) == "models: one"
    assert [str(p) for p in error.inside("run").problems] == [
        "run.yaml:3:5: run.policy.layers: must be at least 1",
        "run: and more",
    ]
    unknown = UnknownName("model", "Llama-9", ["Llama-2", "Qwen"], "a note")
    assert str(unknown) == "no model is named 'Llama-9'; did you mean Llama-2?\na note"
    assert str(pickle.loads(pickle.dumps(unknown))) == str(unknown)
