"""Megatron: what is divided by what, what is refused, and that a sweep says what one run after another says."""

from __future__ import annotations

import pytest

from alignsim import AlignSimError, InvalidInput, Layout, grid
from megatron_runs import model, run


def value(scenario, name, kind="first"):
    values = scenario.result.values
    paths = (f"policy[{kind}].{name}", f"policy.{name}", f"update:policy[{kind}].{name}", f"update:policy.{name}")
    return next(values[path] for path in paths if path in values)


STATES = {
    "held_weights": "weights",
    "held_gradients": "gradients",
    "held_master_weights": "master_weights",
    "held_optimizer_state": "optimizer_state",
}


def test_one_rank_has_the_states_of_one_device():
    one = run()
    alone = run(
        components={"engine": "single-device", "layers": "transformers", "loss": "cross-entropy"},
        shape=model(vocab=1024),
    )
    padded = run(shape=model(vocab=1000))
    for held, whole in STATES.items():
        assert value(padded, held) == alone.result.value(f"policy.{whole}")
        assert value(one, held) == value(padded, held)


@pytest.mark.parametrize("tensor", [1, 2, 4, 8])
def test_ranks_together_hold_the_model_and_copies_of_what_is_not_divided(tensor):
    shape = model(layers=3, vocab=1024, kv_heads=4)
    rank = value(run(shape, Layout(tensor=tensor)), "stage_parameters")
    hidden, head_dim = 256, 32
    norms = (2 * 3 + 1) * hidden
    keys = 3 * 2 * hidden * head_dim * max(4, tensor)
    rest = 2 * 1024 * hidden + 3 * (2 * hidden * 256 + 3 * hidden * 704)
    assert rank * tensor == norms * tensor + keys + rest


def test_the_optimizer_is_divided_by_replicas_and_context_ranks():
    whole, divided = (
        run(layout=Layout(data=4, context=2), distributed_optimizer=0),
        run(layout=Layout(data=4, context=2)),
    )
    for name in ("held_master_weights", "held_optimizer_state"):
        assert value(divided, name) == value(whole, name) / 8
    for name in ("held_weights", "held_gradients"):
        assert value(divided, name) == value(whole, name)


def test_formats_of_the_optimizer_are_inputs():
    precise = run(master_bytes=2, first_moment_bytes=1, second_moment_bytes=2)
    parameters = value(precise, "stage_parameters")
    assert value(precise, "held_master_weights") == 2 * parameters
    assert value(precise, "held_optimizer_state") == 3 * parameters


@pytest.mark.parametrize("fraction", [0, 0.25, 1])
def test_what_is_stepped_on_the_host_is_there_and_not_here(fraction):
    offloaded = run(optimizer_offload_fraction=fraction)
    parameters = value(offloaded, "stage_parameters")
    here = value(offloaded, "held_master_weights") + value(offloaded, "held_optimizer_state")
    assert here == 12 * parameters * (1 - fraction)
    assert value(offloaded, "states_on_host") == 16 * parameters * fraction


def test_sequence_parallel_divides_norms_and_residuals_alone():
    plain, shared = (run(layout=Layout(tensor=4, sequence_parallel=flag)) for flag in (False, True))
    assert value(shared, "norms_kept") == value(plain, "norms_kept") / 4
    assert value(shared, "mlp_kept") == value(plain, "mlp_kept")
    assert value(shared, "attention_kept") == value(plain, "attention_kept")
    assert value(shared, "checkpoint_saved") == value(plain, "checkpoint_saved") / 4
    assert (value(plain, "gathered_input"), value(shared, "gathered_input")) == (0, 2 * 256)


def test_context_ranks_share_tokens():
    one, two = run(), run(layout=Layout(context=2))
    assert value(two, "tokens") == value(one, "tokens") / 2
    assert value(two, "held_activations") == value(one, "held_activations") / 2
    exchanged = run(layout=Layout(context=2), context_all_to_all=1)
    assert value(exchanged, "layer_saved") - value(two, "layer_saved") == 2 * 256


def test_context_ranks_share_completions():
    one, two = (run(layout=Layout(context=n), components={"loss": "trl-grpo"}, algorithm="SFT") for n in (1, 2))
    assert value(one, "completion_tokens") == 2 * (64 - 32)
    assert value(two, "completion_tokens") == value(one, "completion_tokens") / 2


def test_a_tied_head_is_on_both_ends():
    tied = run(model(vocab=1024, tied=True), Layout(pipeline=2))
    words = 1024 * 256
    assert value(tied, "stage_parameters", "last") - value(tied, "stage_parameters", "first") == 256
    assert (
        value(run(model(vocab=1024, tied=True)), "stage_parameters")
        == 2 * (value(tied, "stage_parameters", "first") - words) + words + 256
    )


def test_recomputed_layers_keep_their_input_alone():
    full = run(layout=Layout(pipeline=2), components={"recompute": "full"})
    assert value(full, "held_activations") == 2 * 256 * 128 * 8
    none = run(layout=Layout(pipeline=2))
    assert value(full, "held_activations") < value(none, "held_activations")
    for name in ("recomputed_norms", "recomputed_activation", "recomputed_mlp"):
        assert value(run().with_givens({name: 1}), "layer_saved") < value(run(), "layer_saved")


def test_outputs_that_are_not_freed_wait_with_their_micro_batches():
    kept = run(layout=Layout(pipeline=4), deallocate_pipeline_outputs=0)
    assert value(kept, "held_outputs") == 4 * 2 * 256 * 128
    assert value(kept, "held_outputs", "last") == 0


def test_eight_bit_operands_are_one_byte():
    wide, narrow = run(), run(fp8=1)
    assert value(wide, "norms_kept") - value(narrow, "norms_kept") == 2 * 256
    assert value(wide, "mlp_kept") - value(narrow, "mlp_kept") == 704
    assert value(narrow, "attention_output_copy") == 256


def test_eight_bit_weights_are_copies_unless_they_are_stored_so():
    matrices = 8 * (256 * (256 + 2 * 128) + 256 * 256 + 3 * 256 * 704)
    plain, copied, stored = run(), run(fp8=1), run(fp8=1, fp8_param_gather=1)
    assert value(plain, "eight_bit_weights") == 0
    assert value(copied, "eight_bit_weights") == value(stored, "eight_bit_weights") == 2 * matrices
    assert value(run(fp8=1, fp8_transposes=0), "eight_bit_weights") == matrices
    assert value(plain, "held_weights") == value(copied, "held_weights")
    assert value(plain, "held_weights") - value(stored, "held_weights") == pytest.approx(2 * matrices)


@pytest.mark.parametrize(
    ("givens", "shape", "components", "why"),
    [
        ({"fp8_param_gather": 1}, {}, {}, "say fp8=1"),
        (
            {"fp8": 1},
            {},
            {"precision": "fp32", "attention": "megatron-unfused"},
            "8-bit products are of 16-bit training",
        ),
        ({"fp8": 1}, {"ffn": 700}, {}, "multiples of 16"),
    ],
)
def test_eight_bits_that_nobody_runs_are_refused(givens, shape, components, why):
    with pytest.raises(AlignSimError, match=why):
        run(model(**shape), components=components).with_givens(givens).result  # noqa: B018


@pytest.mark.parametrize(("pipeline", "virtual"), [(1, 1), (2, 1), (4, 2)])
def test_the_first_layers_of_every_piece_may_be_recomputed(pipeline, virtual):
    layout = Layout(pipeline=pipeline, virtual=virtual)
    none, some, all_of_them = (run(layout=layout, recomputed_layers_a_piece=n) for n in (0, 1, 99))
    tokens = 128
    saved, checkpoint = value(none, "layer_saved") * tokens, value(none, "checkpoint_saved") * tokens
    pieces = value(none, "pieces_in_flight")
    assert value(none, "held_activations") - value(some, "held_activations") == pieces * (saved - checkpoint)
    assert value(all_of_them, "held_activations") == value(none, "layers_at_loss") * checkpoint
    full = run(layout=layout, components={"recompute": "full"})
    assert value(full, "held_activations") == value(all_of_them, "held_activations")


def test_instances_of_the_optimizer_are_copies():
    one, two = (run(layout=Layout(data=8), optimizer_instances=n) for n in (1, 2))
    assert value(two, "held_optimizer_state") == 2 * value(one, "held_optimizer_state")


@pytest.mark.parametrize(
    ("layout", "shape", "why"),
    [
        ({"tensor": 3}, {}, "must divide the 8 heads of small.*got 3"),
        ({"tensor": 4}, {"heads": 12, "head_dim": 32, "kv_heads": 6}, "kv_heads must be a multiple of tensor"),
        ({"tensor": 8}, {"ffn": 700}, "ffn must be a multiple of tensor.*ffn 700, tensor 8"),
        ({"pipeline": 3}, {}, "dealt out evenly.*layers 8"),
        ({"pipeline": 4, "virtual": 3}, {}, "dealt out evenly"),
        ({"pipeline": 4, "first_stage_layers": 3}, {}, "dealt out evenly"),
        ({"pipeline": 2, "first_stage_layers": 3, "last_stage_layers": 4}, {}, "dealt out evenly"),
        ({"pipeline": 4, "first_stage_layers": 3, "last_stage_layers": 1, "virtual": 2}, {}, "multiples of virtual"),
        ({"pipeline": 8, "virtual": 1}, {"layers": 8, "parallel": True}, "a norm before attention"),
    ],
)
def test_what_does_not_divide_is_refused(layout, shape, why):
    with pytest.raises(AlignSimError, match=why):
        run(model(**shape), Layout(**layout)).result  # noqa: B018


@pytest.mark.parametrize(
    ("layout", "why"),
    [
        ({"sequence_parallel": True}, "tensor is 1"),
        ({"virtual": 2}, "pipeline is 1: there is nothing to interleave"),
        ({"first_stage_layers": 2}, "pipeline is 1: one stage has all layers"),
        ({"pipeline": 4, "first_stage_layers": 2, "embedding_in_split": True}, "a layout says one or the other"),
        ({"tensor": 2, "data": 3, "expert": 4}, "= 8 devices, which does not divide all 6"),
        ({"tensor": 0}, "must be at least 1"),
        ({"sequence_parallel": 1}, "expected true or false"),
    ],
)
def test_a_layout_that_nobody_runs_is_refused(layout, why):
    with pytest.raises(InvalidInput, match=why):
        Layout(**layout)


def test_an_interleaved_pipeline_needs_micro_batches():
    with pytest.raises(AlignSimError, match=r"at least as many micro-batches.*accumulation_steps 2"):
        run(layout=Layout(pipeline=4, virtual=2), steps=2).result  # noqa: B018


def test_other_modelling_code_is_refused():
    with pytest.raises(AlignSimError, match=r"needs as layers of 'policy'.*layers divided over tensor ranks"):
        run(components={"layers": "transformers", "loss": "cross-entropy"}).result  # noqa: B018


def test_adapters_are_refused():
    with pytest.raises(AlignSimError, match="needs as adapter of 'policy'"):
        run(components={"adapter": "lora"}).result  # noqa: B018


def test_scores_are_not_exchanged():
    with pytest.raises(AlignSimError, match="only fused kernels share a sequence"):
        run(layout=Layout(context=2), components={"attention": "megatron-unfused"}).result  # noqa: B018


@pytest.mark.parametrize("engine", ["single-device", "ddp", "fsdp2", "even-split"])
@pytest.mark.parametrize("degree", ["context", "expert"])
def test_other_engines_refuse_what_they_do_not_divide(engine, degree):
    layout = Layout(expert=2, data=2) if degree == "expert" else Layout(context=2)
    with pytest.raises(AlignSimError, match=f"{degree}: must be at most 1 with engine"):
        run(components={"engine": engine, "layers": "transformers", "loss": "cross-entropy"}, layout=layout).result  # noqa: B018


def test_rows_are_single_answers():
    base = run(layout=Layout(tensor=2, sequence_parallel=True))
    columns = grid(tensor=[1, 2, 4], pipeline=[1, 2, 4, 8], context=[1, 2], data=[1, 4], micro_batch=[1, 3])
    swept = base.sweep(columns)
    plan = base.plan
    for row in range(0, len(swept), 5):
        changes = {plan.graph.input_path(name): float(column[row]) for name, column in columns.items()}
        assert float(swept.peak[row]).hex() == plan.evaluate(changes=changes)["allocated"].hex()


def test_single_answers_are_runs():
    base = run()
    columns = {"tensor": [1, 2, 4], "pipeline": [4, 2, 1], "data": [1, 2, 8], "context": [2, 1, 4]}
    swept = base.sweep(columns).peak
    for row in range(3):
        assert (
            base.using(**{name: column[row] for name, column in columns.items()}).result.value("allocated")
            == swept[row]
        )


def test_a_row_that_does_not_divide_is_refused():
    with pytest.raises(InvalidInput, match=r"row 1: heads must be a multiple of tensor.*tensor 3"):
        run().sweep(tensor=[1, 3, 4])


@pytest.mark.parametrize(
    ("algorithm", "more"),
    [
        ("SFT", {}),
        ("DPO", {}),
        ("KTO", {"loss": "trl-kto"}),
        ("GRPO", {"loss": "verl-2026.01-entropy", "rollout": "none"}),
        ("DAPO", {"loss": "verl-megatron-b178a3c-entropy", "rollout": "none"}),
        ("RM", {"loss": "score"}),
    ],
)
def test_every_role_may_be_under_megatron(algorithm, more):
    shape = model().with_scalar_head() if algorithm == "RM" else model()
    layout = Layout(tensor=2, pipeline=2, sequence_parallel=True)
    one, spread = (run(shape, where, algorithm=algorithm, components=more) for where in (Layout(), layout))
    assert 0 < spread.result.value("allocated") < one.result.value("allocated")
    assert {binding.stage for binding in spread.result.bindings("allocated")} == {"first", "last"}


def test_a_critic_has_a_layout_of_its_own():
    roles = {"policy": model(), "critic": model(layers=4, hidden=128).with_scalar_head(name="critic")}
    base = run(layout=Layout(tensor=2, pipeline=4)).using(
        algorithm="PPO",
        models={**roles, "reward": roles["critic"]},
        layouts={"critic": Layout(tensor=2), "reward": Layout(tensor=2)},
        components={
            **run().components,
            "critic.loss": "score",
            "reward.loss": "score",
            "rollout": "none",
        },
    )
    values = base.result.values
    assert values["policy[middle].stage_layers"] == 2
    assert {values[f"critic[{kind}].stage_layers"] for kind in ("first", "middle", "last")} == {4}
    assert values["critic[middle].has_head"] == 1


def test_a_stage_is_there_if_any_role_has_it():
    roles = {"policy": model(), "critic": model(hidden=512).with_scalar_head(name="critic")}
    shared = run(layout=Layout(tensor=2)).using(
        algorithm="PPO",
        models={**roles, "reward": roles["critic"]},
        layouts={"critic": Layout(tensor=2, pipeline=4)},
        components={**run().components, "critic.loss": "score", "reward.loss": "score", "rollout": "none"},
    )
    assert shared.result.values["policy.has_last"] == 0
    assert {binding.stage for binding in shared.result.bindings("allocated")} == {"first", "middle", "last"}
