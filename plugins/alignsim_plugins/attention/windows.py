"""Sliding windows in training: which masks transformers builds for them, once per kind of layer."""

from __future__ import annotations

from typing import Any

from alignsim import term

MASKS = "transformers 5.24: masking_utils.py"


@term("", per={"role"}, source=f"{MASKS}, _ignore_causal_mask_sdpa: a row as long as the window is masked already")
def reaches_beyond(window: Any, window_layers: Any, row_tokens: Any) -> Any:
    """1 where layers have a window that is not longer than a row."""
    return (window_layers > 0) * (row_tokens >= window)


@term("", per={"role"}, source=f"{MASKS}, create_causal_mask and create_sliding_window_causal_mask")
def mask_kinds(window_layers: Any, layers: Any) -> Any:
    """Masks that a model makes at once: two where only some layers have a window."""
    return 1 + (window_layers > 0) * (window_layers < layers)


WINDOWS = (reaches_beyond, mask_kinds)
