"""Files as people have them, small."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from alignsim_plugins.readers.safetensors import BITS

TINY = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
    "dtype": "bfloat16",
}
TENSORS = {
    "model.embed_tokens.weight": [1000, 64],
    "model.norm.weight": [64],
    "lm_head.weight": [1000, 64],
    **{
        f"model.layers.{layer}.{name}.weight": shape
        for layer in (0, 1)
        for name, shape in {
            **{name: [64, 64] for name in ("q", "k", "v", "o")},
            **{name: [128, 64] for name in ("gate", "up")},
            "down": [64, 128],
            "in": [64],
            "post": [64],
        }.items()
    },
}
PARAMETERS = 2 * 64_000 + 64 + 2 * (4 * 4096 + 3 * 8192 + 128)


def header(tensors: dict[str, Any], formats: dict[str, str] | None = None) -> tuple[dict[str, Any], int]:
    place, told = 0, {}
    for name, shape in tensors.items():
        elements = 1
        for length in shape:
            elements *= length
        format_ = (formats or {}).get(name, "BF16")
        size = elements * BITS[format_] // 8
        told[name] = {"dtype": format_, "shape": shape, "data_offsets": [place, place + size]}
        place += size
    return told, place


def saved(path: Path, told: Any, data: int) -> Path:
    text = json.dumps(told).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + data)  # a hole: nothing is written
    return path


@pytest.fixture
def model(tmp_path: Path) -> Callable[..., Path]:
    """A folder with a config.json, and with weights if asked."""

    def made(config: dict[str, Any] | None = None, tensors: dict[str, Any] | None = None) -> Path:
        folder = tmp_path / "tiny-llama"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({**TINY, **(config or {})}, indent=1), encoding="utf-8")
        if tensors is not None:
            saved(folder / "model.safetensors", *header(tensors))
        return folder

    return made
