"""What the algorithms say about who is in memory when."""

import pytest

from alignsim import Architecture, Batch, Scenario, default_registry

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
BATCH = Batch(micro_batch=2, sequence_tokens=512, prompt_tokens=128)


def run(algorithm, loss, models=None, **changes):
    return Scenario(
        algorithm=default_registry().algorithms[algorithm],
        models=models or {"policy": MODEL},
        components={**COMMON, "loss": loss, **changes},
        batch=BATCH,
    ).result


def test_a_reference_runs_on_top_of_the_policy():
    result = run("DPO", "trl-dpo")
    on_top = result.value("update:reference/loss.allocated") - result.value("update:reference.inferred_logits_at_loss")
    assert on_top > result.value("policy.saved_activations") + result.value("update:policy.logits_held")


@pytest.mark.parametrize(
    ("with_it", "without", "loss"), [("DPO", "DPO-No-Ref", "trl-dpo"), ("GRPO", "GRPO-No-KL", "trl-grpo")]
)
def test_without_a_reference_its_weights_are_not_there(with_it, without, loss):
    saved = run(with_it, loss).value("allocated") - run(without, loss).value("allocated")
    assert saved >= 2 * run(without, loss).value("{small}.parameters")


def test_a_reference_may_be_the_policy_with_its_adapters_switched_off():
    own = run("DPO", "trl-dpo", adapter="lora")
    same = run("DPO", "trl-dpo", adapter="lora", **{"reference.engine": "same-weights"})
    weights = own.value("reference.weights")
    assert own.value("update:reference/loss.allocated") - same.value("update:reference/loss.allocated") == weights
    assert same.value("update:reference.inferred_logits_at_loss") > 0


def test_inputs_of_grpo_have_log_probabilities_of_whom_they_are_compared_with():
    share = (512 - 128) / 512
    assert run("GRPO", "trl-grpo").value("policy.input_bytes") == 16 + 20 * share
    assert run("GRPO-No-KL", "trl-grpo").value("policy.input_bytes") == 16 + 16 * share


MODELS = {"policy": MODEL, "critic": MODEL.with_scalar_head()}


def test_ppo_trains_the_critic_after_the_policy():
    result = run("PPO", "trl-grpo", MODELS, **{"critic.loss": "score", "reward.loss": "score"})
    events = [e.moment for e in result.graph.parts.schedule.events if e.phase == "update" and e.lap == "steady"]
    assert events == 2 * events[:9]
    assert result.value("update:critic/loss.allocated") < result.value("update:policy/loss.allocated")


def test_trl_trains_both_as_one():
    apart = run("PPO", "trl-grpo", MODELS, **{"critic.loss": "score", "reward.loss": "score"})
    as_one = run("TRL-PPO", "trl-ppo", MODELS, **{"critic.loss": "trl-ppo-value", "reward.loss": "score"})
    held = as_one.value("critic.saved_activations") + as_one.value("policy.saved_activations")
    assert as_one.value("update:policy/backward_loss.allocated") > held + apart.value("policy.weights") * 4
    assert as_one.value("update:allocated") > apart.value("update:allocated")


def test_gradients_wait_for_the_step_of_a_joint_optimizer():
    result = run("TRL-PPO", "trl-ppo", MODELS, **{"critic.loss": "trl-ppo-value", "reward.loss": "score"})
    terms = {b.event: dict(b.terms) for b in result.bindings("update:allocated")}
    last = terms["update:critic/backward_first_layer"]
    assert last["update:policy.gradients_before_the_step"] == result.value("policy.gradients")
