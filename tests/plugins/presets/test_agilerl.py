"""What a run under AgileRL's defaults gets, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, InvalidInput, Place, Scenario

QWEN_2_5_7B, HIDDEN, FFN, KEYS, LAYERS, RANK = 7_615_616_512, 3584, 18944, 512, 28, 16
ADAPTERS = 4 * RANK * LAYERS * (2 * 2 * HIDDEN + 2 * (HIDDEN + KEYS) + 3 * (HIDDEN + FFN))
"""Bytes of a and b of seven projections, in 32 bits."""


def run(said: dict[str, str] | None = None, **more: Any) -> Scenario:
    return Scenario(
        **{
            "algorithm": "GRPO",
            "models": {"policy": "Qwen2.5-7B"},
            "preset": "agilerl",
            "components": said or {},
            "batch": Batch(micro_batch=1, prompt_tokens=256),
            "accelerator": "H100-SXM5-80GB",
            **more,
        }
    )


def test_adapters_over_16_bit_weights_with_as_many_for_the_reference():
    result = run().result
    assert result.value("policy.held_weights") == 2 * QWEN_2_5_7B + ADAPTERS
    assert result.value("reference.held_own_adapters") == ADAPTERS


def test_sizes_are_those_of_its_constructor():
    batch = run().settled.batch
    assert (batch.sequence_tokens, batch.rollout_tokens, batch.rollout_sequences) == (1024, 1024, 8)


@pytest.mark.parametrize("engine", ["single-device", "ddp"])
def test_the_reference_follows_from_the_engine(engine):
    assert run({"engine": engine}).settled.components["reference.engine"].name == "same-weights-own-adapters"


def test_vllm_lives_in_the_trainers_process_and_the_trainer_goes_to_the_host_meanwhile():
    asked = run({"rollout": "vllm-offloading"}, places={"generator": Place("trainer")})
    assert asked.settled.components["weight_sync"].name == "one-by-one"
    held = dict(asked.result.bindings("rollout:generator/decode.allocated")[0].terms)
    assert not [term for term in held if term.startswith("policy.held")]


def test_weights_in_four_bits_are_computed_with_under_autocast():
    assert run({"adapter": "qlora"}).settled.components["precision"].name == "autocast-fp32"


def test_full_fine_tuning_is_refused():
    with pytest.raises(InvalidInput, match="'lora' or 'qlora' there, got 'full'"):
        _ = run({"adapter": "full"}).result
