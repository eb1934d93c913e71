"""The page of components is written from slots and components themselves.

``python tests/plugins/test_components_page.py`` writes ``docs/reference/components.md`` anew.
"""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from alignsim import Slot, default_registry, scan
from alignsim.views.table import Table

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "components.md"
PACKAGE = "alignsim_plugins"
HEAD = """# Components

Every slot with what its components promise, and every component that alignsim comes with. This page is written from the
code.

A run chooses one component for each slot, by `components={"loss": "cross-entropy"}` or on the command line
`--component loss=cross-entropy`, and for one role by `"critic.loss"`. `none` fills a slot with nothing: 0 for all that
it promises. The numbers are defaults, which a given of the same name overrides: `with_givens({"policy.lora_rank": 64})`
or `--set policy.lora_rank=64`. `alignsim components SLOT:NAME` shows a component with its formulas; all of them are in
the [catalogue of terms](terms.md).

"""
ELSEWHERE = {"loss": "Their numbers are on the page of [loss paths](losses.md)."}


def built_in():
    """Return the modules of the built-in plugins."""
    return [import_module(name) for name in scan(PACKAGE).names()]


def components():
    """Return the built-in components of every slot, each with the module that offers it."""
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    for module in built_in():
        for component in getattr(module, "alignsim_components", tuple)():
            found.setdefault(component.slot.name, {})[component.name] = component, module
    return {slot: dict(sorted(found[slot].items())) for slot in sorted(found)}


def slots():
    """Return the built-in slots by name, each with its module."""
    return {
        value.name: (value, module)
        for module in built_in()
        for value in vars(module).values()
        if isinstance(value, Slot) and module.__name__.endswith(".slot")
    }


def meanings(slot, module):
    """Return what a slot's module says of every name that is promised, one bullet for one or several names."""
    body = ast.parse(inspect.getsource(module)).body
    texts = [e.value.value for e in body if isinstance(e, ast.Expr) and isinstance(e.value, ast.Constant)]
    bullets = [" ".join(e.split()).rstrip(";.") for e in re.split(r"^- ", str(texts[-1]), flags=re.MULTILINE)[1:]]
    found = {}
    for name in slot.promises:
        ahead = [each for each in bullets if f"``{name}``" in each.partition(": ")[0]]
        beside = [each for each in bullets if f"``{name}``" in each]
        for bullet in (ahead or beside)[:1]:
            head, colon, rest = bullet.partition(": ")
            found[name] = rest if colon else head
    return found


def value(constant):
    text = constant.value if isinstance(constant.value, str) else f"{constant.value:g}"
    return f"{text} {constant.unit}".rstrip()


def promises(slot, module):
    told = meanings(slot, module)
    rows = ((f"`{name}`", unit, told[name]) for name, unit in slot.promises.items())
    return Table.of("", ["promise", "unit", "what it is"], rows)


def fillings(found):
    rows = []
    for name, (component, module) in found.items():
        summary = str(inspect.getdoc(module)).partition("\n\n")[0].replace("\n", " ")
        rows.append((f"`{name}`", summary, component.source))
    return Table.of("", ["component", "what it is", "source"], rows)


def numbers(slot, found):
    """Return the defaults that say something: a promised 0 means that there is nothing of the kind."""
    shared: dict[tuple[str, str, str], list[str]] = {}
    for name, (component, _) in found.items():
        for number, constant in component.defaults.items():
            if number not in slot.promises or constant.value != 0:
                shared.setdefault((number, value(constant), constant.source), []).append(f"`{name}`")
    rows = ((f"`{number}`", amount, ", ".join(of), source) for (number, amount, source), of in shared.items())
    return Table.of("", ["number", ">default", "of", "source"], rows)


def _for(found, kind):
    return ", ".join(f"`{name}`" for name, (component, _) in found.items() if kind in component.kinds)


def section(known, found):
    slot, module = known
    needed = f"Needed by roles that {' or '.join(sorted(slot.required_for))}."
    lost = ", ".join(f"`{each}`" for each in sorted(slot.counts))
    needed += f" {lost} must be read, collected or held by something." if lost else ""
    about = f"{slot.about[:1].upper()}{slot.about[1:]}."
    parts = [f"## {slot.name}", f"{about} {needed}", promises(slot, module).markdown(), fillings(found).markdown()]
    if slot.kinds:
        kinds = ((f"`{kind}`", about, _for(found, kind)) for kind, about in slot.kinds.items())
        parts.append(Table.of("", ["kind", "what it is", "fillings"], kinds).markdown())
    if slot.name in ELSEWHERE:
        parts.append(ELSEWHERE[slot.name])
    elif numbers(slot, found).rows:
        parts.append(numbers(slot, found).markdown())
    left = [f"- `{each}` leaves out {line}" for each, (c, _) in found.items() for line in c.left_out]
    return [*parts, *(["\n".join(left)] if left else [])]


def page():
    known = slots()
    parts = [part for name, found in components().items() for part in section(known[name], found)]
    return (HEAD + "\n\n".join(parts)).replace("``", "`") + "\n"


def test_the_page_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == page(), f"run: python {Path(__file__).name}"


def test_every_component_is_on_it():
    listed = {f"{slot}:{name}" for slot, found in components().items() for name in found}
    assert listed == {key for key, each in default_registry().components.items() if each.slot.name in slots()}


@pytest.mark.parametrize(("slot", "module"), slots().values(), ids=slots())
def test_every_promise_says_what_it_means(slot, module):
    assert slot.about
    assert set(meanings(slot, module)) == set(slot.promises)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
