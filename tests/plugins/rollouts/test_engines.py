"""vLLM and SGLang beside a trainer: shares by hand, what sleeps, and who keeps what."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import (
    Accelerator,
    Algorithm,
    Architecture,
    Batch,
    InvalidInput,
    Layout,
    Place,
    Scenario,
    default_registry,
)
from alignsim.errors import CompositionError
from alignsim_plugins.rollouts.pool import longest_sequence, pooled_token, sequence_cache
from small_runs import CHOICES, SHAPE, losses

GIB = 2**30
DEVICE = Accelerator(name="twenty", vendor="made up", usable_memory="20 GiB", source="made up")
FIELDS: dict[str, Any] = {"name": "small", **SHAPE}
MODEL = Architecture(**FIELDS)
BATCH = Batch(micro_batch=1, sequence_tokens=64, prompt_tokens=16, rollout_tokens=64, rollout_sequences=4)


def paths(algorithm):
    return losses(default_registry().algorithms[algorithm], "verl-2026.01")


def run(rollout="vllm", algorithm="GRPO", **changes):
    return Scenario(
        algorithm=algorithm,
        models={role: MODEL for role in ("policy", "critic", "reward") if role == "policy" or algorithm == "PPO"},
        accelerator=DEVICE,
        components={**CHOICES, **paths(algorithm), "rollout": rollout, "weight_sync": "one-by-one"},
        batch=BATCH,
    ).using(**{"fixed_costs": 0, "graph_memory": "0 B", "one_rank_leftovers": "0 B", **changes})


def live(result, where):
    return dict(result.bindings(where)[0].terms)


def test_heads_are_copied_and_latents_whole():
    heads = {"kv_heads": 8, "head_dim": 128, "kv_lora_rank": 0, "qk_rope_head_dim": 0, "kv_bytes": 2}
    assert [pooled_token(tensor=t, **heads) for t in (1, 4, 8, 16)] == [4096, 1024, 512, 512]
    latent = {**heads, "kv_lora_rank": 512, "qk_rope_head_dim": 64}
    assert [pooled_token(tensor=t, **latent) for t in (1, 8)] == [1152, 1152]
    assert pooled_token(tensor=1, **{**heads, "kv_bytes": 1}) == 2048


def test_sequences_in_blocks_and_windows():
    assert [longest_sequence(rollout_tokens=n, max_model_tokens=0, block_tokens=16) for n in (1, 16, 17)] == [
        16,
        16,
        32,
    ]
    assert longest_sequence(rollout_tokens=64, max_model_tokens=100, block_tokens=16) == 112
    shape = {"pooled_token": 10, "longest_sequence": 4096, "layers": 4, "pipeline": 1, "block_tokens": 16}
    assert sequence_cache(window_layers=0, window=0, **shape) == 10 * 4 * 4096
    assert sequence_cache(window_layers=3, window=1024, **shape) == 10 * (4096 + 3 * 1040)


def test_a_share_of_all_memory_is_filled():
    result = run(gpu_memory_utilization=0.5).result
    terms = live(result, "rollout:allocated")
    mine = sum(value for path, value in terms.items() if path.startswith("generator."))
    assert mine == pytest.approx(10 * GIB)
    assert terms["generator.served_weights"] == result.value("policy.weights") == result.value("generator.weights")
    assert result.value("generator.kv_cache_per_device") == result.value("generator.kv_pool") > 9 * GIB


def test_it_sleeps_while_others_work():
    result = run().result
    update = live(result, "update:allocated")
    assert not [path for path, value in update.items() if path.startswith("generator.") and value]
    awake = run("vllm-awake", gpu_memory_utilization=0.5).result
    update = live(awake, "update:allocated")
    assert update["generator.kv_cache_per_device"] == awake.value("generator.kv_pool")
    assert update["generator.served_weights"] > 0
    assert "generator.kv_cache_per_device" not in live(result, "sync:allocated")
    assert "generator.kv_cache_per_device" in live(awake, "sync:allocated")


def test_graphs_and_leftovers_stay_asleep():
    asleep = run(graph_memory="1 GiB", one_rank_leftovers="2 GiB").result
    quiet = run().result
    for phase in ("sync", "rollout", "score", "update"):
        assert asleep.value(f"{phase}:device") - quiet.value(f"{phase}:device") == 3 * GIB
    eager = run(graph_memory="1 GiB", one_rank_leftovers="2 GiB", eager=1).result
    assert asleep.value("device") - eager.value("device") == GIB


def test_a_trainer_that_goes_away_leaves_the_device_to_the_engine():
    beside, offloading = run().result, run("vllm-offloading").result
    assert "policy.held_optimizer_state" in live(beside, "rollout:allocated")
    assert "policy.held_optimizer_state" not in live(offloading, "rollout:allocated")
    assert "policy.held_optimizer_state" in live(offloading, "sync:allocated")
    assert offloading.value("rollout:device") < beside.value("rollout:device")


def test_sglang_takes_a_fraction_of_what_is_free():
    result = run("sglang", mem_fraction_static=0.5).result
    weights = result.value("generator.served_weights")
    others = result.value("init:generator/load.device_demand") - weights
    assert result.value("generator.kv_pool") == pytest.approx(0.5 * (20 * GIB - others) - weights)


def test_older_vllm_counts_all_that_is_in_use():
    result = run("vllm-0.9", gpu_memory_utilization=0.5).result
    rest = result.value("init:generator/load.device_demand") + result.value("generator.largest_forward")
    assert result.value("generator.kv_pool") == pytest.approx(10 * GIB - rest)
    assert result.value("generator.kv_pool") < run(gpu_memory_utilization=0.5).result.value("generator.kv_pool")


def test_a_pool_without_room_for_a_sequence_is_told():
    verdict = run(max_model_tokens=100_000_000).result.verdict
    (met,) = verdict.conditions
    assert (met.path, met.status, verdict.status) == ("generator.room_for_a_sequence", "does not fit", "does not fit")
    assert run().result.verdict.status == "fits"


def test_tensor_ranks_of_its_own():
    wide = run(fixed_costs=1).using(layouts={"generator": Layout(tensor=2)}).result
    assert wide.value("generator.served_weights") == wide.value("policy.held_weights") / 2
    assert wide.value("%generator.communication_buffers") == 392 * 2**20
    assert wide.value("%trainer.communication_buffers") == 0
    assert wide.value("generator.engine_leftovers") == 1230 * 2**20


def test_on_a_pool_of_its_own():
    apart = run("vllm-awake").using(
        places={"generator": Place("generator", "servers")}, accelerator={"gpus": DEVICE, "servers": DEVICE}
    )
    verdict = apart.result.verdict
    assert {judged.pool for judged in verdict.judged} == {"gpus", "servers"}
    assert not [path for path in dict(verdict.judged[0].binding.terms) if path.startswith("generator.")]


def test_every_algorithm_that_generates_takes_one_and_stays_as_it_is():
    ppo = run(algorithm="PPO")
    assert ppo.algorithm.roles == ("policy", "reference", "reward", "critic")
    assert list(ppo.played.phases) == ["sync", "rollout", "score", "update"]
    assert ppo.played.activity("rollout", "generator").name == "generate"
    assert ppo.played.activity("rollout", "policy").name == "idle"
    assert ppo.result.value("generator.kv_pool") > 0
    back = ppo.using(components={**ppo.components, "rollout": "transformers-cache"})
    assert "generator" not in back.played.roles


def test_a_table_of_ones_own_takes_one():
    best = Algorithm(name="best-of-n", phases={"draw": {"policy": "generate"}, "update": {"policy": "train"}})
    numbers = {"rows_per_sample": 1, "input_bytes": "8 B/token"}
    mine = Scenario(
        algorithm=best,
        models={"policy": MODEL},
        accelerator=DEVICE,
        components={**CHOICES, "rollout": "vllm", "weight_sync": "bucketed"},
        batch=BATCH,
        givens=numbers,
    )
    assert list(mine.played.phases) == ["sync", "draw", "update"]
    assert mine.result.value("policy.sync_buffers") == 2 * GIB


def test_names_that_are_taken_are_told():
    taken = Algorithm(name="taken", phases={"sync": {"policy": "generate", "generator": "infer"}})
    with pytest.raises((CompositionError, InvalidInput), match=r"(?s)role 'generator' already.*|phase 'sync' already"):
        Scenario(algorithm=taken, models={"policy": MODEL}, components={"rollout": "vllm"}).graph  # noqa: B018


def test_gathered_weights_of_a_sharded_policy():
    choices = {**CHOICES, **paths("GRPO"), "engine": "fsdp2", "rollout": "transformers-cache-gathered"}
    one = Scenario(algorithm="GRPO", models={"policy": MODEL}, components=choices, batch=BATCH)
    result = one.using(layout=Layout(data=4)).result
    whole = result.value("{small}.parameters") * 2
    assert live(result, "rollout:allocated")["policy.gathered_for_generation"] == whole
    assert one.result.value("policy.gathered_for_generation") == 0


def test_from_0_17_on_graphs_are_taken_off_the_pool():
    newer, older = (run(name, graph_memory="1 GiB").result for name in ("vllm-0.17", "vllm"))
    assert older.value("generator.kv_pool") - newer.value("generator.kv_pool") == GIB
    eager = run("vllm-0.17", graph_memory="1 GiB", eager=1).result
    assert eager.value("generator.kv_pool") == older.value("generator.kv_pool")


@pytest.mark.parametrize(("engine", "level"), [("vllm", 1), ("sglang", 2)])
def test_weights_sleep_on_the_host_unless_they_are_dropped(engine, level):
    result = run(engine).result
    assert result.value("generator.sleep_level") == level
    assert result.value("generator.sleeping_weights") == (level == 1) * result.value("generator.served_weights")
