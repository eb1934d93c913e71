"""Accelerators, nodes and clusters as a third party writes them."""

import pickle
from typing import Any

import pytest

from alignsim import hardware
from alignsim.errors import InvalidInput, UnknownName
from alignsim.given import given
from alignsim.hardware import counted

# Wrong calls are the point here, and type checkers know them for what they are.
Accelerator: Any = hardware.Accelerator
Node: Any = hardware.Node
Cluster: Any = hardware.Cluster


def acme(**changes):
    values = {
        "name": "Acme-X1",
        "vendor": "Acme",
        "usable_memory": "94 GiB",
        "memory_bandwidth": "4 TB/s",
        "flop_rates": {"bf16": "900 Tflop/s"},
        "source": "Acme X1 product brief, 2026",
    }
    return Accelerator(**(values | changes))


def messages(call):
    with pytest.raises(InvalidInput) as caught:
        call()
    return [str(problem) for problem in caught.value.problems]


def test_texts_with_units_become_base_units():
    device = acme()
    assert device.usable_memory.value == 94 * 2**30
    assert device.memory_bandwidth.value == 4e12
    assert device.flop_rate("bf16").value == 9e14


def test_a_gigabyte_is_not_a_gibibyte():
    assert acme(usable_memory="80 GB").usable_memory.value == 80e9
    assert acme(usable_memory="80 GiB").usable_memory.value == 80 * 2**30


def test_numbers_without_a_source_take_that_of_their_owner():
    device = acme(power=given("700 W", "watt", source="our own meter", obtained="measured"))
    assert device.usable_memory.source == "Acme X1 product brief, 2026"
    assert device.flop_rates["bf16"].source == "Acme X1 product brief, 2026"
    assert device.power.source == "our own meter"
    assert device.numbers()["power"].obtained == "measured"


def test_a_field_can_have_a_source_of_its_own():
    assert acme(sources={"usable_memory": "torch 2.10 on ours"}).usable_memory.source == "torch 2.10 on ours"


def test_what_is_not_stated_is_none():
    device = acme()
    assert device.total_memory is None
    assert device.context_memory is None
    assert "context_memory" not in device.numbers()


def test_least_memory_is_the_low_end():
    ranged = given("94 GiB", "byte", low="93 GiB", source="ours")
    assert acme(usable_memory=ranged).least_memory == 93 * 2**30
    assert acme().least_memory == 94 * 2**30
    assert acme(usable_memory=None, total_memory="96 GiB").least_memory is None


def test_all_problems_are_reported_at_once():
    found = messages(
        lambda: Accelerator(
            name="X",
            usable_memory=94,
            memory_bandwith="4 TB/s",
            link_bandwidth="80 GiB",
            power="5 USD",
            total_memory="-1 GiB",
        )
    )
    assert found == [
        "Accelerator.memory_bandwith: no such field; did you mean memory_bandwidth or link_bandwidth?",
        "Accelerator.vendor: is required",
        "Accelerator.total_memory: must be more than 0, got -1.07374e+09",
        "Accelerator.usable_memory: 94 has no unit; write it with one, such as '80 GiB' or '80 GB'",
        "Accelerator.link_bandwidth: expected a quantity of [information] / [time] with its unit,"
        " such as '900 GB/s', got 80 GiB",
        "Accelerator.power: expected a quantity of [power] with its unit, such as '700 W', got 5 USD",
    ]


def test_a_number_without_unit_is_told_a_unit_of_its_dimension():
    assert messages(lambda: acme(flop_rates={"bf16": 900})) == [
        "Accelerator.flop_rates: bf16: 900 has no unit; write it with one, such as '989 Tflop/s'"
    ]
    assert messages(lambda: acme(memory_bandwidth=4e12)) == [
        "Accelerator.memory_bandwidth: 4000000000000.0 has no unit; write it with one, such as '900 GB/s'"
    ]


def test_all_wrong_rates_are_named():
    assert messages(lambda: acme(flop_rates={"bf16": "0 flop/s", "fp8": "9 GB"})) == [
        "Accelerator.flop_rates: fp8: expected a quantity of [computation] / [time] with its unit,"
        " such as '1 flop/s', got 9 GB; bf16: must be more than 0, got 0"
    ]


def test_some_memory_is_required():
    assert messages(lambda: acme(usable_memory=None)) == [
        "Accelerator.usable_memory: is required where total_memory is not given, e.g. '79.1 GiB'"
    ]


def test_no_more_is_usable_than_there_is():
    assert messages(lambda: acme(total_memory="94 GB")) == [
        "Accelerator.usable_memory: must be at most total_memory (94000000000 bytes), got 100931731456"
    ]


@pytest.mark.parametrize("aliases", ["X1", [""], [3]])
def test_aliases_are_a_list_of_names(aliases):
    assert messages(lambda: acme(aliases=aliases))[0].startswith("Accelerator.aliases: expected a ")


@pytest.mark.parametrize("aliases", [["Acme-X1"], ["X1", "X1"]])
def test_aliases_differ(aliases):
    assert messages(lambda: acme(aliases=aliases))[0].startswith("Accelerator.aliases: must differ from the name")


def test_blank_names_are_refused():
    assert messages(lambda: acme(name=" ")) == ["Accelerator.name: expected a text that is not blank, got ' '"]


def test_an_unknown_rate_says_what_is_known():
    with pytest.raises(UnknownName, match="no rate of Acme-X1 is named 'fp8'; known: bf16"):
        acme().flop_rate("fp8")


def test_a_node_takes_the_link_of_its_accelerator_unless_it_has_its_own():
    device = acme(link_bandwidth="450 GB/s")
    assert Node(name="n", accelerator=device, count=8).link.value == 450e9
    assert Node(name="n", accelerator=device, count=8, link_bandwidth="200 GB/s").link.value == 200e9


def test_a_cluster_takes_the_network_of_its_node_unless_it_has_its_own():
    node = Node(name="n", accelerator=acme(), count=8, network_bandwidth="50 GB/s", host_memory="2 TiB")
    assert Cluster(node=node, nodes=32).link.value == 50e9
    assert Cluster(node=node, nodes=32, link_bandwidth="25 GB/s").link.value == 25e9
    assert Cluster(node=node, nodes=32).accelerators == 256


def test_nodes_and_clusters_report_all_their_problems():
    assert messages(lambda: Node(name="n", accelerator="Acme-X1", count=0)) == [
        "Node.accelerator: expected an object of Accelerator, got 'Acme-X1'",
        "Node.count: must be at least 1, got 0",
    ]
    assert messages(lambda: Cluster(node=None, nodes=1.5)) == [
        "Cluster.node: expected an object of Node, got None",
        "Cluster.nodes: expected a whole number, got 1.5",
    ]


def test_a_cluster_needs_no_name_unless_it_is_offered_by_one():
    node = Node(name="n", accelerator=acme(), count=8)
    assert Cluster(node=node).name == ""
    assert Cluster(name="acme-east", node=node, nodes=4).name == "acme-east"


def test_hardware_is_frozen_and_travels():
    cluster = Cluster(node=Node(name="n", accelerator=acme(), count=8), nodes=2)
    assert pickle.loads(pickle.dumps(cluster)) == cluster
    with pytest.raises(AttributeError):
        cluster.nodes = 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("256xH100-SXM5-80GB", (256, "H100-SXM5-80GB")),
        (" 8 × TPU-v5p ", (8, "TPU-v5p")),
        ("1_024*GB200", (1024, "GB200")),
        ("Acme-X1", (1, "Acme-X1")),
        ("xtreme", (1, "xtreme")),
    ],
)
def test_counted(text, expected):
    assert counted(text) == expected


@pytest.mark.parametrize("text", ["", "8", "8x", "0xH100", "-8xH100", "_xH100"])
def test_counted_refuses_what_is_no_count_and_name(text):
    assert messages(lambda: counted(text)) == [f"expected a count and a name, such as '8xH100-SXM5-80GB', got {text!r}"]
