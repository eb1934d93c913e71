"""Experts under Megatron: dealt out, divided, stepped by their own replicas, and on the stages that have them."""

from __future__ import annotations

import pytest

from alignsim import AlignSimError, Architecture, Layout, grid
from megatron_runs import model, run

EXPERTS = {"experts": 8, "experts_per_token": 2, "expert_ffn": 192}
ONE_EXPERT = 3 * 256 * 192


def value(scenario, name, kind="first"):
    values = scenario.result.values
    paths = (f"policy[{kind}].{name}", f"policy.{name}", f"update:policy[{kind}].{name}", f"update:policy.{name}")
    return next(values[path] for path in paths if path in values)


def sparse(layers=8, **shape):
    return model(layers, **{**EXPERTS, **shape})


def latent():
    return Architecture(
        name="latent",
        layers=8,
        hidden=256,
        heads=8,
        ffn=704,
        vocab=1024,
        q_lora_rank=96,
        kv_lora_rank=64,
        qk_nope_head_dim=32,
        qk_rope_head_dim=16,
        v_head_dim=32,
    )


@pytest.mark.parametrize(
    ("expert", "expert_tensor", "data", "tensor"), [(1, 0, 1, 1), (4, 1, 4, 1), (2, 2, 2, 2), (8, 1, 4, 2)]
)
def test_experts_are_dealt_out_and_divided(expert, expert_tensor, data, tensor):
    layout = Layout(expert=expert, expert_tensor=expert_tensor, data=data, tensor=tensor, sequence_parallel=tensor > 1)
    spread = run(sparse(), layout)
    whole = run(sparse(), Layout(data=data, tensor=tensor, sequence_parallel=tensor > 1, expert_tensor=1))
    ranks = expert * (expert_tensor or tensor)
    assert value(spread, "rank_expert_parameters") == 8 * ONE_EXPERT / ranks
    gone = value(whole, "stage_parameters") - value(spread, "stage_parameters")
    assert gone == 8 * 8 * ONE_EXPERT * (1 - 1 / ranks)
    assert value(spread, "expert_shards") == tensor * data / ranks


def test_the_optimizer_divides_experts_by_their_own_replicas():
    layout = Layout(data=8, expert=4)
    moe = run(sparse(), layout)
    routed = 8 * value(moe, "rank_expert_parameters")
    rest = value(moe, "stage_parameters") - routed
    assert value(moe, "held_optimizer_state") == pytest.approx(8 * (rest / 8 + routed / 2), rel=1e-12)
    assert value(run(sparse(), layout, distributed_optimizer=0), "held_master_weights") == pytest.approx(
        4 * (rest + routed), rel=1e-12
    )


def test_rows_follow_capacity_or_imbalance():
    assert value(run(sparse()), "expert_rows") == 2
    assert value(run(sparse(), expert_capacity_factor=1.5, expert_imbalance=4), "expert_rows") == 3
    assert value(run(sparse(), expert_imbalance=4), "expert_rows") == 8
    shared = Layout(tensor=2, sequence_parallel=True, expert_tensor=1, data=2, expert=2)
    assert value(run(sparse(), shared), "expert_rows") == 1
    low, expected, high = run(sparse()).result.range
    assert low <= expected < high


def test_a_row_keeps_its_input_its_weight_and_the_inner_width():
    assert value(run(sparse()), "routed_kept") == 2 * (2 * 256 + 4 * 192 + 2 * 192 + 4)
    assert value(run(sparse(gated=False)), "routed_kept") == 2 * (2 * 256 + 2 * 192 + 4 * 192 + 4)
    assert value(run(sparse(), recomputed_activation=1), "routed_kept") == 2 * (2 * 256 + 4 * 192 + 4)
    assert value(run(sparse(), recomputed_experts=1), "experts_kept") == 0


@pytest.mark.parametrize("dense", [0, 1, 2])
@pytest.mark.parametrize("pipeline", [1, 2, 4])
def test_leading_dense_layers_are_on_the_first_stage(dense, pipeline):
    moe = run(sparse(dense_layers=dense), Layout(pipeline=pipeline), steps=8)
    held: dict[str, float] = {}
    for kind, stage in {"first": 0, "middle": 1, "last": pipeline - 1}.items():
        if kind == "first" or value(moe, f"has_{kind}") > 0:
            own = 8 // pipeline
            plain = dense if stage == 0 else 0
            assert value(moe, "stage_dense_layers", kind) == plain
            assert value(moe, "stage_expert_layers", kind) == own - plain
            waiting = pipeline - stage
            saved = value(moe, "block_saved") * own + value(moe, "mlp_kept") * plain
            saved += value(moe, "experts_kept") * (own - plain)
            held[kind] = saved * waiting * 128
            assert value(moe, "held_activations", kind) == pytest.approx(held[kind], rel=1e-12)
    assert max(held, key=lambda kind: held[kind]) == "first"


def test_latents_are_on_all_tensor_ranks():
    one, four = run(latent()), run(latent(), Layout(tensor=4))
    up = 96 * 8 * 48 + 64 * 8 * 64
    down = 256 * (96 + 64 + 16) + 96 + 64
    out = 8 * 32 * 256
    for scenario, tensor in ((one, 1), (four, 4)):
        assert value(scenario, "attention_parameters") == down + (up + out) / tensor
    heads = 2 * 8 * (2 * 48 + 2 * 32) + 4 * 8
    kept = value(one, "attention_held") + value(one, "latents_kept")
    assert kept == heads + 4 * (96 + 64) + 2 * 16 + 2 * 4
    recomputed = run(latent(), recomputed_up_projection=1)
    assert kept - value(recomputed, "attention_held") - value(recomputed, "latents_kept") == 2 * 8 * (2 * 48 + 32)


@pytest.mark.parametrize(
    ("layout", "shape", "why"),
    [
        ({"expert": 2, "data": 2}, {"experts": 0}, "this model has none: say expert=1"),
        ({"expert": 3, "data": 3}, {}, "experts must be a multiple of expert.*experts 8, expert 3"),
        ({"expert_tensor": 5, "data": 5}, {}, "expert_ffn must be a multiple"),
        ({"tensor": 2}, {}, "need sequence_parallel"),
        ({"pipeline": 8}, {"dense_layers": 2}, "leading dense layers must all be in the first piece"),
        ({"pipeline": 2, "virtual": 4}, {"dense_layers": 2}, "leading dense layers must all be in the first piece"),
    ],
)
def test_what_nobody_runs_is_refused(layout, shape, why):
    made = {**EXPERTS, **shape} if shape.get("experts") != 0 else {}
    with pytest.raises(AlignSimError, match=why):
        run(model(**made), Layout(**layout)).result  # noqa: B018


def test_rows_are_single_answers():
    base = run(sparse(dense_layers=1), steps=8)
    columns = grid(pipeline=[1, 2, 4], expert=[1, 2, 8], data=[8], context=[1, 2], micro_batch=[1, 2])
    swept = base.sweep(columns)
    plan = base.plan
    for row in range(0, len(swept), 3):
        changes = {plan.graph.input_path(name): float(column[row]) for name, column in columns.items()}
        assert float(swept.peak[row]).hex() == plan.evaluate(changes=changes)["allocated"].hex()


def test_a_row_of_a_sweep_that_does_not_divide_is_refused():
    with pytest.raises(AlignSimError, match=r"row 1: expert x expert_tensor must divide"):
        run(sparse()).sweep(expert=[1, 4], data=[1, 2])


def test_what_is_on_its_way_depends_on_who_sends_it():
    layout = Layout(data=4, expert=4)
    sent, direct, gathered = (
        value(run(sparse(), layout, expert_sends_directly=d, expert_gathers=g), "dispatched")
        for d, g in ((0, 0), (1, 0), (0, 1))
    )
    assert (sent, direct, gathered) == (4, 2, 4)
