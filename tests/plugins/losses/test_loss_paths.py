"""Loss paths against bytes a token and word that were counted for real code, and against each other."""

import pytest

from alignsim import Architecture, Batch, Scenario, default_registry
from alignsim.errors import CompositionError

MODEL = Architecture(name="small", layers=4, hidden=256, heads=4, kv_heads=2, ffn=512, vocab=50_000)
COMMON = {
    "precision": "bf16",
    "optimizer": "adamw-fused",
    "adapter": "full",
    "recompute": "full",
    "attention": "sdpa",
    "engine": "single-device",
    "layers": "transformers",
    "packing": "equal",
    "rollout": "none",
}
ROWS, TOKENS, PROMPT = 4, 1000, 500


def run(algorithm, loss, samples=ROWS, **changes):
    components = {**COMMON, "loss": loss, **changes}
    return Scenario(
        algorithm=default_registry().algorithms[algorithm],
        models={"policy": MODEL},
        components=components,
        batch=Batch(micro_batch=samples, sequence_tokens=TOKENS, prompt_tokens=PROMPT),
    ).result


def a_word(result, name):
    """Return the bytes of a term for a token and a word of the vocabulary."""
    return result.value(name) / result.value("policy.tokens") / MODEL.vocab


DPO = {
    "naive": ((6, 2, 6, 6), (12, 4, 12, 12)),
    "naive-fp32": ((8, 4, 12, 8), (12, 4, 12, 12)),
    "trl-dpo": ((4.5, 2, 4, 3), (6, 4, 12, 6)),
    "trl-dpo-hidden-states": ((4.5, 2, 4, 3), (6, 4, 12, 6)),
}
"""At the loss, held, in backward, and of the reference; with 16-bit outputs, and with outputs in 32 bits."""


@pytest.mark.parametrize("outputs", [0, 1])
@pytest.mark.parametrize("loss", DPO)
def test_dpo(loss, outputs):
    result = run("DPO", loss, samples=ROWS // 2, precision=("bf16", "autocast-bf16")[outputs])
    names = ("logits_at_loss", "logits_held", "logits_in_backward")
    found = [a_word(result, f"update:policy.{name}") for name in names]
    found.append(a_word(result, "update:reference.inferred_logits_at_loss"))
    assert found == pytest.approx(DPO[loss][outputs], rel=2e-3)


@pytest.mark.parametrize(
    ("precision", "options", "counted"),
    [
        ("bf16", {}, (2 + 3 * 2 * 128 / 4000, 1, 2, 2)),
        ("bf16", {"entropy": 0}, (2, 1, 2, 2)),
        ("bf16", {"logits_to_keep": 0}, (3, 1, 4, 3)),
        ("autocast-bf16", {"entropy": 0}, (4, 2, 6, 4)),
        ("autocast-bf16", {"entropy": 0, "logits_to_keep": 0}, (6, 2, 8, 6)),
    ],
)
def test_grpo(precision, options, counted):
    result = run("GRPO", "trl-grpo", precision=precision)
    result = result.scenario.with_givens({f"policy.{name}": value for name, value in options.items()}).result
    names = ("logits_at_loss", "logits_held", "logits_in_backward")
    found = [a_word(result, f"update:policy.{name}") for name in names]
    found.append(a_word(result, "score:policy.inferred_logits_at_loss"))
    assert found == pytest.approx(counted, rel=3e-3)


def joint(algorithm="TRL-PPO", **changes):
    components = {**COMMON, "loss": "trl-ppo", "critic.loss": "trl-ppo-value", "reward.loss": "score", **changes}
    return Scenario(
        algorithm=default_registry().algorithms[algorithm],
        models={"policy": MODEL, "critic": MODEL.with_scalar_head()},
        components=components,
        batch=Batch(micro_batch=ROWS, sequence_tokens=TOKENS, prompt_tokens=PROMPT),
    ).result


@pytest.mark.parametrize(("precision", "counted"), [("bf16", (3, 8, 2, 2)), ("autocast-bf16", (6, 16, 4, 4))])
def test_ppo(precision, counted):
    result = joint(precision=precision)
    names = ("logits_at_loss", "logits_in_backward", "kept_logits", "logits_in_statistics")
    assert [a_word(result, f"update:policy.{name}") for name in names] == pytest.approx(counted)


def test_one_optimizer_steps_policy_and_value_model():
    result = joint(optimizer="adamw-foreach")
    both, policy = (result.value(f"update:{role}/optimizer_step.allocated") for role in ("critic", "policy"))
    assert both - policy == result.value("critic.step_memory") > 0
    terms = {path for binding in result.bindings("update:allocated") for path, _ in binding.terms}
    assert {"update:policy.joint_step", "update:policy.kept_logits", "update:policy.kept_hidden_states"} <= terms


def test_the_joint_loss_path_is_refused_elsewhere():
    with pytest.raises(CompositionError, match=r"algorithm PPO needs .* tokens; 'trl-ppo' is for"):
        joint("PPO")


def test_a_fused_head_never_has_whole_logits():
    fused, whole = (run("SFT", loss, adapter="full") for loss in ("trl-fused", "cross-entropy"))
    assert fused.value("policy.logits_tile") == 4 * 16384 * ROWS * (TOKENS - PROMPT)
    assert fused.value("update:policy/loss.allocated") < whole.value("update:policy/loss.allocated") / 2


def test_a_fused_head_counts_tokens_with_a_loss():
    unknown = run("SFT", "trl-fused").scenario.using(prompt_tokens=None).result
    assert unknown.value("policy.loss_tokens") == ROWS * (TOKENS - 1)
    assert run("DPO", "trl-fused").value("policy.loss_tokens") == 2 * ROWS * (TOKENS - PROMPT)


def test_hidden_states_are_returned_and_converted():
    one = 256 * 2 * ROWS * TOKENS
    result = run("DPO", "trl-dpo-hidden-states", samples=ROWS // 2, precision="autocast-bf16", recompute="none")
    assert result.value("policy.unsaved_hidden_states") == 4 * one
    assert result.value("policy.converted_hidden_states") == 2 * 5 * one
    assert result.value("update:reference.inferred_hidden_states_at_loss") == 3 * 5 * one


def test_a_scalar_head_has_no_logits():
    result = Scenario(
        algorithm=default_registry().algorithms["RM"],
        models={"reward": MODEL.with_scalar_head()},
        components={**COMMON, "loss": "score"},
        batch=Batch(micro_batch=2, sequence_tokens=TOKENS),
    ).result
    assert result.value("reward.tokens") == 2 * 2 * TOKENS
    assert result.value("reward.late_gradients") == 50_000 * 256
    assert not [path for path in result.values if "logits" in path]
