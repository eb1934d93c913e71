"""What is recomputed: hand counts, and forms that must meet at their ends."""

from __future__ import annotations

import pytest

from alignsim.errors import CompositionError
from small_runs import held, small_run

MOMENTS = (
    "forward_layers",
    "forward_head",
    "loss",
    "backward_loss",
    "backward_head",
    "backward_last_layer",
    "backward_first_layer",
    "backward_end",
)
VARIED = [
    {},
    {"precision": "autocast-fp32"},
    {"precision": "fp32"},
    {"adapter": "lora"},
    {"adapter": "lora", "precision": "autocast-fp32", "lora_dropout": 0.1},
    {"attention": "eager"},
    {"packing": "padded"},
]


def profile(**choices):
    run = small_run(**choices)
    return [held(run, moment) for moment in MOMENTS]


@pytest.mark.parametrize("choices", VARIED)
def test_groups_of_one_layer_are_full_recomputation(choices):
    assert profile(recompute="groups", layers_per_group=1, **choices) == profile(recompute="full", **choices)


@pytest.mark.parametrize("choices", VARIED)
def test_some_layers_between_none_and_all(choices):
    assert profile(recompute="some-layers", recomputed_layers=0, **choices) == profile(recompute="none", **choices)
    assert profile(recompute="some-layers", recomputed_layers=3, **choices) == profile(recompute="full", **choices)
    loss = [held(small_run(recompute="some-layers", recomputed_layers=n, **choices), "loss") for n in range(4)]
    assert loss == sorted(loss, reverse=True)


def test_checkpoints_of_groups_by_hand():
    value = small_run(recompute="groups", layers_per_group=2).result.value
    assert value("policy.saved_activations") == 2 * 2 * 128 * 64
    whole = small_run(recompute="groups", layers_per_group=3)
    assert held(whole, "backward_last_layer") > held(small_run(recompute="full"), "backward_last_layer")


def test_core_attention_keeps_what_a_fused_kernel_keeps():
    eager = small_run(attention="eager", recompute="core-attention").result.value("policy.layer_saved")
    scores = small_run(attention="eager").result.value("policy.layer_saved")
    assert scores - eager == 2 * (2 * 128 - 2 * 64) + 4 * 64 * (4 + 2)
    fused = small_run(recompute="core-attention").result.value("policy.layer_saved")
    assert small_run().result.value("policy.layer_saved") - fused == 4 * 4


def test_scores_come_back_in_backward():
    run = small_run(attention="eager", recompute="core-attention", tokens=2048)
    kept = small_run(attention="eager", tokens=2048)
    assert held(run, "loss") < held(kept, "loss")
    assert run.result.value("policy.layer_backward") >= kept.result.value("policy.scores_backward") * 2048


def test_offloaded_checkpoints_are_on_the_host():
    run = small_run(recompute="offloaded", layers_on_their_way=1)
    full = small_run(recompute="full")
    checkpoint = 2 * 128 * 64
    assert run.using(resource="host").result.value("host") == 3 * checkpoint
    assert held(full, "loss") - held(run, "loss") == 2 * checkpoint


@pytest.mark.parametrize(
    ("recompute", "name", "most"), [("some-layers", "recomputed_layers", 3), ("groups", "layers_per_group", 3)]
)
def test_no_more_layers_than_there_are(recompute, name, most):
    assert small_run(recompute=recompute, **{name: most}).result.value("allocated") > 0
    with pytest.raises(CompositionError, match=rf"{name}: must be at most .*layers, which is 3"):
        _ = small_run(recompute=recompute, **{name: most + 1}).graph
