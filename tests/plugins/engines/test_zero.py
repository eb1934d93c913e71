"""ZeRO by hand: what every stage holds when, what stage 3 gathers, what waits on the host, and what is refused."""

from __future__ import annotations

from itertools import pairwise

import pytest

from alignsim import Layout
from alignsim.errors import CompositionError

DEGREES = (1, 2, 3, 8, 64)
STAGES = ("zero-1", "zero-2", "zero-3")
P = 494_032_768
EMBEDDING = 151_936 * 896
LAYER = (P - EMBEDDING - 896) // 24
BUCKET = 500_000_000
HOST = ("weights_on_host", "stepped_on_host", "optimizer_state_on_host", "gradients_on_host")


@pytest.fixture
def zero(run):
    def of(stage, data=8, **more):
        return run(stage, data=data, **{"precision": "bf16-master", "optimizer": "adamw-fused", **more})

    return of


def test_the_model_is_the_one_that_was_counted_by_hand(zero):
    found = zero("zero-1")
    assert (found.held("trainable_parameters"), found.held("reduce_bucket")) == (P, 2 * BUCKET)


@pytest.mark.parametrize("data", DEGREES)
@pytest.mark.parametrize("stage", STAGES)
def test_all_ranks_together_hold_the_whole(zero, stage, data):
    found = zero(stage, data)
    shards = {"held_master_weights": 4 * P, "held_optimizer_state": 8 * P}
    shards |= {"held_weights": 2 * P} if stage == "zero-3" else {}
    assert {name: data * found.held(name) for name in shards} == pytest.approx(shards, rel=1e-12)
    if stage != "zero-3":
        assert found.held("held_weights") == 2 * P


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("options", [{}, {"steps": 2}, {"gradient_accumulation_bytes": 4}, {"offload_optimizer": 1}])
def test_no_instant_grows_with_the_ranks(zero, stage, options):
    """From two ranks on: with one, nothing is copied to be reduced or gathered."""
    runs = [zero(stage, data, **options) for data in DEGREES[1:]]
    for fewer, more in pairwise(runs):
        for moment in fewer.moments:
            assert more.at(moment) <= fewer.at(moment)


@pytest.mark.parametrize("steps", [1, 3])
def test_stage_2_holds_no_more_than_stage_1(zero, steps):
    one, two = (zero(stage, steps=steps, reduce_bucket_size=1e7) for stage in STAGES[:2])
    assert all(two.at(moment) <= one.at(moment) for moment in ("forward_layers", "backward_end", "optimizer_step"))


def test_stage_1_keeps_whole_gradients_until_it_reduces_them(zero):
    one, alone = zero("zero-1"), zero("single-device", 1)
    saved = 12 * P * 7 / 8
    assert alone.at("loss") - one.at("loss") == saved
    assert one.at("backward_end") - alone.at("backward_end") == pytest.approx(2 * BUCKET - saved)
    assert one.held("gradients_before_the_step") == 2 * P / 8


def test_a_share_of_stage_1_is_made_when_a_bucket_has_left_its_place(zero):
    found = zero("zero-1", 2, reduce_bucket_size=1e8)
    assert (found.held("bucket_content"), found.held("share_at_the_end")) == (2e8, 2 * P / 2 - 2e8)


def test_a_wider_format_to_add_up_in(zero):
    plain, one, two, three = (
        zero(stage, gradient_accumulation_bytes=size)
        for stage, size in (("zero-1", 0), ("zero-1", 4), ("zero-2", 4), ("zero-3", 4))
    )
    assert (plain.held("standing_gradients"), one.held("standing_gradients")) == (0, 4 * P)
    assert (one.held("reduce_bucket"), two.held("reduce_bucket")) == (0, 2 * BUCKET)
    assert two.held("new_share") == 4 * P / 8
    assert (one.held("reduced_whole"), plain.held("reduced_whole")) == (2 * P, 0)
    assert two.held("flattened_bucket") == 2 * P + 4 * EMBEDDING
    assert three.held("standing_gradients") == 4 * P / 8


def test_a_step_of_stage_2_by_hand(zero):
    """Shares as they were made, flattened, and cast: 2, 2 and 4 bytes, or the norm of the embedding's gradient."""
    found = zero("zero-2", 8)
    assert found.held("gradients_at_the_step") == 2 * P / 8 + max(8 * EMBEDDING, 6 * P / 8)
    assert zero("zero-2", 1).held("gradients_at_the_step") == 8 * P
    assert zero("zero-2", 1, gradient_accumulation_bytes=4).held("gradients_at_the_step") == 4 * P + 8 * EMBEDDING


def test_a_step_of_stage_3_takes_a_group_at_a_time(zero):
    whole, group = (zero("zero-3", 2, sub_group_size=size) for size in (1e9, 1e8))
    assert whole.held("gradients_at_the_step") == max(6 * P / 2, 8 * EMBEDDING / 2)
    assert group.held("gradients_at_the_step") == max(6e8, 8 * EMBEDDING / 2)


def test_overlap_takes_a_second_bucket(zero):
    alone, beside = (zero("zero-2", overlap_comm=flag) for flag in (0, 1))
    assert beside.at("backward_last_layer") - alone.at("backward_last_layer") == 2 * BUCKET
    assert zero("zero-3", overlap_comm=1).held("reduce_bucket") == 2 * BUCKET


def test_what_stage_3_gathers(zero):
    small = {"max_live_parameters": 1e8, "max_reuse_distance": 1e8, "prefetch_bucket_size": 1e7}
    found = zero("zero-3", **small)
    assert found.held("persistent_parameters") == 24 * (2 * 896 + 896 + 2 * 128) + 896
    assert found.held("gathered_window") == 2 * EMBEDDING, "the largest is more than may live"
    assert found.held("gathered_at_the_end") == 2 * EMBEDDING
    assert found.held("gathered_in_first_layer") == 2 * (LAYER + EMBEDDING)
    assert zero("zero-3").held("gathered_window") == 2 * (P - found.held("persistent_parameters"))
    assert zero("zero-3", 1).held("gathered_window") == 0, "one rank uses its shards as they are"


def test_secondary_shards_are_a_copy_over_fewer_ranks(zero):
    plain, near = (zero("zero-3", 64, zero_hpz_partition_size=ranks) for ranks in (1, 8))
    assert near.held("held_secondary_shards") == 2 * P / 8
    assert near.at("loss") - plain.at("loss") == 2 * P / 8


@pytest.mark.parametrize("stage", STAGES)
def test_an_offloaded_optimizer_waits_on_the_host(zero, stage):
    here, there = (zero(stage, offload_optimizer=flag) for flag in (0, 1))
    assert all(here.held(name) == 0 for name in HOST)
    assert there.held("held_master_weights") == there.held("held_optimizer_state") == 0
    assert there.held("optimizer_state_on_host") == here.held("held_optimizer_state") == P
    below = stage != "zero-3"
    assert there.held("stepped_on_host") == (4 + 4 + 2 * below) * P / 8
    assert there.held("gradients_on_host") == (2 * EMBEDDING if below else 2 * P / 8)
    assert there.held("offload_buffer") == 2 * EMBEDDING * below


def test_offloaded_weights_are_gathered_from_the_host(zero):
    found = zero("zero-3", offload_param=1)
    assert (found.held("held_weights"), found.held("weights_on_host")) == (0, 2 * P / 8)
    assert zero("zero-3", 1, offload_param=1).held("gathered_window") > 0


def test_the_host_is_a_resource(zero):
    found = zero("zero-3", offload_optimizer=1, offload_param=1).scenario.using(resource="host").result
    assert found.peak.m_as("byte") == (2 + 4 + 4 + 8 + 2) * P / 8


@pytest.mark.parametrize(("data", "per_node", "ranks"), [(8, None, 8), (16, None, 8), (16, 4, 4), (2, None, 2)])
def test_the_ranks_of_a_node_share_its_host(zero, data, per_node, ranks):
    found = zero("zero-3", data, offload_optimizer=1, **({} if per_node is None else {"devices_per_node": per_node}))
    each = found.scenario.using(resource="host").result.peak.m_as("byte")
    assert found.held("node_host_memory") == ranks * each == pytest.approx(ranks * (4 + 4 + 8 + 2) * P / data)


def test_one_number_says_the_stage(zero):
    for number, stage in enumerate(STAGES, 1):
        told, fixed = zero("zero", zero_stage=number), zero(stage)
        assert [told.at(moment) for moment in told.moments] == [fixed.at(moment) for moment in fixed.moments]


def test_the_stage_may_be_swept(zero):
    rows = zero("zero").scenario.sweep({"policy.zero_stage": [1, 2, 3], "data": [8, 64, 8]})
    alone = [zero("zero-1", 8), zero("zero-2", 64), zero("zero-3", 8)]
    assert rows.peak.tolist() == [found.result.value("allocated") for found in alone]


def test_roles_that_are_not_trained(zero):
    def reference(engine, **more):
        found = zero("zero-3", algorithm="DPO", loss="trl-dpo", **more).scenario
        return found.using(components={**found.components, "reference.engine": engine}).result.values

    assert reference("zero-replica")["reference.held_weights"] == 2 * P
    shared = reference("zero-inference")
    assert shared["reference.held_weights"] == 2 * P / 8
    assert shared["update:reference.gathered_in_inference"] > 0
    assert "reference.standing_bucket" not in shared
    same = reference("zero-3-same-weights", adapter="lora")
    assert "reference.held_weights" not in same
    assert same["update:reference.gathered_in_inference"] > 0


@pytest.mark.parametrize("stage", [*STAGES, "zero", "colossalai-zero-2"])
@pytest.mark.parametrize("degree", ["tensor", "pipeline"])
def test_a_model_that_is_divided_is_refused(run, stage, degree):
    with pytest.raises(CompositionError, match=rf"{degree}: must be at most 1 with engine '{stage}'"):
        run(stage, layout=Layout(tensor=2) if degree == "tensor" else Layout(pipeline=2))


@pytest.mark.parametrize(
    ("stage", "option", "because"),
    [
        ("zero-1", {"offload_param": 1}, "offload_param is valid only with stage 3"),
        ("zero-2", {"offload_param": 1}, "offload_param is valid only with stage 3"),
        ("zero-2", {"zero_hpz_partition_size": 8}, "only stage 3 gathers"),
        ("zero-2", {"zero_stage": 3}, "choose 'zero-3', or 'zero' to vary it"),
        ("zero", {"zero_stage": 4}, "ZeRO has stages 1, 2 and 3"),
        ("zero-3", {"overlap_comm": 2}, "overlap_comm: must be 0 or 1"),
    ],
)
def test_what_deepspeed_does_not_run_is_refused(zero, stage, option, because):
    with pytest.raises(CompositionError, match=because):
        zero(stage, **option)


@pytest.mark.parametrize("engine", ["zero-inference", "zero-replica", "zero-3-same-weights"])
def test_without_an_optimizer_nothing_is_trained(zero, engine):
    with pytest.raises(CompositionError, match="choose"):
        zero(engine)


@pytest.mark.parametrize("data", DEGREES)
def test_colossalai_divides_every_parameter(zero, data):
    found = zero("colossalai-zero-2", data)
    assert found.held("held_weights") == 2 * P
    assert found.held("gradients_at_the_step") == pytest.approx(((2 + 4) * P + 8 * EMBEDDING) / data)
    assert found.held("shares_at_the_end") == pytest.approx(2 * (P / data + 2 * EMBEDDING))
    assert found.held("bucket_on_its_way") == 3 * 2 * max(12 * 2**20, 896 * 4864)
