"""Three kinds of rank stand for all stages of a pipeline: compared with every stage, counted one by one."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from alignsim import Layout
from megatron_runs import model, most_in_flight, pieces, run


@st.composite
def layouts(draw):
    """A pipeline, and a number of layers that goes into it."""
    pipeline = draw(st.integers(1, 6))
    if pipeline == 1:
        return Layout(tensor=draw(st.sampled_from([1, 2, 4]))), draw(st.integers(1, 6)), draw(st.integers(1, 9))
    virtual = draw(st.integers(1, 3))
    group = draw(st.sampled_from([0, pipeline, pipeline + 1])) if virtual > 1 else 0
    steps = draw(st.integers(1, 4)) * (group or pipeline) if virtual > 1 else draw(st.integers(1, 12))
    ends = draw(st.sampled_from(["even", "counted", "stated", "first", "last"]))
    even = virtual * draw(st.integers(1, 3))
    first = virtual * draw(st.integers(1, 3)) if ends in ("stated", "first") else 0
    last = virtual * draw(st.integers(1, 3)) if ends in ("stated", "last") else 0
    counted = [draw(st.booleans()) if ends == "counted" else False for _ in range(2)]
    layers = even * (pipeline - bool(first) - bool(last)) + first + last - sum(counted)
    assume(layers >= pipeline)
    layout = Layout(
        tensor=draw(st.sampled_from([1, 2, 4])),
        pipeline=pipeline,
        data=draw(st.sampled_from([1, 2])),
        virtual=virtual,
        micro_batch_group=group,
        first_stage_layers=first,
        last_stage_layers=last,
        embedding_in_split=counted[0],
        loss_in_split=counted[1],
    )
    return layout, layers, steps


def parameters(stage, dealt, layout, tied):
    """Of a rank on a stage of the small model, matrix by matrix."""
    hidden, heads, kv_heads, head_dim, ffn = 256, 8, 4, 32, 704
    t = layout.tensor
    layer = hidden * (heads + 2 * kv_heads) * head_dim // t + heads * head_dim * hidden // t
    layer += 3 * hidden * ffn // t + 2 * hidden
    words = -(-1000 // (128 * t)) * 128 * hidden
    first, last = stage == 0, stage == layout.pipeline - 1
    own_head = words if not tied or not first else 0
    return sum(dealt) * layer + first * words + last * (hidden + own_head)


@settings(max_examples=60, deadline=None)
@given(layouts(), st.booleans())
def test_kinds_are_the_stages_they_stand_for(case, tied):
    layout, layers, steps = case
    result = run(model(layers, tied=tied), layout, steps).result
    dealt = pieces(layers, layout)
    stages = {"first": 0, "middle": 1, "last": layout.pipeline - 1}
    for kind, stage in stages.items():
        if layout.pipeline == 1 or (kind == "middle" and layout.pipeline < 3):
            continue
        most, at_loss = most_in_flight(layout, stage, dealt[stage], steps)
        assert result.value(f"policy[{kind}].stage_layers") == sum(dealt[stage])
        assert result.value(f"policy[{kind}].layers_in_flight") == most
        assert result.value(f"policy[{kind}].stage_parameters") == parameters(stage, dealt[stage], layout, tied)
        if kind == "last":
            assert result.value("policy[last].layers_at_loss") == at_loss


@settings(max_examples=40, deadline=None)
@given(layouts(), st.booleans())
def test_no_stage_holds_more_than_its_kind(case, tied):
    """Of stages between, the one that stands for them holds most parameters and most layers in flight."""
    layout, layers, steps = case
    result = run(model(layers, tied=tied), layout, steps).result
    dealt = pieces(layers, layout)
    kinds = [kind for kind in ("first", "middle", "last") if kind == "first" or result.value(f"policy.has_{kind}") > 0]
    held = [
        (result.value(f"policy[{kind}].stage_parameters"), result.value(f"policy[{kind}].layers_in_flight"))
        for kind in kinds
    ]
    for stage in range(layout.pipeline):
        most, _ = most_in_flight(layout, stage, dealt[stage], steps)
        count = parameters(stage, dealt[stage], layout, tied)
        assert any(count <= other and most <= waiting for other, waiting in held)


@settings(max_examples=25, deadline=None)
@given(layouts())
def test_the_peak_is_the_largest_of_all_stages(case):
    """The kind between, put at every other place between the ends, never holds more."""
    layout, layers, steps = case
    assume(layout.pipeline > 3)
    base = run(model(layers), layout, steps)
    for stage in range(2, layout.pipeline - 1):
        elsewhere = base.with_givens({"policy[middle].stages_after": layout.pipeline - 1 - stage})
        assert elsewhere.result.value("allocated") <= base.result.value("allocated")


def test_one_stage_is_first_and_last():
    result = run().result
    assert result.value("policy[first].has_embedding") == result.value("policy[first].has_head") == 1
    assert {binding.stage for binding in result.bindings("allocated")} == {"first"}
    assert result.value("policy[first].stage_share") == 1


@pytest.mark.parametrize("pipeline", [1, 2, 4])
def test_only_the_stage_with_the_head_has_logits(pipeline):
    result = run(layout=Layout(pipeline=pipeline)).result
    words = "policy.logits_at_loss"
    for binding in result.bindings("update:allocated"):
        told = dict(binding.terms)
        with_head = binding.stage == ("last" if pipeline > 1 else "first")
        assert (f"update:{words}" in told) == (
            with_head and binding.event.endswith("loss") and "backward" not in binding.event
        )
