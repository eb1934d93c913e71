import pytest

from alignsim import Architecture, given
from alignsim.views.amounts import amount, extent, short
from alignsim.views.diagram import Diagram, Vertex
from alignsim.views.docs import attribute_docs
from alignsim.views.plain import described, plain
from alignsim.views.table import Table

STOCK = Table.of("Stock", ["what", ">count"], [("apples", 12), ("a|b", None)], ["as counted"])


def test_a_table_as_text_and_as_markdown():
    assert str(STOCK) == "Stock\nwhat    count\napples     12\na|b\nas counted"
    markdown = "Stock\n\n| what | count |\n| --- | ---: |\n| apples | 12 |\n| a\\|b |  |\n\nas counted"
    assert STOCK.markdown() == markdown
    assert str(Table.of("", ["", ""], [("a", "b")])) == "a  b"


def test_a_row_of_another_length_is_an_error():
    with pytest.raises(ValueError, match="zip"):
        str(Table.of("", ["a", "b"], [("1", "2"), ("1", "2", "3")]))


@pytest.mark.parametrize(
    ("number", "unit", "text"),
    [(80e9, "byte", "74.506 GiB (80 GB)"), (512, "byte", "512 B"), (3e12, "byte/s", "3,000 GB/s"), (5, "", "5")],
)
def test_amounts(number, unit, text):
    assert amount(number, unit) == text


def test_ranges_and_short_values():
    assert extent(given("2 GiB", "byte", low="1 GiB")) == "1.000 GiB (1.07374 GB) to 2.000 GiB (2.14748 GB)"
    assert extent(given("2 GiB", "byte")) == ""
    assert short({"a": True, "b": (1, "x")}) == "a: yes, b: 1, x"


def test_plain_data_of_a_description():
    model = Architecture(name="Tiny", layers=2, hidden=8, heads=2, parameters=1000)
    told = described(model, "sources")
    assert told["heads"] == 2
    assert "sources" not in told
    assert plain({"memory": given("1 KiB", "byte", source="a box")})["memory"]["value"] == 1024


def test_docs_of_attributes():
    assert attribute_docs(Architecture)["hidden"] == "width of the residual stream."


def test_labels_are_quoted():
    odd = Diagram(vertices=(Vertex("n0", ('say "a<b" \\ #1',), "given"),), edges=())
    assert odd.mermaid() == 'flowchart LR\n    n0(["say #quot;a#lt;b#quot; \\ #35;1"])'
    assert '"n0" [label="say \\"a<b\\" \\\\ #1", shape=ellipse];' in odd.dot()
