"""Count the parameters of every model of the catalogue on PyTorch's meta device, from its own kind of configuration."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

CONFIGS = Path(__file__).with_name("configs.json")
STORED_BUFFER = "e_score_correction_bias"


def configs() -> dict[str, dict[str, Any]]:
    """Return the configuration of each model by name."""
    read: dict[str, dict[str, Any]] = json.loads(CONFIGS.read_text(encoding="utf-8"))
    return read


def count(config: dict[str, Any]) -> int:
    """Return how many parameters transformers makes of a configuration."""
    torch, transformers = import_module("torch"), import_module("transformers")
    fields = {name: value for name, value in config.items() if name not in ("model_type", "repository")}
    shape = transformers.AutoConfig.for_model(config["model_type"], **fields)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(shape)
    stored = (buffer for name, buffer in model.named_buffers() if name.endswith(STORED_BUFFER))
    return sum(tensor.numel() for tensor in (*model.parameters(), *stored))


def main() -> int:
    """Print every total; return how many differ from the catalogue."""
    from alignsim_plugins.architectures.published import published

    wrong = 0
    for name, config in configs().items():
        known = published()[name].recorded
        counted, recorded = count(config), known.value if known else None
        wrong += counted != recorded
        note = "" if counted == recorded else f"  the catalogue has {recorded:,}"
        sys.stdout.write(f"{name:32}{counted:20,}{note}\n")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(), 1))
