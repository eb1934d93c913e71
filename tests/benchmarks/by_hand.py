"""The reference case's fourteen outputs as one would write them without a framework, in the plan's own order.

Every function does the same operations on the same numbers in the same order as the terms do, so that what is
compared is the cost of the framework, and so that the answers can be compared bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Column: TypeAlias = npt.NDArray[np.float64]
Columns: TypeAlias = list[Column] | None

INPUTS = (
    "critic.master_bytes",
    "critic.weight_bytes",
    "critic.weight_gradient_bytes",
    "data",
    "device_capacity",
    "pipeline",
    "policy.kv_bytes",
    "policy.master_bytes",
    "policy.weight_bytes",
    "policy.weight_gradient_bytes",
    "reference.weight_bytes",
    "reward.weight_bytes",
    "rollout_sequences",
    "rollout_tokens",
    "tensor",
    "{Llama-2-13B-nominal}.parameters",
    "{Llama-2-70B-nominal}.head_dim",
    "{Llama-2-70B-nominal}.kv_heads",
    "{Llama-2-70B-nominal}.kv_lora_rank",
    "{Llama-2-70B-nominal}.layers",
    "{Llama-2-70B-nominal}.parameters",
    "{Llama-2-70B-nominal}.qk_rope_head_dim",
)
PARAMETERS = "{Llama-2-70B-nominal}.parameters"
FIVE = ("tensor", "pipeline", "rollout_tokens", "rollout_sequences", PARAMETERS)
TWO = ("tensor", "pipeline")
OUTPUTS = 14


def scalar(values: Sequence[Any]) -> tuple[Any, ...]:
    """One configuration, as one function of plain Python. It takes quantities of pint as well as floats."""
    (
        critic_master,
        critic_weight,
        critic_gradient,
        data,
        capacity,
        pipeline,
        kv_bytes,
        policy_master,
        policy_weight,
        policy_gradient,
        reference_weight,
        reward_weight,
        sequences,
        tokens,
        tensor,
        critic,
        head_dim,
        kv_heads,
        lora_rank,
        layers,
        policy,
        rope_dim,
    ) = values
    policy_moment = policy_gradient if policy_gradient >= policy_master else policy_master
    critic_moment = critic_gradient if critic_gradient >= critic_master else critic_master
    policy_state = (
        policy * policy_gradient
        + policy * policy_master
        + (policy * policy_moment + policy * policy_moment)
        + policy * policy_weight
    )
    value_state = (
        critic * critic_gradient
        + critic * critic_master
        + (critic * critic_moment + critic * critic_moment)
        + critic * critic_weight
    )
    reference = policy * reference_weight
    reward = critic * reward_weight
    ppo = policy_state + reference + reward + value_state
    dpo = policy_state + reference
    ranks = tensor * pipeline
    elements = lora_rank + rope_dim if lora_rank > 0 else 2 * kv_heads * head_dim
    cache = layers * elements * kv_bytes * tokens * sequences
    return (
        policy_state,
        reference,
        reward,
        value_state,
        ppo,
        dpo,
        (ppo - dpo) / ppo,
        ranks,
        policy_state / ranks,
        reference / ranks,
        cache,
        cache / ranks,
        float(math.ceil(ppo / capacity)),
        tensor * pipeline * data,
    )


def new_outputs(rows: int) -> list[Column]:
    return [np.empty(rows) for _ in range(OUTPUTS)]


def _slices(rows: int, chunk: int) -> list[slice]:
    return [slice(start, min(start + chunk, rows)) for start in range(0, rows, chunk)]


def plain(values: Mapping[str, float], columns: Mapping[str, Column], chunk: int, out: Columns = None) -> list[Column]:
    """Many configurations, as one writes NumPy without a second thought: the formulas once more, chunk by chunk."""
    outputs = out or new_outputs(len(columns["tensor"]))
    for part in _slices(len(columns["tensor"]), chunk):
        row: dict[str, Any] = {**values, **{name: column[part] for name, column in columns.items()}}
        for output, answer in zip(outputs, _formulas(row), strict=True):
            output[part] = answer
    return outputs


def _formulas(g: Mapping[str, Any]) -> tuple[Any, ...]:
    policy, critic = g[PARAMETERS], g["{Llama-2-13B-nominal}.parameters"]
    lora_rank, kv_heads = g["{Llama-2-70B-nominal}.kv_lora_rank"], g["{Llama-2-70B-nominal}.kv_heads"]
    policy_moment = max(g["policy.weight_gradient_bytes"], g["policy.master_bytes"])
    critic_moment = max(g["critic.weight_gradient_bytes"], g["critic.master_bytes"])
    policy_state = (
        policy * g["policy.weight_gradient_bytes"]
        + policy * g["policy.master_bytes"]
        + (policy * policy_moment + policy * policy_moment)
        + policy * g["policy.weight_bytes"]
    )
    value_state = (
        critic * g["critic.weight_gradient_bytes"]
        + critic * g["critic.master_bytes"]
        + (critic * critic_moment + critic * critic_moment)
        + critic * g["critic.weight_bytes"]
    )
    reference = policy * g["reference.weight_bytes"]
    reward = critic * g["reward.weight_bytes"]
    ppo = policy_state + reference + reward + value_state
    dpo = policy_state + reference
    ranks = g["tensor"] * g["pipeline"]
    elements = (
        lora_rank + g["{Llama-2-70B-nominal}.qk_rope_head_dim"]
        if lora_rank > 0
        else 2 * kv_heads * g["{Llama-2-70B-nominal}.head_dim"]
    )
    cache = (
        g["{Llama-2-70B-nominal}.layers"]
        * elements
        * g["policy.kv_bytes"]
        * g["rollout_tokens"]
        * g["rollout_sequences"]
    )
    return (
        policy_state,
        reference,
        reward,
        value_state,
        ppo,
        dpo,
        (ppo - dpo) / ppo,
        ranks,
        policy_state / ranks,
        reference / ranks,
        cache,
        cache / ranks,
        np.ceil(ppo / g["device_capacity"]),
        ranks * g["data"],
    )


def five(values: Mapping[str, float], columns: Mapping[str, Column], chunk: int, out: Columns = None) -> list[Column]:
    """Many configurations of :data:`FIVE`, as one writes NumPy that has to be fast.

    What does not vary is computed once, results go straight to where they belong, and one spare chunk is all the
    memory that is used beside.
    """
    fixed = scalar([values[name] for name in INPUTS])
    reward, value_state = fixed[2], fixed[3]
    gradient, master, weight = (values[f"policy.{name}_bytes"] for name in ("weight_gradient", "master", "weight"))
    moment = max(gradient, master)
    per_token = _per_token(values)
    rows = len(columns["tensor"])
    outputs = out or new_outputs(rows)
    spare = np.empty(min(chunk, rows)), np.empty(min(chunk, rows))
    for part in _slices(rows, chunk):
        tensor, pipeline, tokens, sequences, policy = (columns[name][part] for name in FIVE)
        o = [output[part] for output in outputs]
        a, b = spare[0][: len(tensor)], spare[1][: len(tensor)]
        np.multiply(policy, gradient, out=a)
        np.add(a, np.multiply(policy, master, out=b), out=o[0])
        np.multiply(policy, moment, out=a)
        np.add(a, a, out=a)
        np.add(o[0], a, out=o[0])
        np.add(o[0], np.multiply(policy, weight, out=a), out=o[0])
        np.multiply(policy, values["reference.weight_bytes"], out=o[1])
        o[2].fill(reward)
        o[3].fill(value_state)
        np.add(o[0], o[1], out=o[4])
        np.add(o[4], reward, out=o[4])
        np.add(o[4], value_state, out=o[4])
        np.add(o[0], o[1], out=o[5])
        np.subtract(o[4], o[5], out=o[6])
        np.divide(o[6], o[4], out=o[6])
        np.multiply(tensor, pipeline, out=o[7])
        np.divide(o[0], o[7], out=o[8])
        np.divide(o[1], o[7], out=o[9])
        np.multiply(per_token, tokens, out=o[10])
        np.multiply(o[10], sequences, out=o[10])
        np.divide(o[10], o[7], out=o[11])
        np.divide(o[4], values["device_capacity"], out=o[12])
        np.ceil(o[12], out=o[12])
        np.multiply(o[7], values["data"], out=o[13])
    return outputs


def two(values: Mapping[str, float], columns: Mapping[str, Column], chunk: int, out: Columns = None) -> list[Column]:
    """Many configurations of :data:`TWO`, written to be fast."""
    fixed = scalar([values[name] for name in INPUTS])
    rows = len(columns["tensor"])
    outputs = out or new_outputs(rows)
    for i in (0, 1, 2, 3, 4, 5, 6, 10, 12):
        outputs[i].fill(fixed[i])
    for part in _slices(rows, chunk):
        ranks = np.multiply(columns["tensor"][part], columns["pipeline"][part], out=outputs[7][part])
        np.divide(fixed[0], ranks, out=outputs[8][part])
        np.divide(fixed[1], ranks, out=outputs[9][part])
        np.divide(fixed[10], ranks, out=outputs[11][part])
        np.multiply(ranks, values["data"], out=outputs[13][part])
    return outputs


def _per_token(values: Mapping[str, float]) -> float:
    model = "{Llama-2-70B-nominal}."
    rank, heads = values[f"{model}kv_lora_rank"], values[f"{model}kv_heads"]
    rope, dim = values[f"{model}qk_rope_head_dim"], values[f"{model}head_dim"]
    elements = rank + rope if rank > 0 else 2 * heads * dim
    return values[f"{model}layers"] * elements * values["policy.kv_bytes"]


def columns_of(names: Sequence[str], rows: int) -> dict[str, Column]:
    """Configurations that people might ask about, in no order."""
    chance = np.random.default_rng(7)
    sizes = {
        "tensor": chance.choice([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], rows),
        "pipeline": chance.choice([1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0, 16.0], rows),
        "rollout_tokens": chance.integers(128, 32_768, rows).astype(float),
        "rollout_sequences": chance.integers(1, 4_096, rows).astype(float),
        PARAMETERS: chance.integers(1_000_000_000, 405_000_000_000, rows).astype(float),
    }
    return {name: sizes[name] for name in names}
