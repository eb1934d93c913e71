"""ColossalChat's preset beside counts by hand."""

from __future__ import annotations

import pytest

from alignsim import Batch, InvalidInput, Layout, Scenario

PARAMETERS = 8_030_261_248


def run(algorithm, said=None, **batch):
    return Scenario(
        algorithm=algorithm,
        models={"policy": "Llama-3.1-8B"},
        preset="colossalchat",
        components={"attention": "flash", **(said or {"engine": "colossalai-zero-2"})},
        layout=Layout(data=8),
        batch=Batch(**batch),
        accelerator="H100-SXM5-80GB",
    )


def test_gemini_is_its_default_and_not_described_so_the_engine_has_to_be_told():
    with pytest.raises(InvalidInput, match=r"gemini, which is the default"):
        _ = run("DPO", {"adapter": "full"}).result


def test_a_reference_is_whole_on_every_device():
    result = run("DPO", micro_batch=1).result
    assert result.value("reference.held_weights") == 2 * PARAMETERS
    assert result.value("policy.held_weights") == 2 * PARAMETERS
    assert result.value("policy.held_optimizer_state") == pytest.approx(8 * PARAMETERS / 8, rel=1e-6)


@pytest.mark.parametrize(
    ("algorithm", "loss", "tokens"),
    [
        ("SFT", "colossalchat-sft", 512),
        ("DPO", "colossalchat-dpo", 2048),
        ("ORPO", "colossalchat-orpo", 2048),
        ("SimPO", "colossalchat-simpo", 2048),
        ("KTO", "colossalchat-kto", 2048),
    ],
)
def test_losses_and_sizes(algorithm, loss, tokens):
    asked = run(algorithm)
    assert asked.settled.components["loss"].name == loss
    assert (asked.settled.batch.micro_batch, asked.settled.batch.sequence_tokens) == (4, tokens)
