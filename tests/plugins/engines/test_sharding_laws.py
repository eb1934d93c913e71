"""Laws of engines that divide states: nothing is lost, nothing grows with the number of ranks, one rank has it all."""

from __future__ import annotations

from itertools import pairwise

import pytest

from alignsim import Layout
from alignsim.errors import CompositionError
from alignsim.testing.laws import assert_lawful

STATE = (
    "held_weights",
    "held_optimizer_state",
    "held_master_weights",
    "gradients_at_the_step",
    "optimizer_temporaries",
)
DEGREES = (1, 2, 3, 8, 64)
SHARDED = ("fsdp1", "fsdp2")


@pytest.mark.parametrize("engine", SHARDED)
@pytest.mark.parametrize("precision", ["bf16", "bf16-master", "bf16-gathered"])
@pytest.mark.parametrize("data", DEGREES)
def test_all_ranks_together_hold_at_least_the_whole(run, engine, data, precision):
    sharded = run(engine, data=data, precision=precision)
    for name in ("held_weights", "held_optimizer_state", "held_master_weights", "gradients_at_the_step"):
        whole = {
            "held_weights": "weights",
            "held_optimizer_state": "optimizer_state",
            "held_master_weights": "master_weights",
        }.get(name)
        expected = sharded.held(whole) if whole else sharded.held("trainable_parameters") * sharded.held("moment_bytes")
        assert data * sharded.held(name) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("engine", SHARDED)
@pytest.mark.parametrize("options", [{}, {"reshard_after_forward": 0}, {"steps": 2}, {"steps": 3, "no_sync": 1}])
def test_no_instant_grows_with_the_ranks(run, engine, options):
    """From two ranks on: with one, there is nothing to gather; but for a copy that pads gradients to the ranks."""
    padding = {"use_orig_params": 1} if engine == "fsdp1" else {}
    runs = [run(engine, data=data, **padding, **options) for data in DEGREES[1:]]
    for fewer, more in pairwise(runs):
        for moment in fewer.moments:
            assert more.at(moment) <= fewer.at(moment)
        assert all(more.held(name) <= fewer.held(name) for name in STATE)


def test_one_rank_holds_the_states_of_one_device_and_gathers_beside_them(run):
    one, alone = run("fsdp2", data=1), run("single-device")
    assert [one.held(name) for name in STATE] == [alone.held(name) for name in STATE]
    assert one.at("optimizer_step") == alone.at("optimizer_step")
    root, layer = one.held("root_gathered"), one.held("layer_gathered")
    assert one.held("gather_output") == 0
    for moment in ("forward_head", "loss", "backward_loss", "backward_head"):
        assert one.at(moment) - alone.at(moment) == root, moment
    assert one.at("forward_layers") - alone.at("forward_layers") == root + layer


@pytest.mark.parametrize("recompute", ["full", "none"])
def test_without_resharding_all_layers_stay(run, recompute):
    often, once = (run("fsdp2", data=8, recompute=recompute, reshard_after_forward=flag) for flag in (1, 0))
    assert once.at("loss") - often.at("loss") == once.held("kept_gathered") == 24 * once.held("layer_gathered")
    assert once.at("backward_end") == often.at("backward_end")
    assert once.at("optimizer_step") == often.at("optimizer_step")


def test_a_root_that_is_told_to_is_sharded_again_between_forward_and_backward(run):
    stays, goes = (run("fsdp2", data=8, algorithm="DPO", loss="trl-dpo", reshards_root=flag) for flag in (0, 1))
    root = stays.held("root_gathered")
    assert stays.held("gathered_before_backward") - goes.held("gathered_before_backward") == root
    assert goes.result.value("reference.left_gathered") == 0
    assert stays.at("loss", "reference") - goes.at("loss", "reference") == 2 * root  # the policy's, and its own
    assert stays.at("backward_end") - goes.at("backward_end") == root  # the reference's
    assert goes.held("gathered_at_head") == stays.held("gathered_at_head")


def test_an_embedding_of_its_own_is_not_in_the_root_unless_it_is_tied(run):
    apart, within = (run("fsdp2", data=8, model="Qwen2.5-7B", reduce_bytes=4, wraps_embedding=flag) for flag in (1, 0))
    embedding = apart.held("wrapped_embedding")
    assert within.held("root_parameters") - apart.held("root_parameters") == embedding == 152064 * 3584
    assert within.at("forward_head") - apart.at("forward_head") == 2 * embedding
    assert within.at("loss") - apart.at("loss") == 2 * embedding
    assert apart.at("backward_end") < within.at("backward_end")
    assert run("fsdp2", data=8, wraps_embedding=1).result.peak == run("fsdp2", data=8).result.peak


@pytest.mark.parametrize("options", [{}, {"reshard_after_forward": 0}, {"steps": 3, "no_sync": 1}, {"adapter": "lora"}])
def test_the_laws_hold_for_an_embedding_of_its_own(run, options):
    assert_lawful(run("fsdp2", data=8, model="Llama-2-7B", wraps_embedding=1, reshards_root=1, **options).scenario)


def test_a_head_of_its_own_stays_from_its_forward_to_its_backward(run):
    apart, within = (run("fsdp2", data=8, model="Qwen2.5-7B", reduce_bytes=4, wraps_head=flag) for flag in (1, 0))
    head = apart.held("wrapped_head")
    assert head == 152064 * 3584 + 3584
    assert apart.held("root_gathered") + apart.held("head_gathered") == within.held("root_gathered")
    for moment in ("forward_head", "loss"):  # its buffer in the place of a layer's
        assert apart.at(moment) - within.at(moment) == 2 * head - within.held("gather_output"), moment
    assert within.at("backward_loss") - apart.at("backward_loss") == within.held("gather_output")
    assert within.at("backward_first_layer") - apart.at("backward_first_layer") == pytest.approx(
        2 * head + within.held("head_gradient") - apart.held("done_head"), rel=1e-9
    )
    assert apart.at("optimizer_step") == within.at("optimizer_step")
    assert run("fsdp2", data=8, wraps_head=1).result.peak == run("fsdp2", data=8).result.peak  # tied


def test_gathering_the_next_layer_ahead_is_a_buffer_more_while_one_computes(run):
    ahead, plain = (run("fsdp2", data=8, algorithm="DPO", loss="trl-dpo", gathers_next=flag) for flag in (1, 0))
    assert ahead.held("gathered_at_work") > plain.held("gathered_at_work")
    assert all(ahead.at(moment) >= plain.at(moment) for moment in ahead.moments)
    assert ahead.at("backward_last_layer") == plain.at("backward_last_layer")


@pytest.mark.parametrize(
    "options", [{}, {"reshard_after_forward": 0}, {"steps": 3, "no_sync": 1}, {"adapter": "lora"}, {"replicas": 2}]
)
def test_the_laws_hold_for_units_of_frameworks(run, options):
    units = {"wraps_embedding": 1, "wraps_head": 1, "gathers_next": 1}
    assert_lawful(run("fsdp2", data=8, model="Llama-2-7B", **units, **options).scenario)


def test_replicas_make_shards_larger(run):
    assert run("fsdp2", data=8, replicas=2).held("held_weights") == run("fsdp2", data=4).held("held_weights")
    assert run("fsdp2", data=8, replicas=8).held("weight_shards") == 1


def test_replicas_keep_what_they_added_up_unless_it_is_the_gradient_itself(run):
    same, wide = (run("fsdp2", data=8, replicas=2, reduce_bytes=size) for size in (0, 4))
    assert (same.held("reduced_layer"), run("fsdp2", data=8, reduce_bytes=4).held("reduced_layer")) == (0, 0)
    assert wide.held("reduced_layer") == 2 * wide.held("layer_gradient_shard")
    assert same.at("backward_end") == run("fsdp2", data=4).at("backward_end")
    assert wide.at("backward_end") - run("fsdp2", data=4, reduce_bytes=4).at("backward_end") == pytest.approx(
        4 * wide.held("trainable_parameters") / 4
    )


def test_gradients_added_up_whole_are_not_divided(run):
    one, synced, whole = (
        run("fsdp2", data=8, precision="bf16-gathered", reduce_bytes=4, steps=steps, no_sync=no_sync)
        for steps, no_sync in ((1, 1), (4, 0), (4, 1))
    )
    assert one.held("accumulated_gradients") == 0
    assert synced.held("accumulated_gradients") == synced.held("gradients") / 8
    assert whole.held("accumulated_gradients") == 4 * whole.held("trainable_parameters")
    assert whole.at("loss") - synced.at("loss") == whole.held("gradients") * 7 / 8
    assert all(whole.at(moment) >= synced.at(moment) >= one.at(moment) for moment in one.moments)
    assert whole.at("optimizer_step") == synced.at("optimizer_step")


def test_whole_gradients_have_the_format_they_were_made_in_unless_one_is_given(run):
    plain, wide = (run("fsdp2", data=8, steps=2, no_sync=1, reduce_bytes=size) for size in (0, 4))
    assert plain.held("accumulated_gradients") == 2 * plain.held("trainable_parameters")
    assert wide.held("accumulated_gradients") == 4 * plain.held("trainable_parameters")


def test_a_wider_reduction_takes_more(run):
    narrow, wide = (run("fsdp2", data=8, reduce_bytes=size) for size in (0, 4))
    assert wide.at("backward_end") - narrow.at("backward_end") == 2 * narrow.held("root_parameters")


def test_a_reference_stays_gathered_with_its_root(run):
    both = run("fsdp2", data=8, algorithm="DPO", loss="trl-dpo")
    left = both.result.value("reference.left_gathered")
    assert left == both.held("root_gathered") > 0
    held = dict(both.result.bindings("update:allocated")[0].terms)
    assert held["reference.left_gathered"] == left
    for moment in both.moments:
        event = next(b for b in both.result.bindings("update:allocated") if b.event == f"update:policy/{moment}")
        assert dict(event.terms)["reference.left_gathered"] == left


def test_a_model_that_is_trained_later_keeps_its_root_until_then(run):
    scored = run("fsdp2", data=8, algorithm="GRPO", loss="trl-grpo", rollout="none")
    assert scored.result.value("score:policy.left_until_backward") == scored.held("root_gathered")
    assert scored.result.value("policy.left_gathered") == 0


def test_adapters_reduce_only_their_own(run):
    adapted = run("fsdp2", data=8, adapter="lora")
    assert adapted.held("trained_of_root") == 0
    assert (
        adapted.held("reducing_layer") * 24 == adapted.held("gradient_bytes") * adapted.held("trainable_parameters") / 2
    )


@pytest.mark.parametrize("engine", SHARDED)
def test_a_reference_on_the_same_weights_gathers_layers_and_holds_nothing(run, engine):
    apart = run(engine, data=8, algorithm="DPO", loss="trl-dpo", adapter="lora")
    shared = apart.scenario.using(
        components={**apart.scenario.components, "reference.engine": f"{engine}-same-weights"}
    )
    values = shared.result.values
    assert not [path for path in values if path.startswith("reference.held_")]
    assert values["update:reference.gathered_in_inference"] > 0
    spared = apart.result.value("reference.held_weights") + apart.result.value("reference.left_gathered")
    for moment in ("loss", "backward_loss", "optimizer_step"):  # its shards, and the root that it would leave
        whole, less = (found.value(f"update:policy/{moment}.allocated") for found in (apart.result, shared.result))
        assert whole - less == pytest.approx(spared, rel=1e-9), moment
    assert_lawful(shared)


@pytest.mark.parametrize("engine", ["fsdp1", "fsdp2", "ddp", "single-device"])
@pytest.mark.parametrize("degree", ["tensor", "pipeline"])
def test_a_model_that_is_divided_is_refused(run, engine, degree):
    with pytest.raises(CompositionError, match=rf"{degree}: must be at most 1 with engine '{engine}': .*; got 2"):
        run(engine, layout=Layout(tensor=2) if degree == "tensor" else Layout(pipeline=2))


@pytest.mark.parametrize("engine", ["single-device", "ddp", "even-split"])
def test_a_cast_on_the_way_needs_somebody_who_gathers(run, engine):
    with pytest.raises(CompositionError, match="gathers_cast: must be at most 0 with engine"):
        run(engine, precision="bf16-gathered")


@pytest.mark.parametrize("engine", SHARDED)
def test_quantised_shards_are_refused(run, engine):
    with pytest.raises(CompositionError, match=f"quantised_bits: must be at most 0 with engine '{engine}'"):
        run(engine, data=8, adapter="qlora")


def test_replicas_of_whole_models(run):
    alone, ddp = run("single-device"), run("ddp", data=8)
    buckets = ddp.held("buckets")
    assert buckets == alone.held("gradients")
    assert all(ddp.at(moment) - alone.at(moment) == buckets for moment in alone.moments)


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("precision", ["bf16", "autocast-fp32"])
def test_gradients_in_buckets_are_there_once(run, steps, precision):
    twice, once = (run("ddp", steps=steps, precision=precision, gradient_as_bucket_view=view) for view in (0, 1))
    again = run("single-device", steps=4, precision=precision)
    assert once.at("optimizer_step") == twice.at("optimizer_step") - twice.held("gradients")
    assert all(once.at(moment) <= twice.at(moment) for moment in once.moments)
    for moment in once.moments:  # as after the first micro-batch, when gradients exist on one device too
        assert once.at(moment) <= again.at(moment)
    assert once.at("loss") == again.at("loss")
