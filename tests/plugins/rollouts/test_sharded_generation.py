"""transformers' generate of a sharded policy, by hand: all at once before, layer by layer, or with the root alone."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Batch, Layout, Result, Scenario

MODEL = {"policy": "Qwen2.5-7B", "critic": "Qwen2.5-1.5B", "reward": "Qwen2.5-1.5B"}
VOCAB, HIDDEN = 152064, 3584
ROOT = 2 * VOCAB * HIDDEN + HIDDEN
PROMPT, WHOLE, ROWS = 128, 512, 16


def run(rollout: str, engine: str = "zero-3", algorithm: str = "TRL-PPO", **givens: Any) -> Result:
    models = MODEL if algorithm == "TRL-PPO" else {"policy": MODEL["policy"]}
    result: Result = Scenario(
        preset="trl-0.19",
        algorithm=algorithm,
        models=models,
        accelerator="H100-SXM5-80GB",
        layout=Layout(data=8),
        components={"engine": engine, "recompute": "full", "rollout": rollout},
        batch=Batch(
            micro_batch=2,
            sequence_tokens=WHOLE,
            prompt_tokens=PROMPT,
            rollout_tokens=WHOLE,
            rollout_sequences=ROWS,
        ),
        givens=givens,
    ).result
    return result


def held(result: Result, instant: str, name: str) -> float:
    (binding,) = (found for found in result.bindings(f"{instant}.allocated") if found.event)
    return sum(size for term, size in binding.terms if term.endswith(f".{name}"))


def test_what_is_gathered_before_is_not_gathered_again():
    whole, layers = run("transformers-cache-gathered"), run("transformers-cache")
    parameters = whole.value("{Qwen2.5-7B}.parameters")
    for moment in ("prefill", "decode"):
        instant = f"rollout:policy/{moment}"
        assert held(whole, instant, "gathered_for_generation") == 2 * parameters
        assert held(whole, instant, "gathered_in_generation") == 0
        assert 0 < held(layers, instant, "gathered_in_generation") < 2 * parameters / 2
        assert held(layers, instant, "gathered_for_generation") == 0
    assert held(whole, "score:policy/forward_layers", "gathered_for_generation") == 0


@pytest.mark.parametrize("engine", ["fsdp1", "fsdp2"])
def test_layer_by_layer_a_token_holds_the_root_and_a_layer_at_least(engine):
    result = run("transformers-cache", engine)
    layer = result.value("{Qwen2.5-7B}.layer_parameters")
    gathered = held(result, "rollout:policy/decode", "gathered_in_generation")
    assert 2 * (ROOT + layer) <= gathered < 2 * (ROOT + 4 * layer)


def test_fsdp1s_root_is_there_as_stored_beside_what_the_forward_gathers():
    result, plain = (run(f"transformers-cache{name}", "fsdp1", "GRPO") for name in ("-root-gathered", ""))
    instant = "rollout:policy/decode"
    assert held(result, instant, "root_for_generation") == 4 * ROOT
    assert held(result, instant, "gathered_in_generation") == held(plain, instant, "gathered_in_generation") > 0


def test_trls_ppo_keeps_its_scores_until_there_are_new_ones():
    result = run("transformers-cache-gathered-with-value")
    scores = 4 * VOCAB * ROWS * (WHOLE - PROMPT)
    assert held(result, "rollout:policy/decode", "kept_scores") == 2 * scores
    assert held(result, "rollout:policy/decode", "scores_left") == scores
    assert held(result, "score:reference/forward_layers", "scores_left") == scores
    assert held(result, "update:policy/optimizer_step", "scores_left") == scores
    assert held(run("transformers-cache", algorithm="GRPO"), "rollout:policy/decode", "scores_left") == 0


def test_the_first_prefill_has_no_scores_yet():
    result = run("transformers-cache")
    assert result.value("first~rollout:policy/prefill.allocated") < result.value("rollout:policy/prefill.allocated")
