"""States on the host: for good, between a role's phases, or in place of another role's."""

from __future__ import annotations

import pytest

from alignsim import Algorithm
from alignsim.errors import CompositionError
from alignsim.testing.laws import assert_lawful

MIXED = {"precision": "bf16-gathered", "reduce_bytes": 4}
PREFERENCE = {"algorithm": "DPO", "loss": "trl-dpo"}
TURNS = Algorithm(
    name="turns",
    phases={"score": {"reference": "infer", "policy": "idle"}, "update": {"policy": "train", "reference": "idle"}},
    model_of={"reference": "policy"},
)


def host(run):
    return run.scenario.using(resource="host").result


@pytest.mark.parametrize("engine", ["fsdp1", "fsdp2"])
def test_offloaded_states_are_on_the_host_and_not_on_the_device(run, engine):
    there, here = (run(name, data=8, **MIXED) for name in (f"{engine}-cpu-offload", engine))
    for name, held in (("pinned_weights", "held_weights"), ("host_optimizer_state", "held_optimizer_state")):
        assert there.held(name) == here.held(held) > 0
    assert here.at("forward_head") - there.at("forward_head") == here.held("held_weights") * 3
    weights = here.held("held_weights")
    assert host(there).peak.m_as("byte") == pytest.approx(weights * 5)  # gradients, two moments and a step's roots
    assert host(here).peak.m_as("byte") == 0


def test_offloaded_gradients_leave_the_device_as_they_are_reduced(run):
    there, here = (run(name, data=8, **MIXED) for name in ("fsdp2-cpu-offload", "fsdp2"))
    states = 3 * here.held("held_weights")
    layers = here.held("trainable_parameters") - here.held("root_parameters")
    assert here.at("backward_end") - states - there.at("backward_end") == pytest.approx(4 * layers / 8)
    flat, kept = (run(name, data=8, **MIXED) for name in ("fsdp1-cpu-offload", "fsdp1"))
    assert kept.at("backward_end") - states == pytest.approx(flat.at("backward_end"))
    assert flat.at("optimizer_step") < 1e6


def test_a_reference_on_the_host_is_streamed(run):
    streamed = run("fsdp2", data=8, **PREFERENCE, **MIXED).scenario
    streamed = streamed.using(components={**streamed.components, "reference.engine": "fsdp2-cpu-offload"})
    values = streamed.result.values
    shards = values["policy.held_weights"]
    assert values["reference.pinned_weights"] == shards
    assert "reference.held_weights" not in values
    assert streamed.using(resource="host").result.peak.m_as("byte") == shards
    assert values["update:reference.gathered_in_inference"] > 0


def test_a_swapped_reference_takes_the_place_of_the_policys_shards(run):
    base = run("fsdp2", data=8, algorithm=TURNS, loss="trl-dpo", **MIXED).scenario
    beside = base.result
    swapped = base.using(components={**base.components, "reference.engine": "fsdp2-swapped-weights"})
    shards = swapped.result.values["policy.held_weights"]
    assert beside.values["reference.held_weights"] == shards
    assert "reference.held_weights" not in swapped.result.values
    assert swapped.result.value("update:allocated") == beside.value("update:allocated") - shards - beside.value(
        "reference.left_gathered"
    )
    waiting = swapped.using(resource="host").result
    assert waiting.value("update:host") == shards
    assert waiting.value("score:host") == 2 * shards


def test_weights_that_wait_on_the_host_for_training_are_refused(run):
    with pytest.raises(CompositionError, match="its weights are not on the device"):
        run("fsdp2-swapped-weights", data=8)


@pytest.mark.parametrize("engine", ["fsdp1", "fsdp2"])
def test_states_go_to_the_host_between_the_phases_of_their_role(run, engine):
    stay = run(engine, data=8, algorithm=TURNS, loss="trl-dpo", **MIXED)
    go = run(
        engine,
        data=8,
        algorithm=TURNS,
        loss="trl-dpo",
        **MIXED,
        **{"policy.offloads_parameters": 1, "policy.offloads_optimizer": 1},
    )
    states = stay.held("held_weights") + stay.held("held_optimizer_state")
    score = "score:reference/forward_layers.allocated"
    assert stay.result.value(score) - go.result.value(score) == pytest.approx(states)
    assert stay.at("forward_layers") == pytest.approx(go.at("forward_layers"))  # no lower a peak where it trains
    assert host(go).value("score:host") == pytest.approx(states)
    assert host(go).value("update:host") == 0
    assert host(stay).peak.m_as("byte") == 0


@pytest.mark.parametrize(("data", "per_node", "ranks"), [(8, None, 8), (16, None, 8), (16, 4, 4), (2, None, 2)])
def test_the_ranks_of_a_node_share_its_host(run, data, per_node, ranks):
    """Two roles on the host: what the node holds is the sum of both, for each of its ranks."""
    sizes = {} if per_node is None else {"devices_per_node": per_node}
    offloaded = run("fsdp2-cpu-offload", data=data, **PREFERENCE, **MIXED, **sizes)
    assert offloaded.held("node_host_memory") == ranks * host(offloaded).peak.m_as("byte")
    assert offloaded.result.value("reference.node_host_memory") == offloaded.held("node_host_memory")


@pytest.mark.parametrize("data", [2, 7, 64])
@pytest.mark.parametrize("engine", ["fsdp1-cpu-offload", "fsdp2-cpu-offload"])
@pytest.mark.parametrize("options", [{}, {"steps": 3}, {"adapter": "lora"}, PREFERENCE])
def test_the_laws(run, engine, data, options):
    scenario = run(engine, data=data, **MIXED, **options).scenario
    assert_lawful(scenario)
    assert_lawful(scenario.using(resource="host"))
