"""The JSON Schema of run files that is shipped for editors is written from the code, and says what the code takes.

``python tests/plugins/test_run_schema_page.py`` writes ``run.schema.json`` anew.
"""

import json
import re
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alignsim import Architecture, InvalidInput, Layout, default_registry, hookimpl, scan
from alignsim.batch import Batch
from alignsim.layout import Place
from alignsim.registry import Registry
from alignsim.runfile import FIELDS, STATED, scenario_of
from alignsim.views.schema import schema
from alignsim.yamlfile import read_tree

SHIPPED = Path(str(files("alignsim"))) / "run.schema.json"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "run-files.md"
BUILT_IN = Registry([scan("alignsim_plugins"), scan("alignsim_hardware")])
fastjsonschema = import_module("fastjsonschema")
VALID = fastjsonschema.compile(schema(BUILT_IN))


def text():
    return json.dumps(schema(BUILT_IN), indent=2) + "\n"


def refused(content):
    """Return what the schema says against some content, None where it takes it."""
    try:
        VALID(content)
    except fastjsonschema.JsonSchemaValueException as error:
        return str(error)
    return None


def test_the_shipped_schema_is_fresh():
    assert SHIPPED.read_text(encoding="utf-8") == text(), f"run: python {Path(__file__).name}"


def test_every_field_is_in_it_and_says_what_it_is():
    found = schema(BUILT_IN)
    assert list(found["properties"]) == [*FIELDS, *STATED]
    for kind in (Architecture, Batch, Layout, Place):
        described = found["definitions"][kind.__name__]["properties"]
        assert list(described) == [field.name for field in attrs.fields(kind) if field.name != "recorded"]
        assert all(field["description"] for field in described.values())
    assert all(field["description"] for field in found["properties"].values())


def test_names_of_other_plugins_are_in_what_the_command_prints():
    class Acme:
        @hookimpl
        def alignsim_architectures(self):
            yield Architecture(name="Acme-Toy", layers=2, hidden=64, heads=4, parameters=1000)

    models = schema(BUILT_IN.with_plugins(Acme()))["properties"]["models"]["additionalProperties"]["anyOf"]
    assert "Acme-Toy" in models[0]["anyOf"][0]["enum"]


@pytest.mark.parametrize("title", ["run.yaml"])
def test_the_runs_of_the_guide_keep_to_it(title, tmp_path):
    found = re.search(rf'```yaml title="{title}"\n(.*?)```', GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    (tmp_path / title).write_text(found[1], encoding="utf-8")
    assert refused(read_tree(tmp_path / title).content) is None
    assert "# yaml-language-server: $schema=run.schema.json" in found[1]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"modles": {}}, "modles"),
        ({"algorithm": 3}, "algorithm"),
        ({"layout": {"tensor": 0}}, "bigger than or equal to 1"),
        ({"layout": {"tensr": 1}}, "tensr"),
        ({"batch": {"micro_batch": "two"}}, "micro_batch"),
        ({"components": {"*": "all"}}, "components"),
        ({"components": {"engin": "single-device"}}, "engin"),
        ({"components": {"policy.engin": "single-device"}}, "policy.engin"),
        ({"models": {"policy": {"name": "toy", "layers": 2}}}, "policy"),
        ({"givens": {"policy.lora_rank": True}}, "lora_rank"),
    ],
)
def test_what_it_refuses(change, told):
    run = {"algorithm": "SFT", "models": {"policy": "Llama-3.1-8B"}}
    assert refused(run) is None
    assert told in str(refused(run | change))
    with pytest.raises(InvalidInput):
        scenario_of(run | change)


NUMBERS = st.one_of(st.integers(-1, 9), st.booleans(), st.none(), st.just("2"), st.floats(0, 3))
RUNS = st.fixed_dictionaries(
    {
        "algorithm": st.sampled_from(["SFT", "DPO", "dpo", 3]),
        "models": st.sampled_from(
            [
                {"policy": "Llama-3.1-8B"},
                {"policy": {"name": "toy", "layers": 2, "hidden": 64, "heads": 4, "ffn": 128, "vocab": 1000}},
                {"policy": {"name": "toy", "layers": 2.0, "hidden": 64, "heads": 4, "parameters": 10, "tied": True}},
            ]
        ),
    },
    optional={
        "name": st.text(max_size=3) | st.integers(),
        "accelerator": st.sampled_from(["H100-SXM5-80GB", {"gpus": "H100-SXM5-80GB"}, None]),
        "layout": st.dictionaries(st.sampled_from(["tensor", "data", "source"]), NUMBERS),
        "layouts": st.dictionaries(st.just("policy"), st.dictionaries(st.sampled_from(["tensor", "dat"]), NUMBERS)),
        "batch": st.dictionaries(st.sampled_from(["micro_batch", "accumulation_steps", "prompt_tokens"]), NUMBERS),
        "components": st.dictionaries(
            st.sampled_from(["*", "engine", "policy.engine", "precision"]),
            st.sampled_from(["none", "single-device", "bf16"]),
        ),
        "givens": st.dictionaries(st.sampled_from(["policy.weight_bytes", "x"]), NUMBERS | st.just("2 GiB")),
        "places": st.dictionaries(st.just("policy"), st.dictionaries(st.sampled_from(["pool"]), st.just("gpus"))),
        "resource": st.just("device"),
        "gpus": NUMBERS | st.dictionaries(st.just("gpus"), NUMBERS),
        "global_batch": NUMBERS,
    },
)


@settings(deadline=None)
@given(RUNS)
def test_whatever_is_taken_keeps_to_it(run):
    try:
        scenario_of(run, default_registry())
    except InvalidInput:
        return
    assert refused(run) is None


if __name__ == "__main__":
    SHIPPED.write_text(text(), encoding="utf-8")
