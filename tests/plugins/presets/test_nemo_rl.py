"""What a run under NeMo-RL's defaults gets, with its bytes a parameter by hand."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, InvalidInput, Layout, Scenario, default_registry

REGISTRY = default_registry()
LLAMA_3_1_8B, EMBEDDING, DEVICES = 8_030_261_248, 128_256 * 4096, 8


def run(algorithm: str, said: dict[str, str] | None = None, **more: Any) -> Scenario:
    table = REGISTRY.algorithms[algorithm]
    return Scenario(
        **{
            "algorithm": algorithm,
            "models": {role: "Llama-3.1-8B" for role in table.roles if role not in table.model_of},
            "preset": "nemo-rl",
            "components": said or {},
            "layout": Layout(data=DEVICES),
            "batch": Batch(prompt_tokens=128),
            "accelerator": "H100-SXM5-80GB",
            **more,
        }
    )


def chosen(asked: Scenario) -> dict[str, str]:
    return {place: component.name for place, component in asked.settled.components.items()}


def of_a_parameter(asked: Scenario, event: str, *terms: str) -> float:
    held = dict(asked.result.bindings(f"{event}.allocated")[0].terms)
    return float(sum(held.get(term, 0.0) for term in terms)) / LLAMA_3_1_8B


@pytest.mark.parametrize(
    ("algorithm", "sizes"), [("SFT", (1, 1024)), ("RM", (1, 8192)), ("DPO", (2, 1024)), ("GRPO", (4, 512))]
)
def test_sizes_are_those_of_its_examples(algorithm, sizes):
    batch = run(algorithm).settled.batch
    assert (batch.micro_batch, batch.sequence_tokens) == sizes


@pytest.mark.parametrize(
    ("algorithm", "expected"),
    [
        ("SFT", ("padded", "sdpa", "nemo-rl-7ea279a")),
        ("RM", ("padded", "sdpa", "score")),
        ("DPO", ("padded", "sdpa", "nemo-rl-7ea279a")),
        ("GRPO", ("packed", "flash", "nemo-rl-7ea279a")),
    ],
)
def test_only_sequences_of_reinforcement_learning_are_packed(algorithm, expected):
    slots = chosen(run(algorithm))
    assert (slots["packing"], slots["attention"], slots["loss"]) == expected


def test_padded_rows_need_no_mask():
    """The mask that attention is given is all ones, so that the causal kernel takes none."""
    assert run("SFT").result.value("policy.masks") == 0


def test_dtensor_steps_16_bytes_a_parameter_over_the_ranks():
    """4 of weights, 4 of gradients, 8 of moments; the step needs two more of the largest tensor alone."""
    step = run("SFT").result.value("update:policy/optimizer_step.allocated")
    assert step == pytest.approx((16 * LLAMA_3_1_8B + 2 * 4 * EMBEDDING) / DEVICES, rel=1e-4)


def test_megatron_holds_4_bytes_and_10_over_the_ranks():
    """16-bit weights and gradients on every rank; half of a copy (2) and moments (8) over the ranks."""
    result = run("SFT", {"engine": "megatron"}).result
    names = ("held_weights", "held_gradients", "held_master_weights", "held_optimizer_state")
    states = sum(result.value(f"policy[first].{name}") for name in names)
    assert states == pytest.approx((4 + 10 / DEVICES) * LLAMA_3_1_8B, rel=1e-3)


@pytest.mark.parametrize("engine", ["fsdp2", "fsdp2-tensor", "megatron"])
def test_a_reference_waits_on_the_host(engine):
    asked = run("GRPO", {"engine": engine})
    assert chosen(asked)["reference.engine"] == f"{engine}-swapped-weights"
    on_device = {path for path in asked.result.values if path.startswith("reference") and "held_weights" in path}
    assert not on_device


@pytest.mark.parametrize(
    ("engine", "weights", "rest"), [("fsdp2", 4 / DEVICES, 8 / DEVICES), ("megatron", 2, 2 + 10 / DEVICES)]
)
def test_only_what_works_is_on_the_device(engine, weights, rest):
    """Nothing of the policy while vLLM generates, weights alone to hand over and to score, all of it to train."""
    kind = "[first]" if engine == "megatron" else ""
    own = [f"policy{kind}.{name}" for name in ("held_weights", "loaded_weights")]
    others = [
        f"policy{kind}.{name}"
        for name in (
            *("held_optimizer_state", "loaded_optimizer_state", "held_gradients", "held_master_weights"),
            *("loaded_master_weights", "standing_gradients"),
        )
    ]
    asked = run("GRPO-No-KL", {"engine": engine})
    seen = {
        event: (of_a_parameter(asked, event, *own), of_a_parameter(asked, event, *others))
        for event in ("rollout:generator/decode", "sync:policy/sync", "score:policy/forward_layers")
    }
    nothing, alone = (0, 0), (pytest.approx(weights, rel=1e-3), 0)
    assert list(seen.values()) == [nothing, alone, alone]
    training = "update:policy/forward_layers"
    assert of_a_parameter(asked, training, *own, *others) == pytest.approx(weights + rest, rel=1e-3)


def test_vllm_has_six_tenths_of_the_device():
    result = run("GRPO").result
    taken = sum(result.value(f"generator.{name}") for name in ("kv_pool", "served_weights", "largest_forward"))
    assert taken == pytest.approx(0.6 * result.value("@gpus.usable_memory"))
    assert result.value("generator.sleep_level") == 1


def test_adapters_are_of_rank_8():
    assert run("SFT", {"adapter": "lora"}).result.value("lora_rank") == 8


def test_a_reference_ahead_of_the_step_is_not_on_top_of_the_policys_activations():
    on_top, ahead = (run(name).result for name in ("DPO", "DPO-Precompute-Reference"))
    assert on_top.binding.event == "update:reference/loss"
    assert ahead.binding.event == "update:policy/loss"
    assert ahead.peak < on_top.peak


@pytest.mark.parametrize(
    ("algorithm", "said", "told"),
    [
        ("PPO", {}, "runs no PPO"),
        ("GRPO", {"engine": "fsdp1"}, "'fsdp2' or 'fsdp2-tensor' or 'megatron'"),
        ("SFT", {"adapter": "qlora"}, "'full' or 'lora'"),
    ],
)
def test_what_it_does_not_run_is_told(algorithm, said, told):
    with pytest.raises(InvalidInput, match=told):
        _ = run(algorithm, said).result
