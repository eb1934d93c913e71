"""The rows of the tensor traces that one rank of several measured, with fully_shard on every layer and on the model.

===============  ===================================================================================================
``world``        ranks that share the states
``scheme``       :data:`SCHEMES`: the format of numbers, and in which gradients are reduced
``reshard``      every layer is sharded again after its forward
===============  ===================================================================================================

All else is as in :mod:`~alignsim_plugins.validation.traced_runs`. These rows hold less of a batch (:data:`INPUTS`), and
completions are half of their preference pairs. They measure a first step: a reference is not gathered before it.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from alignsim import Given, Layout, Result, Scenario
from alignsim.errors import suggestion
from alignsim_plugins.validation import traced_runs
from alignsim_plugins.validation.traced_runs import Trace

SCHEMES: Mapping[str, tuple[str, float]] = {
    "fp32_mp": ("bf16-gathered", 4.0),
    "bf16": ("bf16", 0.0),
    "bf16_rfp32": ("bf16", 4.0),
}
"""Precision, and bytes of a gradient that is reduced; 0 if it is as it was made."""

LOSSES: Mapping[str, str] = {"sft": "hf", "dpo": "trl_legacy"}
OWN = ("world", "reshard")
"""Settings that no other row has."""

INPUTS: Mapping[str, float] = {"sft": 8.0, "dpo": 16.0}
"""Bytes of a batch for each token: ids that are the labels as well; of pairs, labels beside them."""

FORWARD = ("forward_layers", "forward_head", "loss")
BACKWARD = ("backward_loss", "backward_head", "backward_last_layer", "backward_first_layer", "backward_end")
SOURCE = "tensor traces: settings"


def sharded(trace: Trace) -> bool:
    """Whether a row is one of these."""
    return bool(trace.settings["sharding"] == "fsdp2")


def scenario(trace: Trace) -> Scenario:
    """Return the run that a row measured.

    Raises:
        InvalidInput: a setting that is not modelled, with the reason.
    """
    s = trace.fields.only((*traced_runs.SETTINGS, *OWN))
    scheme, algo = s.text("scheme"), s.text("algo")
    for name, value, known in (("scheme", scheme, SCHEMES), ("algo", algo, INPUTS)):
        if value not in known:
            raise s.wrong(name, f"{value!r} is not modelled where states are sharded; {suggestion(value, known)}")
    if s.any("lora"):
        raise s.wrong("lora", "adapters are not known where states are sharded")
    prompt = s.count("prompt") or (s.count("seq") // 2 if algo == "dpo" else 0)
    settings = {"attn": "sdpa", "loss_impl": LOSSES[algo], **trace.settings, "prompt": prompt}
    settings = {name: value for name, value in settings.items() if name not in OWN}
    alone = attrs.evolve(trace, settings={**settings, "scheme": "bf16", "sharding": "none"})
    precision, reduced = SCHEMES[scheme]
    numbers = {
        "policy.reduce_bytes": reduced,
        "policy.input_bytes": INPUTS[algo],
        "reshard_after_forward": float(s.flag("reshard")),
    }
    run = traced_runs.scenario(alone)
    return attrs.evolve(
        run,
        components={**run.components, "engine": "fsdp2", "precision": precision},
        layout=Layout(data=s.count("world", 1)),
        givens={**run.givens, **{path: Given(value, source=SOURCE) for path, value in numbers.items()}},
    )


def predicted(trace: Trace) -> dict[str, float]:
    """Return the peak of every phase of a row, in bytes.

    Raises:
        InvalidInput: a setting that is not modelled, with the reason.
    """
    run = scenario(trace).result

    def most(role: str, moments: tuple[str, ...]) -> float:
        values: list[float] = [run.value(f"update:{role}/{moment}.allocated") for moment in moments]
        return max(values)

    left = run.values.get("reference.left_gathered", 0.0)
    found = {
        "forward": most("policy", FORWARD) - left,
        "backward": most("policy", BACKWARD),
        "optimizer": most("policy", ("optimizer_step",)),
    }
    if "reference" in run.graph.parts.algorithm.roles:
        found["ref_forward"] = most("reference", FORWARD)
        found["forward"] = max(found["forward"], between(run))  # its name in a trace covers what is held meanwhile
    return found


def between(run: Result) -> float:
    """Return what is held when the reference's forward is done and the policy's backward not begun."""
    event = next(b for b in run.bindings("update:allocated") if b.event == "update:reference/forward_head")
    return sum(value for path, value in event.terms if not path.startswith("update:reference."))
