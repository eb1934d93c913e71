"""What a layer keeps for backward in all."""

from __future__ import annotations

from typing import Any

from alignsim import maths, term
from alignsim_plugins.elements import TRACES


@term(
    "byte/token", per={"role"}, during={"train"}, source="Korthikanti et al. 2022, section 5: selective recomputation"
)
def attention_kept(
    attention_saved: Any, recomputes_core: Any, compute_bytes: Any, query_width: Any, key_width: Any
) -> Any:
    """What the kernel keeps; or only query, key, value and output, where it computes all else again."""
    return maths.where(
        recomputes_core > 0,
        maths.minimum(attention_saved, compute_bytes * (2 * query_width + 2 * key_width)),
        attention_saved,
    )


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def layer_saved(norms_saved: Any, qk_norms_saved: Any, attention_kept: Any, mlp_saved: Any, adapter_saved: Any) -> Any:
    """Norms, attention, MLP and adapters together."""
    return norms_saved + qk_norms_saved + attention_kept + mlp_saved + adapter_saved


@term("byte/token", per={"role"}, during={"train"}, source="Chen et al. 2016 (sublinear memory), section 4")
def checkpoint_saved(residual_bytes: Any, hidden: Any) -> Any:
    """The input of a layer, from which it is computed again."""
    return residual_bytes * hidden
