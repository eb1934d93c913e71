"""The run that a row of the tensor traces measured: what every setting means, and what is refused.

===============  ===================================================================================================
``scheme``       the format of numbers: :data:`SCHEMES`
``optim``        the optimizer: :data:`OPTIMIZERS`
``attn``         the attention kernel: :data:`KERNELS`; ``attn_mask`` is ``padded`` where a batch has padding
``gc``           every layer is recomputed in backward
``lora``         None, or adapters: ``r``, ``targets``, ``dropout``, ``dtype``; their reference is the policy itself
``algo``         the algorithm, with or without a reference (``ref``): :data:`ALGORITHMS`
``loss_impl``    the loss path: :data:`LOSSES`; ``entropy`` and ``logits_to_keep`` are options of GRPO's
``batch``        sequences, or pairs; ``seq`` tokens each, of which ``prompt`` are the prompt's
``gen_tokens``   tokens that are generated, where nothing else is done
``value_model``  the value model's shape, where it is not the policy's
``clip``         and :data:`BESIDE`'s others change nothing; any other setting is refused
===============  ===================================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import attrs

from alignsim import Architecture, Batch, Given, Scenario, default_registry
from alignsim.errors import InvalidInput, suggestion
from alignsim.fields import Fields
from alignsim.frozen import FrozenDict, frozen
from alignsim.jsonfile import Document
from alignsim.shapes import shape_of

T = TypeVar("T")

SCHEMES: Mapping[str, str] = {
    "bf16": "bf16",
    "fp32": "fp32",
    "amp": "autocast-fp32",
    "bf16_amp": "autocast-bf16",
    "bf16_master": "bf16-master",
}
OPTIMIZERS: Mapping[str, str] = {
    "adamw_foreach": "adamw-foreach",
    "adamw_fused": "adamw-fused",
    "sgd": "sgd",
    "sgdm": "sgd-momentum",
}
KERNELS: Mapping[str, str] = {"sdpa": "sdpa", "eager": "eager", "flash_attention_2": "flash"}
BATCHES: Mapping[str, str] = {"none": "equal", "padded": "padded"}
ALGORITHMS: Mapping[str, tuple[str, str]] = {
    "sft": ("SFT", "SFT"),
    "rm": ("RM", "RM"),
    "dpo": ("DPO-No-Ref", "DPO"),
    "grpo": ("GRPO-No-KL", "GRPO"),
    "ppo": ("TRL-PPO", "TRL-PPO"),
    "generate": ("Generation", "Generation"),
}
"""Without a reference, and with one."""

LOSSES: Mapping[str, str] = {
    "sft hf": "cross-entropy",
    "sft trl_fused": "trl-fused",
    "rm hf": "score",
    "dpo naive": "naive",
    "dpo naive_fp32": "naive-fp32",
    "dpo trl_legacy": "trl-dpo",
    "dpo trl_legacy_hs": "trl-dpo-hidden-states",
    "dpo trl_fused": "trl-fused",
    "grpo trl_legacy": "trl-grpo",
    "grpo trl_fused": "trl-fused",
    "ppo trl_legacy": "trl-ppo",
}
"""By ``algo`` and ``loss_impl``."""

PROJECTIONS: Mapping[str, str] = {
    "q_proj": "query",
    "k_proj": "key",
    "v_proj": "value",
    "o_proj": "output",
    "gate_proj": "gate",
    "up_proj": "up",
    "down_proj": "down",
}
ADAPTERS: Mapping[str, float] = {"fp32": 4.0, "bf16": 2.0}
"""Bytes of a parameter of an adapter, by ``dtype``."""

DEFAULTS: Mapping[str, Any] = {
    "lora": None,
    "prompt": 0,
    "grad_accum": 1,
    "attn_mask": "none",
    "entropy": True,
    "ref": True,
    "logits_to_keep": True,
    "gen_tokens": 128,
    "value_model": None,
    "moe_impl": None,
    "layers": None,
    "sharding": "none",
}
"""What a row need not say."""


BESIDE = ("clip", "mode", "device", "rollout")
"""What a row may say that changes nothing of what is predicted."""

SETTINGS = (
    *("model", "scheme", "optim", "attn", "gc", "algo", "loss_impl", "batch", "seq"),
    *DEFAULTS,
    *BESIDE,
)
"""All that a row can say."""


def _settings(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return frozen({**DEFAULTS, **given})


@attrs.frozen(kw_only=True)
class Trace:
    """One row.

    Attributes:
        settings: what ran.
        arch: the model's ``config.json``; empty if it is one of the catalogue.
        peaks: phase -> bytes, as measured.
        place: where it is in a file, for messages.
    """

    settings: Mapping[str, Any] = attrs.field(converter=_settings)
    arch: Mapping[str, Any] = attrs.field(converter=frozen)
    peaks: Mapping[str, float] = attrs.field(factory=FrozenDict, converter=frozen)
    place: str = "row"

    @property
    def fields(self) -> Fields:
        """The settings, each with its place."""
        return Fields(self.settings, f"{self.place}.settings")

    @property
    def name(self) -> str:
        """What tells this row from most others, in a line."""
        s = self.fields
        parts = [s.text(name) for name in ("model", "algo", "loss_impl", "scheme", "optim", "attn")]
        parts += [f"{s.count('batch')}x{s.count('seq')}"]
        return " ".join([*parts, *["recomputed"] * s.flag("gc"), *["lora"] * bool(s.any("lora"))])


def scenario(trace: Trace, accumulation_steps: int = 1) -> Scenario:
    """Return the run that a row measured.

    Raises:
        InvalidInput: a setting that is not modelled, with the reason.
    """
    s = trace.fields
    _refuse(s)
    s.only(SETTINGS)
    algo, lora = s.text("algo"), s.any("lora")
    algorithm = ALGORITHMS[algo][s.flag("ref")]
    model = _model(trace)
    components: dict[str, Any] = {
        "precision": _known(s, "scheme", SCHEMES),
        "optimizer": _known(s, "optim", OPTIMIZERS),
        "adapter": "lora" if lora else "full",
        "recompute": "full" if s.flag("gc") else "none",
        "attention": _known(s, "attn", KERNELS),
        "engine": "single-device",
        "layers": "transformers",
        "packing": _known(s, "attn_mask", BATCHES),
        "rollout": "transformers-cache" if algo == "generate" else "none",
    }
    if algo != "generate":
        components["loss"] = _loss(s)
    if algo == "ppo":
        components |= {"critic.loss": "trl-ppo-value", "reward.loss": "score"}
    if lora and algorithm in ("DPO", "GRPO"):
        components["reference.engine"] = "same-weights"
    return Scenario(
        name=trace.name,
        algorithm=default_registry().resolve("algorithms", algorithm),
        models=_models(s, model),
        components=components,
        batch=_batch(s, accumulation_steps),
        givens={path: Given(value, source="tensor traces: settings") for path, value in _givens(s).items()},
    )


def _model(trace: Trace) -> Architecture:
    """Return the model that a row describes, or the one that its name means."""
    name = trace.fields.text("model")
    if not trace.arch:
        return _of_catalogue(trace.fields)
    try:
        return _of_file(trace.arch, name)
    except InvalidInput as error:
        problems = (attrs.evolve(problem, origin=None) for problem in error.problems)
        raise InvalidInput(problems).inside(f"{trace.place}.arch") from None


def _of_file(arch: Mapping[str, Any], name: str) -> Architecture:
    """Return the model that a configuration file as transformers has it describes."""
    return shape_of(Document("arch", "", arch), default_registry().families, name).architecture


def _refuse(s: Fields) -> None:
    """Refuse what no scenario stands for."""
    for name, fine, why in (
        ("sharding", (None, "none"), "sharded states are only known as 'fsdp2'"),
        ("moe_impl", (None, "grouped_mm"), "experts are only known as grouped matrix multiplications"),
        ("layers", (None,), "the number of layers is the one of arch"),
    ):
        if s.any(name) not in fine:
            raise s.wrong(name, f"{s.any(name)!r}: {why}")
    if s.text("algo") == "generate" and s.text("attn") == "eager":
        raise s.wrong("attn", "'eager': whole scores are not modelled where nothing but generation is done")
    _known(s, "algo", ALGORITHMS)
    if s.any("lora") and s.text("algo") not in ("sft", "dpo", "grpo"):
        raise s.wrong("lora", f"adapters are not known in {s.text('algo')!r}")


def _loss(s: Fields) -> str:
    key = f"{s.text('algo')} {s.text('loss_impl')}"
    if key not in LOSSES:
        raise s.wrong("loss_impl", f"{key!r} is not modelled; {suggestion(key, LOSSES)}")
    return LOSSES[key]


def _models(s: Fields, model: Architecture) -> dict[str, Architecture]:
    if s.text("algo") == "rm":
        return {"reward": model.with_scalar_head()}
    if s.text("algo") != "ppo":
        return {"policy": model}
    value = model if s.any("value_model") is None else _of_catalogue(s, "value_model")
    return {"policy": model, "critic": value.with_scalar_head()}


def _of_catalogue(s: Fields, field: str = "model") -> Architecture:
    """Return the model that is called so, however it is written: ``llama2-7b`` is Llama-2-7B."""
    name = s.text(field)
    models = default_registry().architectures
    found = [known for known in models if _letters(known) == _letters(name)]
    if not found:
        raise s.wrong(field, f"no model {name!r}; {suggestion(name, models)}")
    return models[found[0]]


def _letters(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


def _batch(s: Fields, accumulation_steps: int) -> Batch:
    rows, tokens = s.count("batch", 1), s.count("seq", 1)
    if s.text("algo") == "generate":
        fresh = s.count("gen_tokens")
        if fresh > tokens:
            raise s.wrong("gen_tokens", f"{fresh} are more than the {tokens} of seq")
        return Batch(rollout_sequences=rows, rollout_tokens=tokens, prompt_tokens=tokens - fresh)
    prompt = s.count("prompt")
    if prompt > tokens:
        raise s.wrong("prompt", f"{prompt} tokens are more than the {tokens} of seq")
    return Batch(
        micro_batch=rows,
        sequence_tokens=tokens,
        prompt_tokens=prompt,
        accumulation_steps=accumulation_steps,
    )


def _givens(s: Fields) -> dict[str, float]:
    found: dict[str, float] = {}
    if s.text("algo") == "grpo" and s.text("loss_impl") == "trl_legacy":
        found = {name: float(s.flag(name)) for name in ("entropy", "logits_to_keep")}
    if s.any("lora"):
        found |= _adapters(s.inside("lora"))
    return {f"policy.{name}": value for name, value in found.items()}


def _adapters(lora: Fields) -> dict[str, float]:
    """Return the numbers of adapters; without ``targets``, they sit on all linear layers."""
    lora.only(("r", "targets", "dropout", "dtype"))
    targets = lora.data["targets"] if lora.data.get("targets") is not None else tuple(PROJECTIONS)
    if not isinstance(targets, list | tuple) or not targets or not all(isinstance(target, str) for target in targets):
        raise lora.wrong("targets", f"expected a list of projections, at least one, got {targets!r}")
    unknown = [target for target in targets if target not in PROJECTIONS]
    if unknown:
        raise lora.wrong("targets", f"no projection {unknown[0]!r}; {suggestion(str(unknown[0]), PROJECTIONS)}")
    return {
        "lora_rank": lora.count("r", 1),
        "lora_dropout": lora.number("dropout"),
        "adapter_bytes": _known(lora, "dtype", ADAPTERS),
        **{f"adapts_{name}": float(target in targets) for target, name in PROJECTIONS.items()},
    }


def _known(fields: Fields, name: str, table: Mapping[str, T]) -> T:
    """Return what a table has for a setting."""
    value = fields.text(name)
    if value not in table:
        raise fields.wrong(name, f"{value!r} is not modelled; {suggestion(value, table)}")
    return table[value]
