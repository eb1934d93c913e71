"""What most families have in common: the keys of their files, and layers that look back only so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alignsim import InvalidInput, Problem
from alignsim.fields import Fields, short

VERSION = "transformers 5.24.0"

USUAL: Mapping[str, Any] = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_dim": "head_dim",
    "ffn": "intermediate_size",
    "vocab": "vocab_size",
    "max_positions": "max_position_embeddings",
    "tied": "tie_word_embeddings",
}
"""A field of an architecture, and the key that most files say it by."""

ATTENTION_BIAS = {"qkv_bias": "attention_bias", "output_bias": "attention_bias"}
LAYER_NORM = {"rms_norm": False, "norm_bias": True}
BIASED = {"qkv_bias": True, "output_bias": True, "mlp_bias": True, "gated": False, **LAYER_NORM}
VISION = {"vision_config": "the vision tower", "audio_config": "the audio tower"}
FURTHER = {"num_nextn_predict_layers": "layers that predict further tokens (MTP)"}

LOOKING_BACK = ("sliding_attention", "chunked_attention")
EVERYWHERE = "full_attention"


def looking_back(config: Fields, fields: Mapping[str, Any], window: Any, layers: int) -> dict[str, int]:
    """Return how far how many layers look back.

    Args:
        config: the file; its ``layer_types`` says which layers do, if it is there.
        fields: what is known of the model so far.
        window: the tokens that they look back; None or 0 where none does.
        layers: how many do so where the file does not list them.

    Raises:
        InvalidInput: a list of another length or with other kinds of layers, or a window that is no count.
    """
    kinds = config.data.get("layer_types")
    if kinds is not None:
        layers = sum(kind in LOOKING_BACK for kind in _kinds(config, kinds, fields["layers"]))
    if window in (None, 0) or not layers:
        if layers and kinds is not None:
            raise config.wrong("layer_types", f"has {layers} layers that look back, but the file does not say how far")
        return {}
    if isinstance(window, bool) or not isinstance(window, int) or window < 0:
        raise InvalidInput(Problem(config.at("sliding_window"), f"expected a whole number, got {short(window)}"))
    if fields.get("max_positions") and window >= fields["max_positions"]:
        return {}  # never reached
    return {"window": window, "window_layers": layers}


def _kinds(config: Fields, kinds: Any, layers: int) -> list[str]:
    if not isinstance(kinds, list) or len(kinds) != layers:
        count = f"{len(kinds):,} entries" if isinstance(kinds, list) else short(kinds)
        raise config.wrong("layer_types", f"expected one entry for each of {layers} layers, got {count}")
    for index, kind in enumerate(kinds):
        if kind not in (*LOOKING_BACK, EVERYWHERE):
            known = ", ".join((EVERYWHERE, *LOOKING_BACK))
            raise config.wrong(f"layer_types[{index}]", f"layers of kind {short(kind)} are not known; known: {known}")
    return kinds


def window_of(key: str = "sliding_window", *, silent: int | None = None) -> Any:
    """Return a ``finish`` for families all of whose layers look back; ``silent`` where the file says nothing."""

    def finish(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        return looking_back(config, fields, config.data.get(key, silent), fields["layers"])

    return finish


def switched_window(config: Fields, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Look back only where ``use_sliding_window`` is true, and then from layer ``max_window_layers`` on (Qwen)."""
    if not (config.flag("use_sliding_window") if config.data.get("use_sliding_window") is not None else False):
        return {}
    first = config.count("max_window_layers") if "max_window_layers" in config.data else 28
    return looking_back(config, fields, config.data.get("sliding_window", 4096), max(fields["layers"] - first, 0))


def must(config: Fields, key: str, allowed: tuple[Any, ...], why: str) -> None:
    """Refuse a file in which a key is there and is none of these values.

    Raises:
        InvalidInput: it is.
    """
    value = config.data.get(key, allowed[0])
    if not any(value is known or (value == known and type(value) is type(known)) for known in allowed):
        raise config.wrong(key, f"is {short(value)}; {why}")
