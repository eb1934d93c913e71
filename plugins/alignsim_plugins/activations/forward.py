"""What a layer's forward needs at its worst instant, beside what it keeps."""

from __future__ import annotations

from typing import Any

from alignsim import Const, maths, term
from alignsim_plugins.elements import TRACES

AS_ARITHMETIC = Const(0, "byte", source="a role without adapters has no projection of another format")


@term("byte", per={"role"}, source=TRACES)
def inner_bytes(compute_bytes: Any, projection_bytes: Any = AS_ARITHMETIC) -> Any:
    """Of an element of the MLP's inner width: as arithmetic is, unless projections give their results back wider."""
    return maths.maximum(compute_bytes, projection_bytes)


@term("byte/token", per={"role"}, source=TRACES)
def dense_forward_work(
    mlp_width: Any, hidden: Any, compute_bytes: Any, inner_bytes: Any, residual_bytes: Any, casts_weights: Any
) -> Any:
    """Gate, up and their product, the layer's input and the residual; under autocast, the norm's output cast."""
    return 3 * inner_bytes * mlp_width + 2 * residual_bytes * hidden + casts_weights * compute_bytes * hidden


@term("byte/token", per={"role"}, source=TRACES)
def experts_forward_work(experts: Any, experts_per_token: Any, hidden: Any, expert_ffn: Any, compute_bytes: Any) -> Any:
    """Tokens gathered twice, gate and up, product, output and weighted output; their sum, norm and residual."""
    return (experts > 0) * compute_bytes * (experts_per_token * (4 * hidden + 3 * expert_ffn) + 3 * hidden)


@term("byte/token", per={"role"}, source=TRACES)
def base_forward_work(dense_forward_work: Any, experts_forward_work: Any, attention_forward_work: Any) -> Any:
    """The worst instant of a layer's forward without adapters: in the MLP, among experts or in attention."""
    return maths.maximum(maths.maximum(dense_forward_work, experts_forward_work), attention_forward_work)


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def forward_work(base_forward_work: Any, adapter_forward_work: Any) -> Any:
    """The worst instant of a layer's forward, adapters included."""
    return maths.maximum(base_forward_work, adapter_forward_work)


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def forward_end_work(
    experts: Any, experts_per_token: Any, hidden: Any, adapter_forward_end: Any, compute_bytes: Any
) -> Any:
    """Still live, though kept by nobody, when a layer's last projection is done."""
    return (experts > 0) * compute_bytes * hidden * (3 * experts_per_token + 2) + adapter_forward_end


FORWARD = (
    inner_bytes,
    dense_forward_work,
    experts_forward_work,
    base_forward_work,
    forward_work,
    forward_end_work,
)
