"""The catalogue of terms is written from the terms themselves, and every built-in term says what it is and where from.

``python tests/plugins/test_terms_page.py`` writes ``docs/reference/terms.md`` anew.
"""

from pathlib import Path

import pytest

from alignsim import Const, Term, default_registry
from alignsim.term import DIMENSIONS, Collect, Of, Total

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "terms.md"
PACKAGE = "alignsim_plugins"
HEAD = """# Terms

Every formula that alignsim comes with. This page is written from the code: each equation is the one that is computed.
The names in an equation are other terms, constants (listed below it), or numbers that a model, a layout or a user
brings; [concepts](../concepts.md) says how they are looked up, and [nomenclature](../nomenclature.md) what they mean.

"""


def home(term):
    """Return the module of a built-in term, without the package; None for terms of other distributions."""
    package, _, module = term.formula.function.__module__.partition(".")
    return module if package == PACKAGE else None


def terms():
    """Yield every built-in term with the component or the algorithm that brings it."""
    registry = default_registry()
    for component in registry.components.values():
        for term in component.terms:
            yield term, f"component `{component.slot.name}:{component.name}`"
    for algorithm in registry.algorithms.values():
        for term in registry.terms(algorithm):
            yield term, "every algorithm"
        for term in algorithm.terms:
            yield term, f"algorithm `{algorithm.name}`"
    for resource in registry.resources.values():
        if resource.overhead:
            yield resource.overhead, f"resource `{resource.name}`"
    for scenario in registry.scenarios.values():
        for term in scenario.parts().terms:
            yield term, f"scenario `{scenario.name}`"


def catalogue():
    """Return the built-in terms by module and then by their place in it, each with who brings it first."""
    found: dict[str, tuple[Term, str]] = {}
    for term, brought in terms():
        if home(term):
            found.setdefault(term.provider, (term, brought))
    return sorted(found.values(), key=lambda entry: (home(entry[0]), entry[0].origin.line))


def constant(value):
    return value if isinstance(value, str) else f"{value:g}"


def parameter(name, marker):
    """Return what a reader must know of a parameter beside its name; nothing for a plain one."""
    if isinstance(marker, Const):
        bounds = f", from {constant(marker.low)} to {constant(marker.high)}" if marker.low is not None else ""
        return f"`{name}` = {constant(marker.value)} {marker.unit}{bounds} ({marker.source})".replace("  ", " ")
    if isinstance(marker, Of):
        return f"`{name}` is `{marker.path}`"
    if isinstance(marker, Collect):
        return f"`{name}` is the {marker.reduce} of group `{marker.group}`"
    if isinstance(marker, Total):
        return f"`{name}` is the total of resource `{marker.resource}`"
    return ""


def entry(term, brought):
    unit = f"`{term.unit}`" if term.unit else "a number"
    per = " and ".join(dimension for dimension in DIMENSIONS if dimension in term.per)
    facts = [f"{unit}, one for each {per}" if per else f"{unit}, one in all"]
    facts += [f"for roles that {' or '.join(sorted(term.during))}"] if term.during else []
    facts += [f"takes up `{term.resource}` {term.live.name}"] if term.resource else []
    facts += [f"in group `{group}`" for group in term.groups]
    where = [text for name, marker in term.formula.parameters.items() if (text := parameter(name, marker))]
    lines = [f"### {term.name}", "", term.formula.summary, "", f"    {term.name} = {term.formula.equation}", ""]
    lines += [f"- {'; '.join(facts)}"]
    lines += [f"- {text}" for text in where]
    lines += [f"- brought by {brought}", f"- source: {term.source}", ""]
    return "\n".join(lines).replace("``", "`")


def page():
    found = catalogue()
    parts = []
    for module in dict.fromkeys(home(term) for term, _ in found):
        parts.append(f"## {module}\n")
        parts += [entry(term, brought) for term, brought in found if home(term) == module]
    return HEAD + "\n".join(parts)


BUILT_IN = [term for term, _ in catalogue()]


def test_the_page_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == page(), f"run: python {Path(__file__).name}"


def test_no_term_of_the_package_is_left_out():
    from importlib import import_module

    from alignsim import scan

    modules = [import_module(name) for name in scan(PACKAGE).names()]
    defined = {value.provider for module in modules for value in vars(module).values() if isinstance(value, Term)}
    assert defined == {term.provider for term in BUILT_IN}


@pytest.mark.parametrize("term", BUILT_IN, ids=lambda term: term.name)
def test_every_term_has_a_summary_a_source_and_an_equation(term):
    assert term.formula.summary.endswith(".")
    assert term.source
    assert term.formula.expression is not None


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
