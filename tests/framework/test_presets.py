"""A preset's choices are in force where nothing else is said, and say where they are from."""

from __future__ import annotations

import pickle

import attrs
import pytest

from alignsim import (
    Batch,
    Choice,
    Const,
    InvalidInput,
    Layout,
    Preset,
    Scenario,
    UnknownName,
    default_registry,
    hookimpl,
)
from alignsim.errors import UnusedInput
from alignsim.preset import filling, overruled
from alignsim.rundata import data_of
from alignsim.runfile import scenario_of
from alignsim.runs import read_run
from alignsim.runtext import text_of

ACME = Preset(
    name="acme-2.1",
    framework="Acme",
    version="2.1",
    aliases=["acme"],
    algorithms=["SFT", "DPO", "PPO"],
    only={"engine": ["single-device", "fsdp2"]},
    choices=[
        Choice(
            components={"engine": "single-device", "layers": "transformers", "precision": "bf16", "adapter": "full"},
            batch={"micro_batch": 4, "sequence_tokens": 512},
            source="acme/config.py",
        ),
        Choice(
            components={"optimizer": "adamw-fused", "recompute": "full", "attention": "sdpa", "packing": "padded"},
            source="acme/train.py",
        ),
        Choice(components={"loss": "cross-entropy"}, algorithms="SFT", source="acme/sft.py"),
        Choice(components={"loss": "naive"}, algorithms="DPO", source="acme/dpo.py"),
        Choice(batch={"accumulation_steps": 4}, where={"optimizer": "*adam*-8bit"}, source="acme/small.py"),
        Choice(
            components={"reference.engine": "same-weights"},
            where={"adapter": ["lora", "qlora"], "engine": "single-device"},
            source="acme/dpo.py, make_reference",
        ),
        Choice(
            givens={"lora_rank": Const(8, low=4, high=16, source="-")}, where={"adapter": "lora"}, source="acme/lora.py"
        ),
    ],
    source="acme 2.1",
    asks=["loss: of PPO", "engine: another"],
    left_out="what Acme logs",
)


class Plugin:
    @staticmethod
    @hookimpl
    def alignsim_presets():
        yield ACME


REGISTRY = default_registry().with_plugins(Plugin)


def run(algorithm="SFT", **more):
    fields = {"models": {"policy": "Llama-3.2-1B"}, "preset": "acme", "registry": REGISTRY, **more}
    return Scenario(algorithm=algorithm, **fields)


@pytest.mark.parametrize(
    ("optimizer", "steps"), [("adamw-8bit", 4), ("paged-adamw-8bit", 4), ("lion-8bit", 1), ("adamw-fused", 1)]
)
def test_a_pattern_is_for_every_filling_that_goes_with_it(optimizer, steps):
    assert run(components={"optimizer": optimizer}).settled.batch.accumulation_steps == steps


def chosen(asked):
    return {place: component.name for place, component in asked.settled.components.items()}


def test_what_is_not_said_is_the_presets():
    asked = run()
    assert asked.preset is ACME
    assert chosen(asked)["loss"] == "cross-entropy"
    assert asked.batch.micro_batch is None
    assert asked.settled.batch.micro_batch == 4
    assert asked.settled.batch.numbers()["micro_batch"].source == "acme-2.1: acme/config.py"
    assert "what Acme logs" in asked.left_out
    plain = run(preset=None, components=chosen(asked), batch=Batch(micro_batch=4, sequence_tokens=512))
    assert asked.result.peak == plain.result.peak


def test_what_is_said_comes_first():
    asked = run(components={"recompute": "none"}, batch=Batch(micro_batch=1))
    assert chosen(asked)["recompute"] == "none"
    assert (asked.settled.batch.micro_batch, asked.settled.batch.sequence_tokens) == (1, 512)
    assert "recompute" not in asked.settled.defaults.components


def test_choices_follow_from_what_is_said():
    assert "reference.engine" not in chosen(run("DPO"))
    lora = run("DPO", components={"adapter": "lora"})
    assert chosen(lora)["reference.engine"] == "same-weights"
    assert chosen(run("DPO", components={"adapter": "lora", "engine": "fsdp2"})).get("reference.engine") is None
    own = run("DPO", components={"adapter": "lora", "reference.engine": "single-device"})
    assert chosen(own)["reference.engine"] == "single-device"


def test_numbers_keep_their_range_and_give_way():
    rank = run(components={"adapter": "lora"}).settled.givens["lora_rank"]
    assert (rank.low, rank.value, rank.high) == (4, 8, 16)
    assert (rank.source, rank.obtained) == ("acme-2.1: acme/lora.py", "default")
    said = run(components={"adapter": "lora"}, givens={"policy.lora_rank": 32, "lora_rank": 32})
    assert said.settled.givens["lora_rank"].value == 32


def test_a_number_for_all_gives_way_where_every_role_has_its_own():
    lora = run(components={"adapter": "lora"}).with_givens({"policy.lora_rank": 64})
    assert lora.result.value("policy.lora_rank") == 64
    with pytest.raises(UnusedInput, match="lora_rank"):
        _ = lora.with_givens({"lora_rank": 64}).result  # one's own that nothing reads is still told


def test_another_algorithm_is_chosen_for_anew():
    assert chosen(run().using(algorithm="DPO"))["loss"] == "naive"


def test_none_fills_what_nobody_chose():
    asked = run(components={"*": "none"})
    assert chosen(asked)["loss"] == "cross-entropy"
    assert chosen(asked)["rollout"] == "none"


def test_what_it_does_not_run_is_refused():
    with pytest.raises(InvalidInput, match=r"Scenario.preset: acme-2.1 runs no GRPO; known: DPO, PPO, SFT"):
        run("GRPO")
    with pytest.raises(InvalidInput, match=r"acme-2.1 has 'single-device' or 'fsdp2' there, got 'zero-3'"):
        run(components={"engine": "zero-3"})


def test_what_it_leaves_open_is_asked_for():
    with pytest.raises(
        InvalidInput, match=r"slot 'loss' is unfilled for 'policy'(.|\n)*acme-2.1 leaves to be said: loss: of PPO$"
    ):
        _ = run("PPO", models=dict.fromkeys(("policy", "critic", "reward"), "Llama-3.2-1B")).result


def test_sizes_that_do_not_go_together_name_the_preset():
    with pytest.raises(InvalidInput, match=r"600 exceeds sequence_tokens 512 \(.*sequence_tokens 512 is of acme-2.1"):
        _ = run(batch=Batch(prompt_tokens=600)).result


def test_a_near_name_of_an_algorithm_is_told():
    with pytest.raises(InvalidInput, match=r"acme-2.1 runs no IPO; did you mean PPO or DPO\?"):
        run("IPO")


def test_a_misspelt_component_of_a_preset_names_where_it_is():
    misspelt = attrs.evolve(
        ACME, name="misspelt", aliases=(), choices=[Choice(components={"optimizer": "adamw-fusd"}, source="acme.py")]
    )
    with pytest.raises(
        UnknownName, match=r"did you mean adamw-fused .*\n.*optimizer is of misspelt: acme.py"
    ) as caught:
        run(preset=misspelt)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_the_same_place_in_a_later_choice_and_all_roles_after_one():
    later = attrs.evolve(
        ACME,
        choices=[
            *ACME.choices,
            Choice(components={"reference.engine": "fsdp2"}, algorithms="DPO", source="one role"),
            Choice(components={"engine": "fsdp2"}, batch={"micro_batch": 2}, source="all roles"),
        ],
    )
    asked = run("DPO", preset=later)
    assert chosen(asked)["engine"] == "fsdp2"
    assert "reference.engine" not in chosen(asked), "a choice for all roles takes the place of those of single roles"
    assert asked.settled.defaults.batch["micro_batch"].source == "acme-2.1: all roles"


def test_unknown_presets_and_choices():
    with pytest.raises(UnknownName, match="did you mean acme"):
        run(preset="acmee")
    with pytest.raises(InvalidInput, match="Acme runs no 'GKD'"):
        Preset(
            name="Acme",
            framework="",
            version="",
            algorithms="SFT",
            source="",
            choices=[Choice(algorithms="GKD", source="")],
        )
    with pytest.raises(InvalidInput, match="did you mean micro_batch"):
        Choice(batch={"micro_bath": 1}, source="")


def test_a_file_says_it_and_reads_back(tmp_path):
    asked = run("DPO", components={"adapter": "lora"}, batch=Batch(micro_batch=1), layout=Layout(data=1))
    text = text_of(asked)
    assert "preset: acme-2.1  # acme 2.1\n" in text
    assert "#   loss: naive  # acme-2.1: acme/dpo.py\n" in text
    file = tmp_path / "run.yaml"
    file.write_text(text, encoding="utf-8")
    assert read_run(file, REGISTRY).result.peak == asked.result.peak
    assert scenario_of(data_of(asked), REGISTRY) == asked
    file.write_text(text.replace("algorithm: DPO", "algorithm: GRPO"), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"run.yaml:\d+:\d+: Scenario.preset: acme-2.1 runs no GRPO"):
        read_run(file, REGISTRY)
    file.write_text(text.replace("preset: acme-2.1", "preset: acne-2.1"), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"run.yaml:\d+:\d+: preset: no preset is named 'acne-2.1'"):
        read_run(file, REGISTRY)


def test_the_rules_of_places():
    assert filling("critic.loss", {"loss": "naive"}) == "naive"
    assert filling("critic.loss", {}) == "none"
    assert overruled("critic.loss", {"loss": "naive"})
    assert not overruled("loss", {"critic.loss": "score"})
    assert not overruled("reference.engine", {"engine": "zero-3"}, follows=["engine"])


def test_they_travel():
    asked = Scenario(algorithm="SFT", models={"policy": "Llama-3.2-1B"}, preset="trl")
    assert pickle.loads(pickle.dumps(asked)).result.peak == asked.result.peak
