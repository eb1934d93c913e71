"""Distributions that are not there, installed into a folder of their own."""

import importlib
import importlib.metadata
import sys
from textwrap import dedent

import pytest

from alignsim import default_registry


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return ``install(name, entry_points, files)``; only what it installs is discovered."""
    everything, before = importlib.metadata.entry_points, set(sys.modules)
    installed = []

    def ours(*, group):
        return importlib.metadata.EntryPoints(p for p in everything(group=group) if p.dist and p.dist.name in installed)

    def install(name, points, files, version="0.1"):
        site = tmp_path / name
        for path, text in files.items():
            (site / path).parent.mkdir(parents=True, exist_ok=True)
            (site / path).write_text(dedent(text), encoding="utf-8")
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        lines = "".join(f"{point} = {value}\n" for point, value in points.items())
        (info / "entry_points.txt").write_text(f"[alignsim]\n{lines}", encoding="utf-8")
        monkeypatch.syspath_prepend(str(site))
        installed.append(name)
        return site

    monkeypatch.setattr(importlib.metadata, "entry_points", ours)
    monkeypatch.delenv("ALIGNSIM_DISABLE_PLUGINS", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    default_registry.cache_clear()
    yield install
    default_registry.cache_clear()
    for module in set(sys.modules) - before:
        if not module.startswith("alignsim."):
            del sys.modules[module]
