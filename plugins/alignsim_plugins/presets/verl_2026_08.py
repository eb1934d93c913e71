"""verl of August 2026: engines in place of workers, which reduce gradients once a step; FSDP unless told.

A model that is fine-tuned takes micro-batches of 8192 tokens, and its loss is that of the actor's log-probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Preset, hookimpl
from alignsim_plugins.presets.serving import VLLM
from alignsim_plugins.presets.verl import ASKS, CONFIG, FSDP, LEFT_OUT, ONLY, SAMPLING, of

ENGINE = "workers/engine/fsdp/transformer_impl.py"

CHOICES = (
    *of("verl-2026.08", "1dda039b", ENGINE, "workers/engine/megatron/transformer_impl.py"),
    Choice(
        givens={"no_sync": 1},
        where={"engine": FSDP},
        source=f"verl 1dda039b: {ENGINE}, _gradient_sync_context: only the last micro-batch is reduced",
    ),
    Choice(
        givens={"generator.max_sequences": 256},
        algorithms=SAMPLING,
        where={"rollout": VLLM},
        source=f"{CONFIG}/rollout/rollout.yaml, max_num_seqs: 256",
    ),
    Choice(
        components={"packing": "token-budget"},
        batch={"sequence_tokens": 1024},
        algorithms="SFT",
        source=f"{CONFIG}/sft_trainer_engine.yaml, use_dynamic_bsz: true, max_length: 1024",
    ),
    Choice(
        givens={"policy.token_budget": 8192},
        algorithms="SFT",
        where={"packing": "token-budget"},
        source=f"{CONFIG}/sft_trainer_engine.yaml, max_token_len_per_gpu: 8192",
    ),
    Choice(
        batch={"micro_batch": 4},
        algorithms="SFT",
        where={"packing": "packed"},
        source=f"{CONFIG}/sft_trainer_engine.yaml, micro_batch_size_per_gpu: 4",
    ),
)

VERL_2026_08 = Preset(
    name="verl-2026.08",
    framework="verl",
    version="August 2026 (1dda039b)",
    aliases=("verl",),
    algorithms=("SFT", *SAMPLING),
    only=ONLY,
    choices=CHOICES,
    source="verl 1dda039b, August 2026: workers/engine/fsdp, trainer/config",
    asks=(
        *ASKS,
        "rollout: vllm-0.17 for vLLM from 0.17 on",
        "replicas: with fsdp_size, the devices over it; then reshards_root is 1 too, as EngineEvalModeCtx frees roots",
    ),
    left_out=LEFT_OUT,
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer verl of August 2026."""
    yield VERL_2026_08
