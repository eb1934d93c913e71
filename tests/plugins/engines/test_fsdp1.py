"""FullyShardedDataParallel: flat parameters, what is gathered when, and what a flat gradient costs."""

from __future__ import annotations

import pytest

from alignsim.testing.laws import assert_lawful

MIXED = {"precision": "bf16-gathered", "reduce_bytes": 4}


def test_one_rank_that_casts_nothing_is_one_device_with_flat_gradients(run):
    one, alone = run("fsdp1", data=1), run("single-device")
    for moment in (
        "forward_layers",
        "forward_head",
        "loss",
        "backward_loss",
        "backward_head",
        "backward_last_layer",
        "optimizer_step",
    ):
        assert one.at(moment) == alone.at(moment), moment
    assert one.held("root_gathered") == one.held("layer_gathered") == 0
    root = one.held("root_parameters")
    assert one.held("gradients_at_the_end") == one.held("gradients") + 2 * root


def test_one_rank_that_casts_keeps_no_cast_between_forward_and_backward(run):
    one = run("fsdp1", data=1, **MIXED)
    assert one.held("root_gathered") == 2 * one.held("root_parameters")
    assert one.held("gathered_before_backward") == one.held("kept_gathered") == 0
    assert run("fsdp1", data=1, reshard_after_forward=0, **MIXED).at("loss") == one.at("loss")


@pytest.mark.parametrize("data", [2, 8])
def test_the_end_of_backward_joins_the_roots_gradients_and_then_casts_them(run, data):
    """Root whole and its gradients twice; or one flat gradient in 16 bits, the same in 32, and this rank's share."""
    full = run("fsdp1", data=data, **MIXED)
    root, layers = full.held("root_parameters"), full.held("trainable_parameters") - full.held("root_parameters")
    assert full.held("gradients_at_the_end") == pytest.approx(4 * layers / data + max(6, 6 + 4 / data) * root)


def test_gradients_that_are_no_multiple_of_the_ranks_are_copied_to_pad_them(run):
    even, odd, padded = (
        run("fsdp1", data=data, use_orig_params=original, **MIXED) for data, original in ((8, 0), (5, 0), (5, 1))
    )
    root = even.held("root_parameters")
    assert root % 8 == 0
    assert root % 5 > 0
    assert odd.held("reducing_root") - padded.held("reducing_root") == pytest.approx(4 * root)
    assert even.held("reducing_root") == 6 * root + 4 * root / 8


def test_prefetching_gathers_two_layers_at_a_time(run):
    ahead, after, never = (
        run("fsdp1", data=8, backward_prefetch=pre, backward_prefetch_post=post, **MIXED)
        for pre, post in ((1, 0), (0, 1), (0, 0))
    )
    layer = ahead.held("layer_gathered")
    assert ahead.at("loss") == after.at("loss") == never.at("loss")
    assert ahead.at("backward_head") - after.at("backward_head") == layer
    assert ahead.at("backward_last_layer") - never.at("backward_last_layer") == pytest.approx(layer)
    assert never.at("backward_first_layer") <= after.at("backward_first_layer") <= ahead.at("backward_first_layer")


def test_gradients_added_up_whole_are_in_the_format_that_they_are_made_in(run):
    whole = run("fsdp1", data=8, steps=4, no_sync=1, **MIXED)
    assert whole.held("whole_gradients") == 2 * whole.held("trainable_parameters")
    assert run("fsdp1", data=8, steps=1, no_sync=1, **MIXED).held("whole_gradients") == 0


def test_flat_gradients_of_original_parameters_outlive_the_step(run):
    shared = {"algorithm": "GRPO", "loss": "trl-grpo", "rollout": "none"}
    views, flat = (run("fsdp1", data=8, use_orig_params=original, **shared, **MIXED) for original in (1, 0))
    score = "score:policy/forward_layers.allocated"
    assert views.result.value(score) - flat.result.value(score) == views.held("gradients") / 8
    assert views.at("loss") == flat.at("loss")


def test_a_root_is_left_whole_after_a_forward_unless_it_is_freed(run):
    kept, freed = (
        run("fsdp1", data=8, algorithm="DPO", loss="trl-dpo", reshards_root=flag, **MIXED) for flag in (0, 1)
    )
    assert kept.result.value("reference.left_gathered") == kept.held("root_gathered")
    assert freed.result.value("reference.left_gathered") == 0
    assert kept.at("loss", "reference") - freed.at("loss", "reference") == kept.held("root_gathered")
    assert kept.at("forward_head", "reference") == freed.at("forward_head", "reference")


@pytest.mark.parametrize("data", [1, 2, 7, 64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reshard_after_forward": 0},
        {"steps": 2, "no_sync": 1},
        {"steps": 3, "no_sync": 1, "use_orig_params": 1},
        {"algorithm": "DPO", "loss": "trl-dpo", "recompute": "none"},
        {"adapter": "lora", "backward_prefetch": 0, "backward_prefetch_post": 1},
    ],
)
def test_the_laws(run, data, options):
    assert_lawful(run("fsdp1", data=data, **MIXED, **options).scenario)
