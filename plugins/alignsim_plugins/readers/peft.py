"""An adapter from its ``adapter_config.json``, as PEFT writes it: a component whose numbers are the file's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from alignsim import Component, Const, Found, InvalidInput, Problem, Reader, Registry, hookimpl
from alignsim.errors import suggestion
from alignsim.fields import Fields, short
from alignsim.jsonfile import Document, read_document
from alignsim_plugins.readers.paths import ADAPTER, MOST, is_adapter

VERSION = "peft 0.21, LoraConfig"
PARTS: Mapping[str, tuple[str, ...]] = {
    "query": ("q_proj", "q_a_proj", "q_b_proj"),
    "key": ("k_proj", "kv_a_proj_with_mqa"),
    "value": ("v_proj", "kv_b_proj"),
    "output": ("o_proj", "out_proj"),
    "gate": ("gate_proj",),
    "up": ("up_proj", "fc1", "fc_in"),
    "down": ("down_proj", "fc2", "fc_out"),
}
"""What an adapter can sit on, and how the modelling code of transformers calls it in the families that are known."""
PART_OF = {module: part for part, modules in PARTS.items() for module in modules}
BEFORE = ("self_attn", "attn", "mlp")
"""What may stand before such a name without narrowing it to some layers."""
ALL = "all-linear"
FUSED = frozenset({"qkv_proj", "gate_up_proj", "c_attn", "query_key_value", "Wqkv", "in_proj", "c_proj", "c_fc"})
IDLE: Mapping[str, str] = {
    "modules_to_save": "modules that are trained in full beside adapters",
    "layers_to_transform": "adapters on some layers only",
    "rank_pattern": "ranks that differ from layer to layer",
    "exclude_modules": "modules that are left out by name",
    "target_parameters": "adapters on parameters that are no modules",
    "trainable_token_indices": "rows of the embedding that are trained",
    "layer_replication": "layers that are there several times",
    "lora_bias": "adapters with a bias",
}
"""Keys that no component here knows how to count; they must be absent, empty or false."""


def read_adapter(text: str, registry: Registry) -> Found:
    """Return the adapter that a path leads to.

    Raises:
        InvalidInput: nothing is there, it is wrong, or it is of a kind that is not known; each problem with its line.
    """
    path = Path(os.path.expanduser(text))
    document = read_document(path / ADAPTER if os.path.isdir(path) else path, MOST)
    try:
        return _adapter(document, Fields(document.content), registry)
    except InvalidInput as error:
        raise document.located(error) from None


def _adapter(document: Document, config: Fields, registry: Registry) -> Found:
    problems: list[Problem] = []
    found: dict[str, Any] = {}
    for name, read in (("kind", _kind), ("lora_rank", _rank), ("lora_dropout", _dropout), ("targets", _targets)):
        try:
            found[name] = read(config)
        except InvalidInput as error:
            problems += error.problems
    problems += _unknown(config)
    if problems:
        raise InvalidInput(problems)

    def told(value: float, key: str) -> Const:
        return Const(value, source=f"{document.origin(config.at(key))}, {key}" if key in config.data else VERSION)

    numbers = {"lora_rank": told(found["lora_rank"], "r"), "lora_dropout": told(found["lora_dropout"], "lora_dropout")}
    numbers |= {f"adapts_{part}": told(int(part in found["targets"]), "target_modules") for part in PARTS}
    known: Component = registry.component("adapter", found["kind"])
    component = attrs.evolve(known, defaults={**known.defaults, **numbers}, source=f"{known.source}; {document.file}")
    return Found(component, tuple(_notes(config, registry)))


def _kind(config: Fields) -> str:
    kind = config.text("peft_type") if "peft_type" in config.data else ""
    if kind != "LORA":
        raise config.wrong("peft_type", f"expected 'LORA', got {short(kind)}; no other adapter is known here")
    return "dora" if config.data.get("use_dora") is not None and config.flag("use_dora") else "lora"


def _rank(config: Fields) -> int:
    rank = config.count("r", least=1) if "r" in config.data else 8
    if rank > 2**20:
        raise config.wrong("r", f"{short(rank)} is no rank: at most {2**20:,} is taken for one")
    return rank


def _dropout(config: Fields) -> float:
    rate = config.number("lora_dropout") if config.data.get("lora_dropout") is not None else 0.0
    if not 0 <= rate < 1:
        raise config.wrong("lora_dropout", f"expected a rate from 0 to below 1, got {short(rate)}")
    return rate


def _targets(config: Fields) -> frozenset[str]:
    targets = config.any("target_modules")
    if targets == ALL:
        return frozenset(PARTS)
    if not isinstance(targets, list) or not targets or not all(isinstance(target, str) for target in targets):
        raise config.wrong("target_modules", f"expected {ALL!r} or a list of names, got {short(targets)}")
    problems, names = [], set()
    for index, target in enumerate(targets[:1000]):
        before, _, name = target.rpartition(".")
        names.add(name)
        place = config.at(f"target_modules[{index}]")
        if name in FUSED:
            problems.append(
                Problem(place, f"{name!r} is several projections in one, on which no adapter is known here")
            )
        elif name not in PART_OF or before not in ("", *BEFORE):
            message = f"no projection is known as {short(target)}; {suggestion(name[:40], PART_OF)}"
            problems.append(Problem(place, message))
    if ("q_a_proj" in names) != ("q_b_proj" in names):
        problems.append(
            Problem(config.at("target_modules"), "has one of q_a_proj and q_b_proj; both or none are known")
        )
    if problems:
        raise InvalidInput(problems[:20])
    return frozenset(PART_OF[name] for name in names)


def _unknown(config: Fields) -> Iterator[Problem]:
    for key, what in IDLE.items():
        if config.data.get(key):
            yield Problem(config.at(key), f"{what}: not known here")
    bias = config.data.get("bias", "none")
    if bias != "none":
        yield Problem(
            config.at("bias"), f"expected 'none', got {short(bias)}: biases that are trained are not known here"
        )


def _notes(config: Fields, registry: Registry) -> Iterator[str]:
    base = config.data.get("base_model_name_or_path")
    if isinstance(base, str) and base:
        models = registry.architectures
        known = f"{models[base].name} of the catalogue" if base in models else "not in the catalogue; give its path"
        yield f"its base model: {short(base)[1:-1]}, {known}"
    yield "whether that is in four bits is not in the file; if so, -c adapter=qlora and these numbers by --set"
    yield "in a run: -c adapter=PATH, and for a reference that is the policy itself, -c reference.engine=same-weights"


@hookimpl
def alignsim_readers() -> Iterator[Reader]:
    """Offer it."""
    yield Reader(
        name="adapter-files",
        catalogue="components",
        claims=is_adapter,
        read=read_adapter,
        about="adapter_config.json of PEFT, or its folder",
    )
