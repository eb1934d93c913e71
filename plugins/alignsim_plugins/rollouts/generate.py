"""The working set of transformers' generate: what prefill and a step need beside weights and cache."""

from __future__ import annotations

from functools import partial
from typing import Any

from alignsim import Const, Limit, after, at, maths, term
from alignsim.limits import SWITCH
from alignsim_plugins.activations.forward import inner_bytes
from alignsim_plugins.activations.inference import NO_ADAPTERS, NOTHING
from alignsim_plugins.activations.once import casts_weights
from alignsim_plugins.elements import BF16, BOOL, FP32, INT64, TRACES

SOURCE = "transformers 5.24: generation/utils.py, _sample"
PADDED = Const(
    0,
    source="prompts of one length; 1 where they are padded to the longest: a mask then hides padding from attention",
    limit=SWITCH,
)
SCORES = Const(
    0,
    source="generate keeps no scores unless asked (output_scores=True: 1; 2 while TRL's PPO stacks what it was given)",
    limit=Limit(2, whole=True),
)

DROPPED = Const(0, source="what generate returned is dropped when it has been read; 1 where it stays", limit=SWITCH)

generated = partial(term, "byte", per=("role",), during=("generate",), resource="allocated")
"""``@generated(live=...)``: device memory of a role that generates."""


NO_STEP = Const(0, "byte", source="a rollout that counts no working set")
"""What a step of decoding needs, for whoever needs more than that at an instant of its own."""


@term("byte/token", per={"role"}, during={"generate"}, source=TRACES)
def prefill_mlp_work(
    mlp_width: Any, hidden: Any, compute_bytes: Any, inner_bytes: Any, residual_bytes: Any, casts_weights: Any
) -> Any:
    """Gate, up and their product, the layer's input and the residual; where weights are cast, the norm's output too."""
    return 3 * inner_bytes * mlp_width + 2 * residual_bytes * hidden + casts_weights * compute_bytes * hidden


@term("byte/token", per={"role"}, during={"generate"}, source=TRACES)
def prefill_experts_work(experts: Any, experts_per_token: Any, hidden: Any, expert_ffn: Any, compute_bytes: Any) -> Any:
    """Tokens gathered twice, gate and up, product, output and weighted output; their sum, norm and residual."""
    return (experts > 0) * compute_bytes * (experts_per_token * (4 * hidden + 3 * expert_ffn) + 3 * hidden)


@term(
    "byte/token",
    per={"role"},
    during={"generate"},
    source=f"torch 2.13: no fused kernel takes 32-bit inputs with grouped heads; {TRACES}",
)
def prefill_scores_work(
    heads: Any,
    kv_heads: Any,
    prompt_tokens: Any,
    hidden: Any,
    query_width: Any,
    key_width: Any,
    compute_bytes: Any,
    padded_prompts: Any = PADDED,
    fp32: Any = FP32,
    half: Any = BF16,
) -> Any:
    """Scores twice over where no fused kernel exists, with query and repeated key and value; else nothing of note."""
    return (
        (compute_bytes > half)
        * (kv_heads < heads)
        * (padded_prompts <= 0)
        * (2 * fp32 * heads * prompt_tokens + compute_bytes * (hidden + 3 * query_width + 2 * key_width))
    )


@term("byte/token", per={"role"}, during={"generate"}, source=TRACES)
def prefill_work(
    prefill_mlp_work: Any,
    prefill_experts_work: Any,
    prefill_scores_work: Any,
    residual_bytes: Any,
    hidden: Any,
    adapter_forward_work: Any = NO_ADAPTERS,
) -> Any:
    """The worst instant of one layer; without gradients, the embedding's output and the layer's input are held too."""
    return (
        maths.maximum(
            maths.maximum(prefill_mlp_work, prefill_experts_work),
            maths.maximum(prefill_scores_work, adapter_forward_work),
        )
        + 2 * residual_bytes * hidden
    )


@term("byte", per={"role"}, during={"generate"}, source=f"{SOURCE}: logits of the last token alone; {TRACES}")
def next_token_logits(rollout_sequences: Any, vocab: Any, compute_bytes: Any, autocast: Any, fp32: Any = FP32) -> Any:
    """The logits of each sequence's last token as the model gives them, their copy in 32 bits, and probabilities."""
    return rollout_sequences * vocab * (maths.where(autocast > 0, fp32, compute_bytes) + 2 * fp32)


@generated(live=at("prefill"), source=TRACES)
def prefill_working_set(prefill_work: Any, rollout_sequences: Any, prompt_tokens: Any, next_token_logits: Any) -> Any:
    """The last layer over all prompts; or the logits after it."""
    return maths.maximum(prefill_work * rollout_sequences * prompt_tokens, next_token_logits)


@generated(live=at("prefill", "decode"), source=SOURCE)
def prompt_ids(rollout_sequences: Any, prompt_tokens: Any, index: Any = INT64) -> Any:
    """Token ids of the prompts."""
    return rollout_sequences * prompt_tokens * index


@generated(live=at("prefill"), source="transformers 5.24: masking_utils.py, a truth value for every pair of a row")
def prefill_mask(rollout_sequences: Any, prompt_tokens: Any, padded_prompts: Any = PADDED, truth: Any = BOOL) -> Any:
    """A mask over all pairs of a prompt's tokens, if padding must be hidden."""
    return padded_prompts * rollout_sequences * prompt_tokens * prompt_tokens * truth


@generated(live=at("prefill", "decode"), source="torch.autocast keeps the cast of a weight that needs a gradient")
def generation_casts(layer_casts: Any = NOTHING, head_cast: Any = NOTHING, adapter_casts: Any = NOTHING) -> Any:
    """Casts of weights that need gradients are kept until a forward is over, even where no gradient is made."""
    return layer_casts + head_cast + adapter_casts


@generated(live=at("decode"), source=f"{SOURCE}; TRL: trainer/utils.py, generate and batch_generation")
def kept_scores(
    rollout_sequences: Any,
    rollout_tokens: Any,
    prompt_tokens: Any,
    vocab: Any,
    output_scores: Any = SCORES,
    fp32: Any = FP32,
) -> Any:
    """A score in 32 bits for every word of the vocabulary and generated token, where they are asked for."""
    return output_scores * rollout_sequences * (rollout_tokens - prompt_tokens) * vocab * fp32


@generated(
    live=after("decode"), source="TRL 0.19: ppo_trainer.py, logitss is never deleted: it goes when it is made anew"
)
def scores_left(
    rollout_sequences: Any,
    rollout_tokens: Any,
    prompt_tokens: Any,
    vocab: Any,
    scores_stay: Any = DROPPED,
    fp32: Any = FP32,
) -> Any:
    """One set of scores that stays while others work, and while the next one is made."""
    return scores_stay * rollout_sequences * (rollout_tokens - prompt_tokens) * vocab * fp32


GENERATE = (
    inner_bytes,
    casts_weights,
    prefill_mlp_work,
    prefill_experts_work,
    prefill_scores_work,
    prefill_work,
    next_token_logits,
    prefill_working_set,
    prompt_ids,
    prefill_mask,
    generation_casts,
    kept_scores,
    scores_left,
)
