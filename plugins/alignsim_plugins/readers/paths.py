"""Which texts are paths, and what models and adapters are called on disk."""

from __future__ import annotations

import os
from pathlib import Path

CONFIG = "config.json"
ADAPTER = "adapter_config.json"
MOST = 4 * 2**20
"""Bytes of the largest configuration that is read; of published models none is near it."""
STARTS = ("/", "./", "../", "~/", ".\\", "..\\")


def is_path(text: str) -> bool:
    """Whether a text looks like a path, or is one."""
    looks = text.startswith(STARTS) or text in (".", "..") or text.endswith((".json", ".safetensors"))
    return looks or os.path.isabs(text) or os.path.exists(text)


def is_model(text: str) -> bool:
    """Whether it is one, and not that of an adapter's file."""
    return is_path(text) and Path(text).name != ADAPTER


def is_adapter(text: str) -> bool:
    """Whether it is one of an adapter's file, or of a folder with that and no model, or nothing is there."""
    if not is_path(text):
        return False
    folder = os.path.expanduser(text)
    alone = os.path.exists(os.path.join(folder, ADAPTER)) and not os.path.exists(os.path.join(folder, CONFIG))
    return Path(text).name == ADAPTER or alone or not os.path.exists(folder)


def name_of(path: Path) -> str:
    """Return what a model is called: as its folder, or as its file where that is not ``config.json``."""
    whole = Path(os.path.abspath(path))
    name = whole.parent.name if whole.name == CONFIG else whole.stem.removesuffix("_config")
    if whole.parent.parent.name == "snapshots":  # the cache of the Hub: models--ORGANISATION--NAME/snapshots/COMMIT
        name = whole.parent.parent.parent.name.rpartition("--")[2]
    return "".join(" " if letter in "{}" or not letter.isprintable() else letter for letter in name).strip() or "model"
