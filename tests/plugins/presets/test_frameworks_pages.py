"""A page for every framework is written from its presets.

``python tests/plugins/presets/test_frameworks_pages.py`` writes ``docs/frameworks`` anew.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from alignsim import Preset, scan
from alignsim.views.presets import choices_table
from alignsim.views.table import Table

FOLDER = Path(__file__).parents[3] / "docs" / "frameworks"
HEAD = """# Frameworks

What each framework does by default, by version, and where that was read. These pages are written from the code.

`alignsim run --preset trl --algorithm DPO --policy Llama-3.1-8B -c engine=zero-3 --gpus 8xH100-SXM5-80GB` takes from a
preset whatever is not said, and names it in the answer; in a run file it is `preset: trl-1.16`. What you say yourself
comes first: a component for one role, or for all, a size of the batch, a number.
[A preset of your own](../guides/preset.md) is a file of choices.

"""


def presets():
    """Return the built-in presets by framework, each with the module that offers it."""
    found: dict[str, list[tuple[Preset, ModuleType]]] = {}
    for name in scan("alignsim_plugins").names():
        module = import_module(name)
        for preset in getattr(module, "alignsim_presets", tuple)():
            found.setdefault(preset.framework, []).append((preset, module))
    return {framework: found[framework] for framework in sorted(found, key=str.casefold)}


def file_of(framework):
    return FOLDER / f"{re.sub('[^a-z0-9]+', '-', framework.casefold())}.md"


def listed(title, lines):
    return [f"{title}\n\n" + "\n".join(f"- {line}." for line in lines)] if lines else []


def section(preset, module):
    about = inspect.getdoc(module) or ""
    also = ", ".join(f"`{alias}`" for alias in preset.aliases)
    yield f"## {preset.name}\n\n{about}"
    told = f"Version: {preset.version}." + (f" Also called {also}." if also else "")
    yield f"{told} Read in: {preset.source}. Algorithms: {', '.join(preset.algorithms)}."
    yield from listed("It knows of these alone:", [f"{s}: {' or '.join(n)}" for s, n in preset.only.items()])
    yield choices_table(preset).markdown().partition("\n\n")[2]
    yield from listed("To be said:", preset.asks)
    yield from listed("Not counted:", preset.left_out)


def page(framework, found):
    parts = [part for preset, module in found for part in section(preset, module)]
    return "\n\n".join([f"# {framework}", *parts]).replace("``", "`") + "\n"


def index():
    rows = (
        (f"[{framework}]({file_of(framework).name})", f"`{preset.name}`", preset.version, ", ".join(preset.algorithms))
        for framework, found in presets().items()
        for preset, _ in found
    )
    return HEAD + Table.of("", ["framework", "preset", "version", "algorithms"], rows).markdown() + "\n"


@pytest.mark.parametrize("framework", presets())
def test_the_page_is_fresh(framework):
    told = f"run: python {Path(__file__).name}"
    assert file_of(framework).read_text(encoding="utf-8") == page(framework, presets()[framework]), told


def test_the_index_is_fresh_and_nothing_is_left_over():
    assert (FOLDER / "index.md").read_text(encoding="utf-8") == index()
    assert {file.name for file in FOLDER.iterdir()} == {"index.md", *(file_of(name).name for name in presets())}


if __name__ == "__main__":
    (FOLDER / "index.md").write_text(index(), encoding="utf-8")
    for name, found in presets().items():
        file_of(name).write_text(page(name, found), encoding="utf-8")
