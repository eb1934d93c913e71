"""What was run, as a file: it reads back to an equal run, and says what was taken for granted."""

import os

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alignsim import (
    Architecture,
    Batch,
    Given,
    InvalidInput,
    Layout,
    Place,
    Scenario,
    Scenarios,
    always,
    default_registry,
    term,
)
from alignsim.rundata import data_of
from alignsim.runfile import scenario_of
from alignsim.runs import read_run
from alignsim.runtext import TAKEN, save, text_of, yaml_of
from alignsim.yamlfile import tree_of

REGISTRY = default_registry()
CHOICES = st.fixed_dictionaries({s: st.sampled_from([*REGISTRY.fillings(s), "none"]) for s in REGISTRY.slots})
HUNT = os.environ.get("ALIGNSIM_HUNT")  # a number of random runs, other ones every time
COMPONENTS = {
    "engine": "single-device",
    "precision": "bf16",
    "optimizer": "adamw-fused",
    "adapter": "lora",
    "recompute": "full",
    "attention": "flash",
    "packing": "padded",
    "loss": "trl-fused",
    "layers": "transformers",
}
DPO = Scenario(
    name="mine: 1",
    algorithm="DPO",
    models={"policy": "Llama-3.1-8B"},
    accelerator={"gpus": "H100-SXM5-80GB"},
    components=COMPONENTS,
    batch=Batch(micro_batch=2, sequence_tokens=2048, prompt_tokens=512),
)
TOY = Architecture(name="toy: x", aliases=("a",), layers=2, hidden=8, heads=2, ffn=8, vocab=9, tied=True)


@term("byte", per={"role"}, resource="device", live=always, source="ours")
def of_our_own(parameters):
    """Something of ours."""
    return parameters


def back(run):
    """What the text of a run's data says."""
    return scenario_of(tree_of(yaml_of(data_of(run)), "x.yaml").content, run.registry)


def test_a_file_says_all_of_a_run(tmp_path):
    run = DPO.using(
        layouts={"reference": Layout(source="our cluster", sources={"data": "a file: 3 # lines"})},
        models={"policy": TOY},
        givens={"policy.lora_rank": 8, "policy.weight_bytes": Given(4, "byte", low=2, source='a "data sheet"\n#2')},
    )
    save(run, tmp_path / "saved.yaml")
    assert read_run(tmp_path / "saved.yaml", run.registry) == run


def test_amounts_keep_every_bit():
    amounts = {"x": "80 GiB", "y": Given(1e16 / 3, "byte / second", low=1.5, source="a data sheet"), "z": 0.1}
    run = DPO.using(places={"reference": Place(process="other")}, givens=amounts)
    assert data_of(run)["givens"]["x"] == "85899345920 byte"
    assert back(run) == run


@pytest.mark.parametrize("algorithm", ["PPO", "DPO", "PPO-Shared-Backbone"])
def test_the_reference_case_as_a_run(algorithm):
    run = Scenarios.Llama2_70B_PpoAlignment.as_run(algorithm=algorithm, accelerator="H100-SXM5-80GB")
    assert back(run) == run
    assert back(run).result.value(run.resource) == run.result.value(run.resource)


def test_models_of_a_catalogue_are_named_with_their_scalar_heads_too():
    models = {"policy": "Llama-2-7B", "critic": "Llama-2-7B", "reward": "Llama-2-7B"}
    assert data_of(Scenario(algorithm="PPO", models=models))["models"] == models


def test_it_says_what_was_taken_for_granted_and_from_where():
    lines = text_of(DPO).splitlines()
    fused = next(line for line in lines if line.startswith("  optimizer: "))
    assert fused.startswith("  optimizer: adamw-fused  # Kingma and Ba 2015")
    taken = lines[lines.index(TAKEN.strip()) :]
    rank = next(line for line in taken if line.startswith("#   policy.lora_rank: "))
    assert rank.endswith("# peft examples; r of LoraConfig")
    assert len(taken) == len(set(taken))
    moved = f"givens:\n  {rank.removeprefix('#   ')}\n"
    again = scenario_of(tree_of(text_of(DPO) + moved, "x.yaml").content)
    assert again.result.value(DPO.resource) == DPO.result.value(DPO.resource)


def test_what_a_file_cannot_say_is_refused():
    with pytest.raises(InvalidInput, match=r"terms: a file cannot hold terms of a run's own"):
        text_of(DPO.with_terms(of_our_own))
    told = Given(2, "byte", source="Acme", obtained="vendor")
    with pytest.raises(InvalidInput, match="givens: is something that no catalogue has, or has a history"):
        text_of(DPO.with_givens({"policy.weight_bytes": told}))


TEXTS = st.text(max_size=12) | st.sampled_from(
    ["true", "~", "1e5", ".inf", "Infinity", "- a", "a: b", "#", "\u2028", "\0"]
)
AMOUNTS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(["3 GiB", "-2.5 GB/s", "1 %"])


@settings(
    max_examples=int(HUNT or 40),
    deadline=None,
    derandomize=HUNT is None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(CHOICES, TEXTS, st.dictionaries(TEXTS, AMOUNTS, max_size=3))
def test_random_runs_read_back_to_equal_ones(choices, name, givens):
    try:
        run = attrs.evolve(DPO, name=name, components=choices, givens=givens)
    except InvalidInput:
        return
    assert back(run) == run


def test_from_flags_to_a_file_and_on(alignsim, tmp_path):
    first, second = str(tmp_path / "first.yaml"), str(tmp_path / "second.yaml")
    flags = [word for slot, name in COMPONENTS.items() for word in ("--component", f"{slot}={name}")]
    sizes = ("--micro-batch", "2", "--sequence-tokens", "2048", "--prompt-tokens", "512")
    asked = ("--algorithm", "DPO", "--policy", "Llama-3.1-8B", "--gpus", "1xH100-SXM5-80GB", *flags, *sizes)
    told = alignsim("run", *asked, "--json", "--save", first)
    read = alignsim("run", first, "--json")
    assert (told.status, told.err, told.json) == (read.status, read.err, read.json)
    assert alignsim("check", first, "--json").json == told.json
    changed = alignsim("run", first, "--micro-batch", "1", "--json", "--save", second)
    assert alignsim("check", second, "--json").json["peak"] == changed.json["peak"] != told.json["peak"]
    explained = alignsim("explain", first, "policy.lora_rank")
    assert "policy.lora_rank = " in explained.out


def test_nothing_is_written_over(alignsim, tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("mine", encoding="utf-8")
    done = alignsim("run", "--algorithm", "DPO", "--save", str(path))
    assert done.status == 2
    assert f"{path}: is there already, and stays as it is; name another file" in done.err
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--algorithm", "DPO", "--save", "run.json"), "a run is saved as YAML: expected a name that ends in .yaml"),
        (("--algorithm", "DPO", "--save", "no/such/folder/run.yaml"), "cannot be written: No such file"),
        (("--save", "run.yaml"), "is not a run of an algorithm, which is what a file can hold; add --algorithm"),
        (("none.yaml",), "none.yaml: cannot be read: No such file"),
    ],
)
def test_what_cannot_be_saved_or_read(alignsim, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    done = alignsim("run", *words)
    assert (done.status, list(tmp_path.iterdir())) == (2, [])
    assert told in done.err
