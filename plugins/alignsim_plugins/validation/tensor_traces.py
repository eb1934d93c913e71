"""Tensor traces: training steps of real code on fake tensors, the birth and death of every storage logged.

A row has ``settings``, ``arch`` (a ``config.json``) and ``phase_peaks`` in bytes. :func:`predicted` answers for its
phases with scenarios of this project; nothing is fitted to a row. What the settings mean:

===============  ===================================================================================================
``scheme``       the format of numbers: :data:`SCHEMES`
``optim``        the optimizer: :data:`OPTIMIZERS`
``attn``         the attention kernel, ``sdpa`` or ``eager``; ``attn_mask`` ``padded`` where a batch has padding
``gc``           every layer is recomputed in backward
``lora``         None, or adapters: ``r``, ``targets``, ``dropout``, ``dtype``; their reference is the policy itself
``algo``         the algorithm, with or without a reference (``ref``): :data:`ALGORITHMS`
``loss_impl``    the loss path: :data:`LOSSES`; ``entropy`` and ``logits_to_keep`` are options of GRPO's
``batch``        sequences, or pairs; ``seq`` tokens each, of which ``prompt`` are the prompt's
``grad_accum``   micro-batches: the first is a run without accumulation, the second (``forward2``, ...) one with it
===============  ===================================================================================================

What the phases are: :data:`PHASES`. Beside those, ``load`` is the making of one model after the other, each with a
copy of a tied head, and ``optim_init`` is the optimizer's first step, before there are inputs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from alignsim import Architecture, Batch, InvalidInput, Problem, Result, Scenario
from alignsim.errors import suggestion
from alignsim.frozen import FrozenDict, frozen
from alignsim_plugins.architectures.hugging_face import from_config

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
ALGORITHMS: Mapping[tuple[str, bool], str] = {
    ("sft", True): "SFT",
    ("rm", True): "RM",
    ("dpo", True): "DPO",
    ("dpo", False): "DPO-Precomputed",
    ("grpo", True): "GRPO",
    ("grpo", False): "GRPO-Without-Reference",
    ("ppo", True): "TRL-PPO",
    ("generate", True): "Generation",
}
"""By ``algo`` and ``ref``."""

LOSSES: Mapping[tuple[str, str], str] = {
    ("sft", "hf"): "cross-entropy",
    ("sft", "trl_fused"): "trl-fused",
    ("rm", "hf"): "score",
    ("dpo", "naive"): "naive",
    ("dpo", "naive_fp32"): "naive-fp32",
    ("dpo", "trl_legacy"): "trl-dpo",
    ("dpo", "trl_legacy_hs"): "trl-dpo-hidden-states",
    ("dpo", "trl_fused"): "trl-fused",
    ("grpo", "trl_legacy"): "trl-grpo",
    ("grpo", "trl_fused"): "trl-fused",
    ("ppo", "trl_legacy"): "trl-ppo",
}
"""By ``algo`` and ``loss_impl``."""

FORWARD = ("forward_layers", "forward_head", "loss")
BACKWARD = ("backward_loss", "backward_head", "backward_last_layer", "backward_first_layer", "backward_end")
PHASES: Mapping[str, Mapping[str, tuple[tuple[str, str, tuple[str, ...]], ...]]] = {
    "SFT": {
        "forward": (("update", "policy", FORWARD),),
        "backward": (("update", "policy", BACKWARD),),
        "optimizer": (("update", "policy", ("optimizer_step",)),),
    },
    "RM": {
        "forward": (("update", "reward", FORWARD),),
        "backward": (("update", "reward", BACKWARD),),
        "optimizer": (("update", "reward", ("optimizer_step",)),),
    },
    "GRPO": {"rollout": (("score", "policy", FORWARD),)},
    "DPO": {"ref_forward": (("update", "reference", FORWARD),)},
    "TRL-PPO": {
        "rollout": (("score", "policy", FORWARD),),
        "forward": (("update", "critic", FORWARD), ("update", "policy", FORWARD)),
        "backward": (("update", "policy", BACKWARD), ("update", "critic", BACKWARD)),
        "optimizer": (("update", "policy", ("optimizer_step",)), ("update", "critic", ("optimizer_step",))),
        "post": (("update", "policy", ("statistics",)),),
    },
    "Generation": {
        "prefill": (("generate", "policy", ("prefill",)),),
        "decode": (("generate", "policy", ("decode",)),),
    },
}
"""Algorithm -> phase of a trace -> phase, role and moments. DPO and GRPO have SFT's as well."""

TRAINS = {"sft": "policy", "dpo": "policy", "grpo": "policy", "ppo": "policy", "rm": "reward"}
KEPT = ("kept_logits", "kept_hidden_states")
"""What PPO's step still holds of a forward, which is not there yet at the optimizer's first step."""


@attrs.frozen(kw_only=True)
class Trace:
    """One row.

    Attributes:
        settings: what ran.
        arch: the model's ``config.json``.
        peaks: phase -> bytes, as measured.
    """

    settings: Mapping[str, Any] = attrs.field(converter=frozen)
    arch: Mapping[str, Any] = attrs.field(converter=frozen)
    peaks: Mapping[str, float] = attrs.field(factory=FrozenDict, converter=frozen)

    @property
    def name(self) -> str:
        """What tells this row from others, in a line."""
        s = self.settings
        parts = [s["model"], s["algo"], s["loss_impl"], s["scheme"], s["optim"], s["attn"], f"{s['batch']}x{s['seq']}"]
        parts += ["recompute"] * bool(s["gc"]) + ["lora"] * bool(s["lora"])
        return " ".join(str(part) for part in parts)


def read(path: str | Path) -> Iterator[Trace]:
    """Yield the rows of a file."""
    for row in json.loads(Path(path).read_text())["rows"]:
        yield Trace(settings=row["settings"], arch=row["arch"], peaks=row["phase_peaks"])


def scenario(trace: Trace, accumulation_steps: int = 1) -> Scenario:
    """Return the run that a row measured.

    Raises:
        InvalidInput: a setting that is not modelled, with the reason.
    """
    s = trace.settings
    algo, lora = s["algo"], s["lora"]
    for setting in ("value_model", "moe_impl"):
        if s.get(setting) not in (None, "grouped_mm"):
            raise InvalidInput(Problem(setting, f"{s[setting]!r}: only the policy's own shape and way are known"))
    algorithm = _known("algo", ALGORITHMS, (algo, bool(s.get("ref", True)) or algo not in ("dpo", "grpo")))
    loss = None if algo == "generate" else _known("loss_impl", LOSSES, (algo, s["loss_impl"]))
    model = from_config(trace.arch, name=s["model"], source="tensor traces: arch")
    components: dict[str, Any] = {
        "precision": _known("scheme", SCHEMES, s["scheme"]),
        "optimizer": _known("optim", OPTIMIZERS, s["optim"]),
        "adapter": "lora" if lora else "full",
        "recompute": "full" if s["gc"] else "none",
        "attention": s["attn"],
        "engine": "single-device",
        "layers": "transformers",
        "packing": "padded" if s["attn_mask"] == "padded" else "equal",
        "rollout": "transformers-cache" if algo == "generate" else "none",
    }
    if loss:
        components["loss"] = loss
    if algo == "ppo":
        components |= {"critic.loss": "trl-ppo-value", "reward.loss": "score"}
    if lora and algo in ("dpo", "grpo") and algorithm in ("DPO", "GRPO"):
        components["reference.engine"] = "same-weights"
    return Scenario(
        name=trace.name,
        algorithm=algorithm,
        models=_models(algo, model),
        components=components,
        batch=_batch(s, accumulation_steps),
        givens=_givens(s, loss),
    )


def _models(algo: str, model: Architecture) -> dict[str, Architecture]:
    if algo == "rm":
        return {"reward": model.with_scalar_head()}
    return {"policy": model, "critic": model.with_scalar_head()} if algo == "ppo" else {"policy": model}


def _batch(s: Mapping[str, Any], accumulation_steps: int) -> Batch:
    if s["algo"] == "generate":
        return Batch(
            rollout_sequences=s["batch"], rollout_tokens=s["seq"], prompt_tokens=s["seq"] - s["gen_tokens"]
        )
    return Batch(
        micro_batch=s["batch"],
        sequence_tokens=s["seq"],
        prompt_tokens=s["prompt"],
        accumulation_steps=accumulation_steps,
    )


def _givens(s: Mapping[str, Any], loss: str | None) -> dict[str, float]:
    found: dict[str, float] = {}
    if loss == "trl-grpo":
        found |= {"policy.entropy": float(s["entropy"]), "policy.logits_to_keep": float(s["logits_to_keep"])}
    if s["lora"]:
        found |= lora_givens(s["lora"])
    return found


def lora_givens(lora: Mapping[str, Any]) -> dict[str, float]:
    """Return the inputs of adapters of low rank."""
    raise InvalidInput(Problem("lora", "adapters are not modelled"))


def _known(field: str, table: Mapping[Any, str], value: Any) -> str:
    if value not in table:
        hint = suggestion(str(value), [str(key) for key in table])
        raise InvalidInput(Problem(field, f"{value!r} is not modelled; {hint}"))
    return table[value]


def predicted(trace: Trace) -> dict[str, float]:
    """Return the peak of every phase of a row, in bytes.

    Raises:
        InvalidInput: a setting that is not modelled, with the reason.
    """
    run = scenario(trace).result
    found = _phases(run)
    if trace.settings["algo"] == "generate":
        return found
    found["load"] = _load(run)
    found["optim_init"] = _first_step(run, trace)
    steps = trace.settings["grad_accum"]
    if steps > 1:
        again = scenario(trace, steps).result
        later = _phases(again)
        role = TRAINS[trace.settings["algo"]]
        found |= {"forward2": later["forward"], "backward2": later["backward"]}
        end = again.value(f"update:{role}/backward_end.device")
        found["bwd_end2"] = end - again.value(f"update:{role}.gradients_at_the_end")
        if "ref_forward" in found:  # the phases' names in a trace cover the second micro-batch as well
            found["ref_forward"] = max(found["ref_forward"], later["ref_forward"])
            found["forward"] = max(found["forward"], _between(again))
    return found


def _phases(run: Result) -> dict[str, float]:
    algorithm = run.graph.parts.algorithm.name
    family = algorithm.partition("-")[0] if not algorithm.startswith("TRL") else algorithm
    table = {**(PHASES["SFT"] if family in ("DPO", "GRPO") else {}), **PHASES[family]}
    roles = run.graph.parts.algorithm.roles
    return {
        phase: max(run.value(f"{where}:{role}/{m}.device") for where, role, ms in places for m in ms)
        for phase, places in table.items()
        if all(role in roles for _, role, _ in places)
    }


def _load(run: Result) -> float:
    """Models are made one after the other; a language model is made with a head of its own, and tied then."""
    total, most = 0.0, 0.0
    model = next(iter(run.scenario.models.values()))
    copy = model.tied * model.vocab * model.hidden
    for role in run.graph.parts.algorithm.roles:
        held = run.values.get(f"{role}.held_weights", 0.0)
        total += held
        if held and role in ("policy", "reference"):
            weights = run.value(f"{role}.weights")
            most = max(most, total - held + weights + copy * run.value(f"{role}.weight_bytes"))
    return max(most, total)


def _first_step(run: Result, trace: Trace) -> float:
    role = TRAINS[trace.settings["algo"]]
    joint = trace.settings["algo"] == "ppo"
    event = f"update:{'critic' if joint else role}/optimizer_step.device"
    absent = [f"{r}.held_inputs" for r in ("policy", "critic", "reward")]
    absent += [f"update:{role}.{name}" for name in KEPT]
    cast = trace.settings["scheme"] == "bf16_master" and trace.settings["optim"] == "adamw_fused"
    if cast:  # gradients are made in 32 bits there
        absent += [f"{r}.step_memory" for r in ("policy", "critic", "reward")]
    return run.value(event) - sum(run.values.get(path, 0.0) for path in absent)


def _between(run: Result) -> float:
    """What the second micro-batch holds when the reference's forward is done and the policy's backward not begun."""
    event = next(b for b in run.bindings("update:device") if b.event == "update:reference/forward_head")
    return sum(value for path, value in event.terms if not path.startswith("update:reference."))
