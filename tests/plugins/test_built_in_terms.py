"""What every built-in term keeps to."""

from __future__ import annotations

from functools import cache

import pytest

from alignsim import AlignSimError, Batch, Scenario, Scenarios, default_registry
from alignsim.solver import Solver
from small_runs import losses

REGISTRY = default_registry()
TERMS = {
    term.provider: term
    for found in (
        *(REGISTRY.terms(algorithm) for algorithm in REGISTRY.algorithms.values()),
        *(component.terms for component in REGISTRY.components.values()),
        *(algorithm.terms for algorithm in REGISTRY.algorithms.values()),
        [resource.overhead for resource in REGISTRY.resources.values() if resource.overhead],
        *([n.term for n in s.graph.nodes.values() if n.term] for s in REGISTRY.scenarios.values()),
    )
    for term in found
}


BASE = {
    "precision": "bf16",
    "optimizer": "adamw-fused",
    "adapter": "full",
    "recompute": "none",
    "attention": "sdpa",
    "packing": "equal",
    "loss": "cross-entropy",
    "layers": "transformers",
    "engine": "single-device",
    "rollout": "full-cache",
    "weight_sync": "one-by-one",
}
BATCH = Batch(micro_batch=2, sequence_tokens=512, prompt_tokens=256, rollout_sequences=4, rollout_tokens=512)


def run(algorithm, **components):
    loss = components.get("loss", "")
    components = {**losses(algorithm, getattr(loss, "name", loss)), **components}
    models = {role: "Qwen3-0.6B" if role in ("critic", "reward") else "Qwen2.5-0.5B" for role in algorithm.roles}
    return Scenario(
        algorithm=algorithm, models=models, accelerator="H100-SXM5-80GB", components={**BASE, **components}, batch=BATCH
    ).graph


GOES_WITH = {
    "weight_sync": {"rollout": "vllm"},
    "precision:bf16-gathered": {"engine": "fsdp2"},
    "engine:megatron": {"layers": "megatron"},
    "layers:megatron": {"engine": "megatron"},
    "engine:megatron-offloading": {"layers": "megatron"},
    "engine:megatron-swapped-weights": {"engine": "megatron", "layers": "megatron"},
    "engine:same-weights": {"adapter": "lora"},
    "engine:same-weights-own-adapters": {"adapter": "lora"},
    "engine:fsdp1-same-weights": {"adapter": "lora", "engine": "fsdp1"},
    "engine:fsdp2-same-weights": {"adapter": "lora", "engine": "fsdp2"},
    "engine:fsdp2-swapped-weights": {"engine": "fsdp2"},
    "engine:fsdp2-tensor-same-weights": {"adapter": "lora", "engine": "fsdp2-tensor"},
    "engine:fsdp2-tensor-swapped-weights": {"engine": "fsdp2-tensor"},
    "engine:zero-3-same-weights": {"adapter": "lora", "engine": "zero-3"},
}
SHARING = (
    "megatron-swapped-weights",
    "same-weights",
    "same-weights-own-adapters",
    "fsdp1-same-weights",
    "fsdp2-same-weights",
    "fsdp2-swapped-weights",
    "fsdp2-tensor-same-weights",
    "fsdp2-tensor-swapped-weights",
    "zero-3-same-weights",
)
PLACES = dict.fromkeys((f"engine:{name}" for name in (*SHARING, "fsdp2-one-unit")), "reference.engine")
PLACES["engine:served-while-scoring"] = "reward.engine"


def with_component(component):
    """The graphs of all algorithms that it goes together with: at least one."""
    name = f"{component.slot.name}:{component.name}"
    beside, place = GOES_WITH.get(name, GOES_WITH.get(component.slot.name, {})), PLACES.get(name, component.slot.name)
    graphs, refusals = [], []
    for algorithm in REGISTRY.algorithms.values():
        try:
            graphs.append(run(algorithm, **{**beside, place: component}))
        except AlignSimError as error:
            refusals.append(str(error))
    assert graphs, refusals
    return graphs


@cache
def composed():
    """Graphs of everything built in: composing one checks the units of all its formulas."""
    scenarios = [scenario.graph for scenario in REGISTRY.scenarios.values()]
    value = REGISTRY.component("loss", "trl-ppo-value")
    joint = REGISTRY.component("loss", "trl-ppo")
    scenarios.append(run(REGISTRY.algorithms["TRL-PPO"], loss=joint, **{"critic.loss": value, "reward.loss": "score"}))
    in_place = {"engine": "fsdp2", "reference.engine": "fsdp2-swapped-weights"}
    scenarios.append(run(REGISTRY.algorithms["DPO"], **in_place))
    return [*scenarios, *(graph for component in REGISTRY.components.values() for graph in with_component(component))]


def test_there_are_some():
    assert len(TERMS) > 30
    assert REGISTRY.failures == ()


@pytest.mark.parametrize("term", TERMS.values(), ids=list(TERMS))
def test_a_built_in_term(term):
    assert term.formula.expression is not None, "outside the language"
    assert term.formula.doc
    assert term.formula.summary.endswith((".", ":", ";")) or term.formula.doc.rstrip().endswith(".")
    assert term.source


def test_every_built_in_term_is_in_a_composition_that_passes():
    used = {
        node.term.provider for graph in composed() for node in graph.nodes.values() if node.kind == "term" and node.term
    }
    overridden = {
        node.term.provider
        for graph in composed()
        for node in graph.nodes.values()
        if node.kind == "given" and node.term
    }
    assert set(TERMS) - used - overridden == set()


def test_every_given_of_a_built_in_composition_says_where_it_is_from():
    for graph in composed():
        assert [path for path, number in graph.givens.items() if not number.source] == []


def test_solvers_are_solvers():
    assert all(isinstance(solver, Solver) for solver in REGISTRY.solvers.values())
    assert {scenario.solver for scenario in REGISTRY.scenarios.values()} <= set(REGISTRY.solvers)
    assert "Llama2_70B_PpoAlignment" in list(Scenarios)
