"""The catalogue of algorithms is written from the tables themselves.

``python tests/plugins/algorithms/test_algorithms_page.py`` writes ``docs/reference/algorithms.md`` anew.
"""

from pathlib import Path

from alignsim import default_registry

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "algorithms.md"
HEAD = """# Algorithms

Who does what in which phase. A role that is empty in a phase is idle there, and its memory stays where it is. Where
roles interleave within a phase, the order is said; else they follow one another. This page is written from the code;
[an algorithm](../guides/algorithm.md) says how to add one.

"""


def row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def table(algorithm):
    lines = [row("phase", *algorithm.roles), row(*["---"] * (len(algorithm.roles) + 1))]
    for phase in algorithm.phases:
        names = (algorithm.activity(phase, role).name for role in algorithm.roles)
        lines.append(row(phase, *("" if name == "idle" else name for name in names)))
    return "".join(lines)


def runs(events):
    """Return events with those of one role joined: ``policy: forward_layers, loss``."""
    parts: list[tuple[str, list[str]]] = []
    for event in events:
        role, _, moment = event.partition(".")
        if not parts or parts[-1][0] != role:
            parts.append((role, []))
        parts[-1][1].append(moment)
    return "; ".join(f"{role}: {', '.join(moments)}" for role, moments in parts)


def facts(algorithm):
    for phase, events in algorithm.order.items():
        yield f"order of {phase}: {runs(events)}"
    for role, model in algorithm.model_of.items():
        yield f"the {role} has the model of the {model}, unless it is given one"
    for group in algorithm.concurrent:
        yield f"at the same time: {', '.join(group)}"
    for name, number in algorithm.numbers.items():
        unit = f" {number.unit}" if number.unit else ""
        yield f"`{name}` = {number.value:g}{unit} ({number.source})"
    for term in algorithm.terms:
        yield f"`{term.name}` = {term.formula.equation} ({term.source})"
    yield f"source: {algorithm.source}"


def entry(algorithm):
    listed = "".join(f"- {fact}\n" for fact in facts(algorithm))
    return f"## {algorithm.name}\n\n{table(algorithm)}\n{listed}"


def page():
    return HEAD + "\n".join(entry(algorithm) for algorithm in default_registry().algorithms.values())


def test_the_page_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == page(), f"run: python {Path(__file__).name}"


def test_every_role_of_every_algorithm_is_on_the_page():
    text = page()
    for algorithm in default_registry().algorithms.values():
        section = text.partition(f"## {algorithm.name}\n")[2].partition("\n## ")[0]
        assert all(f" {role} |" in section for role in algorithm.roles)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
