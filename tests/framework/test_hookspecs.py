"""Every hook is documented, and the example in its docstring is a plugin that works.

``python tests/framework/test_hookspecs.py`` writes ``docs/reference/hooks.md`` anew.
"""

import inspect
import re
from pathlib import Path

import pytest

from alignsim import Algorithm, Registry, hookspecs, load_file
from alignsim.contract import HOOKS, KINDS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "hooks.md"
SPECS = {name: getattr(hookspecs, name) for name in HOOKS}
NEEDS = {"alignsim_scenarios": ("alignsim_architectures", "alignsim_accelerators")}
FENCE = re.compile(r"```python\n(.*?)```", re.DOTALL)


def doc(documented):
    return inspect.getdoc(documented) or ""


def example(hook):
    found = FENCE.findall(doc(SPECS[hook]))
    assert len(found) == 1, f"the docstring of {hook} holds one example"
    return found[0]


def signature(hook):
    return f"{hook}{inspect.signature(SPECS[hook])}".replace("'", "")


def page():
    title, _, introduction = doc(hookspecs).partition("\n\n")
    parts = [f"# Hooks\n\n{title}\n\n{introduction}".replace("``", "`")]
    for hook, spec in SPECS.items():
        body = doc(spec).replace("```python\n", '```python title="acme.py"\n').replace("'''", '"""')
        body = re.sub(r"``(?!`)([^`\n]+)``", r"`\1`", body)
        parts.append(f"## {hook}\n\n`{signature(hook)}`\n\n{body}")
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("hook", SPECS)
def test_the_example_is_a_plugin(hook, tmp_path):
    plugins = []
    for needed in (*NEEDS.get(hook, ()), hook):
        file = tmp_path / f"{needed}.py"
        file.write_text(example(needed), encoding="utf-8")
        plugins.append(load_file(file))
    registry = Registry(plugins, strict=True)
    if hook == "alignsim_terms":
        offered = list(registry.terms(Algorithm(name="a", phases={"update": {"policy": "train"}})))
        assert not registry.terms(Algorithm(name="b", phases={"update": {"student": "train"}}))
    else:
        catalogue = getattr(registry, hook.removeprefix("alignsim_"))
        assert all(catalogue.origin(name).plugin == plugins[-1].__name__ for name in catalogue)
        offered = list(catalogue)
    assert len(offered) == 1


@pytest.mark.parametrize("hook", SPECS)
def test_every_hook_has_a_catalogue(hook):
    assert hook in KINDS
    assert hasattr(Registry, hook.removeprefix("alignsim_"))


def test_every_hook_is_documented_with_its_exact_signature():
    assert PAGE.read_text(encoding="utf-8") == page(), f"run: python {Path(__file__).name}"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
