"""Count what transformers makes of configuration files, on PyTorch's meta device: language models only.

``python count.py FOLDER`` prints, for every ``*_config.json`` in it, the parameters of the language model (without what
sees and hears, and without layers that predict further tokens), or why transformers cannot build it.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

STORED_BUFFER = "e_score_correction_bias"
SAME = {"kimi_k2": "deepseek_v3"}
"""Kinds that transformers has no class of, and the one whose code their own files bring along."""


def count(config: dict[str, Any]) -> int:
    """Return how many parameters transformers makes of a configuration's language model."""
    torch, transformers = import_module("torch"), import_module("transformers")
    outer = config
    config = config.get("text_config", config)
    fields = {name: value for name, value in config.items() if name not in ("model_type", "quantization_config")}
    if outer is not config:
        fields["tie_word_embeddings"] = outer.get("tie_word_embeddings", config.get("tie_word_embeddings", False))
    kind = SAME.get(config["model_type"], config["model_type"])
    language = {"qwen3_vl_text": "qwen3", "qwen3_vl_moe_text": "qwen3_moe"}.get(kind, kind)
    shape = transformers.AutoConfig.for_model(language, **fields)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(shape)
    stored = (buffer for name, buffer in model.named_buffers() if name.endswith(STORED_BUFFER))
    return sum(tensor.numel() for tensor in (*model.parameters(), *stored))


def main() -> None:
    """Print all counts."""
    for file in sorted(Path(sys.argv[1]).glob("*_config.json")):
        config = json.loads(file.read_text(encoding="utf-8"))
        try:
            told = f"{count(config):,}"
        except Exception as error:
            told = f"{type(error).__name__}: {error}".splitlines()[0][:100]
        sys.stdout.write(f"{file.name.removesuffix('_config.json')}\t{told}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
