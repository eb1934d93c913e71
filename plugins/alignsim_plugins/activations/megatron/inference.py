"""A forward without gradients, and tables that every layer reads."""

from __future__ import annotations

from typing import Any

from alignsim import at, maths, term
from alignsim_plugins.activations.instants import inferred_on_stage
from alignsim_plugins.elements import FP32

ROTARY = "Megatron-LM: core/models/common/embeddings/rotary_pos_embedding.py, in 32 bits"


@term("byte", per={"role"}, source=ROTARY)
def rotary_tables(head_dim: Any, row_tokens: Any, learned_positions: Any, fp32: Any = FP32) -> Any:
    """An angle for every position and element of a head; none where positions are learned."""
    return maths.where(learned_positions > 0, 0, fp32 * head_dim * row_tokens)


@inferred_on_stage(live=at("forward_layers"), source="Megatron-LM: core/transformer/transformer_layer.py")
def inference_working_set(forward_work: Any, tokens: Any, rotary_tables: Any) -> Any:
    """The worst instant of one layer."""
    return forward_work * tokens + rotary_tables


INFERENCE = (rotary_tables, inference_working_set)
