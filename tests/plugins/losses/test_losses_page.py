"""The catalogue of loss paths is written from the components themselves.

``python tests/plugins/losses/test_losses_page.py`` writes ``docs/reference/losses.md`` anew.
"""

from pathlib import Path

from alignsim import default_registry
from alignsim_plugins.losses.chunked_head import MOMENTS as TILE_MOMENTS
from alignsim_plugins.losses.coefficients import MOMENTS
from alignsim_plugins.losses.selectors import SELECTORS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "losses.md"
HEAD = """# Loss paths

What becomes of the logits between the head and the loss: for language models with a large vocabulary this is often
what fills the memory. A loss path fills the slot `loss`, for all roles or for one (`reward.loss=score`). This page is
written from the code.

"""
WHOLE = """## Whole logits, as coefficients

Bytes per token and word. Two numbers are for logits in 16 and in 32 bits: `autocast` converts what a model returns to
32 bits, unless the loss is computed inside the model's forward. *Chunk* is a part per token of a chunk and word beside
the rest. Every number is an input: `policy.forward_narrow` is the first of *forward*, `policy.forward_wide` the second,
`policy.forward_chunk` the chunk's. The words of a rank are what counts where tensor ranks divide them.

"""
TILES = """## Chunks of a head, as coefficients

Head and loss are computed together, so many tokens at a time. Bytes per token of a chunk and word; a range where it
was not measured exactly. Some make the gradients of the head and of its input in the forward and hold them until
backward; the others make logits again. *Products* are copies of the head's gradient while a chunk's part is added
to it.

"""
FORMULAS = """## Formulas of their own

Their copies depend on completions and formats in ways of their own; [terms](terms.md) has the equations.

| name | source |
| --- | --- |
"""


def paths():
    return [c for c in default_registry().components.values() if c.slot.name == "loss"]


def whole():
    return [c for c in paths() if "forward_narrow" in c.defaults]


def tiles():
    return [c for c in paths() if "forward_tile" in c.defaults]


def others():
    known = {c.name for c in (*whole(), *tiles())}
    return [c for c in paths() if c.name not in known]


def number(constant):
    bounds = f" ({constant.low:g} to {constant.high:g})" if constant.low is not None else ""
    return f"{constant.value:g}{bounds}"


def selector(component):
    """Return the name of the selector whose head tokens the component has."""
    (head,) = (term for term in component.terms if term.name == "head_tokens")
    (found,) = (s.name for s in SELECTORS if head in s.terms)
    return found


def row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def coefficient(component, moment):
    narrow, wide = (component.defaults.get(f"{moment}_{bits}") for bits in ("narrow", "wide"))
    if narrow is None:
        return "formula"
    chunk = component.defaults.get(f"{moment}_chunk")
    more = f", chunk {number(chunk)}" if chunk is not None and chunk.value else ""
    return f"{number(narrow)} / {number(wide)}{more}"


def table_of_whole():
    rows = [row("name", "tokens", *MOMENTS, "source"), row(*["---"] * (len(MOMENTS) + 3))]
    rows += [
        row(f"`{c.name}`", selector(c), *(coefficient(c, moment) for moment in MOMENTS), c.source) for c in whole()
    ]
    return "".join(rows) + "\n" + "".join(f"- *{name}*: {text}.\n" for name, text in MOMENTS.items()) + "\n"


def chunk_of(component):
    (term,) = (t for t in component.terms if t.name == "chunk_tokens")
    return term.formula.summary.rstrip(".")


def table_of_tiles():
    rows = [
        row("name", "tokens", "chunk", *TILE_MOMENTS, "gradients", "products", "source"),
        row(*["---"] * (len(TILE_MOMENTS) + 6)),
    ]
    for c in tiles():
        early = c.defaults["early"].value > 0
        cells = [number(c.defaults[name]) for name in ("forward_tile", "backward_tile", "inferred_tile_bytes")]
        when = "in forward" if early else "in backward"
        rows.append(
            row(f"`{c.name}`", selector(c), chunk_of(c), *cells, when, number(c.defaults["head_products"]), c.source)
        )
    return "".join(rows) + "\n" + "".join(f"- *{name}*: {text}.\n" for name, text in TILE_MOMENTS.items()) + "\n"


def page():
    formulas = "".join(row(f"`{c.name}`", c.source) for c in others())
    return HEAD + WHOLE + table_of_whole() + TILES + table_of_tiles() + FORMULAS + formulas


def test_the_page_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == page(), f"run: python {Path(__file__).name}"


def test_every_loss_path_is_on_the_page():
    text = page()
    assert all(f"| `{c.name}` |" in text for c in paths())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
