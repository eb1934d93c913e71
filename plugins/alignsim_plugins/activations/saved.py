"""What a layer keeps for backward in all."""

from __future__ import annotations

from typing import Any

from alignsim import term
from alignsim_plugins.elements import TRACES


@term("byte/token", per={"role"}, during={"train"}, source=TRACES)
def layer_saved(norms_saved: Any, qk_norms_saved: Any, attention_saved: Any, mlp_saved: Any, adapter_saved: Any) -> Any:
    """Norms, attention, MLP and adapters together."""
    return norms_saved + qk_norms_saved + attention_saved + mlp_saved + adapter_saved
