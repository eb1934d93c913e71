"""Every configuration file of a large collection gives transformers' count, or a refusal in words."""

from __future__ import annotations

import json
import os
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

import pytest

from alignsim import InvalidInput, default_registry
from alignsim.counts import parameter_counts, total

HERE = Path(__file__).parent
COUNTED = json.loads((HERE / "counts.json").read_text(encoding="utf-8"))["parameters"]


def folder() -> Path | None:
    if "ALIGNSIM_CONFIG_FILES" in os.environ:
        return Path(os.environ["ALIGNSIM_CONFIG_FILES"])
    try:
        package = distribution("aiconfigurator-core")
    except PackageNotFoundError:
        return None
    return Path(str(package.locate_file("aiconfigurator_core/model_configs")))


FOLDER = folder()
FILES = sorted(FOLDER.glob("*config.json")) if FOLDER else []
needs_files = pytest.mark.skipif(not FILES, reason="needs aiconfigurator-core or ALIGNSIM_CONFIG_FILES: see README.md")


@needs_files
def test_there_are_many():
    assert len(FILES) >= 1 if "ALIGNSIM_CONFIG_FILES" in os.environ else len(FILES) == 117


@needs_files
@pytest.mark.parametrize("file", FILES or [None], ids=lambda file: file.stem if file else "none")
def test_counted_or_refused_in_words(file):
    registry = default_registry()
    name, counted = file.stem.removesuffix("_config"), None
    try:
        counted = total(parameter_counts(registry.resolve("architectures", str(file)), registry))
    except InvalidInput as error:
        told = str(error)
    if counted is not None:
        assert counted == COUNTED.get(name, counted)
        return
    family = json.loads(file.read_text(encoding="utf-8")).get("model_type")
    expected = f"models of family {family!r} cannot be described yet: " if family else "how a model is quantised"
    assert expected in told


def test_most_of_what_transformers_counts_is_known():
    known = {family.name for family in default_registry().families.values() if not family.refused}
    assert len(known) >= 30
    assert sum(number is not None for number in COUNTED.values()) >= 75


@needs_files
@pytest.mark.skipif(not (find_spec("torch") and find_spec("transformers")), reason="needs torch and transformers")
@pytest.mark.parametrize("name", ["Qwen--Qwen3-0.6B", "MiniMaxAI--MiniMax-M2.5", "Qwen--Qwen3-VL-30B-A3B-Instruct"])
def test_counted_anew(name):
    count = run_path(str(HERE / "count.py"))["count"]
    assert FOLDER is not None
    assert count(json.loads((FOLDER / f"{name}_config.json").read_text(encoding="utf-8"))) == COUNTED[name]
