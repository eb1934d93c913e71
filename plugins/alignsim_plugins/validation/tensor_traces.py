"""Tensor traces: training steps of real code on fake tensors, the birth and death of every storage logged.

A row has ``settings``, ``arch`` (a ``config.json``), ``phase_peaks`` and ``peak_bytes``. Scenarios of this project
answer for it, see :mod:`~alignsim_plugins.validation.traced_runs`; nothing is fitted to a row. ``rows_fsdp2``, of one
rank of several, are alike, see :mod:`~alignsim_plugins.validation.traced_shards`; one without ``arch`` has its model's.
A phase is the largest total over some instants of one scenario (:data:`PHASES`), or something of its own
(:data:`OTHERS`). Of a row with several micro-batches and a reference, ``forward`` and ``ref_forward`` cover the second
micro-batch as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from alignsim import Case, InvalidInput, Result, Validation, hookimpl
from alignsim.errors import suggestion
from alignsim.fields import Fields
from alignsim.validation import Refusal
from alignsim_plugins.validation import traced_shards
from alignsim_plugins.validation.traced_runs import Trace, scenario
from alignsim_plugins.validation.traced_shards import between, sharded

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

SECOND = {"forward2": "forward", "backward2": "backward"}
"""Phase of a trace -> the same of a first micro-batch. Of the second, when gradients exist already."""

OTHERS: Mapping[str, str] = {
    **{phase: f"`{first}` of the second micro-batch, when gradients exist already" for phase, first in SECOND.items()},
    "bwd_end2": "the end of the second micro-batch's backward: what there is between steps, and all gradients",
    "load": "models are made one after the other, each with a copy of a head that is tied later",
    "optim_init": "the optimizer's first step, before there are inputs",
    "grow": "a trace does not decode every token: it makes the cache of all but two at once, one layer after another, "
    "and keys and values of the last one exist twice",
}
"""Phase of a trace -> what it is, where it is not just the moments of a phase."""

BESIDE = frozenset({"load", "optim_init", "grow", "bwd_end2"})
"""Phases that do not count for a row's peak."""

NAMES = tuple(dict.fromkeys((*(phase for table in PHASES.values() for phase in table), *OTHERS)))
"""Every phase that a trace may have."""

TRAINS = {"sft": "policy", "dpo": "policy", "grpo": "policy", "ppo": "policy", "rm": "reward"}
KEPT = ("kept_logits", "kept_hidden_states")
"""What PPO's step still holds of a forward, which is not there yet at the optimizer's first step."""


ROWS = ("rows", "rows_fsdp2")
"""Where a file has its rows: of one device, and of one rank of several. One of the two will do."""


def _rows(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a file's content, each with its place."""
    fields = Fields(data)
    for name in [name for name in ROWS if name in fields.data] or ROWS[:1]:
        rows = fields.any(name)
        if not isinstance(rows, list):
            raise fields.wrong(name, "expected a list of rows")
        yield from ((f"{name}[{index}]", row) for index, row in enumerate(rows))


def _trace(row: Fields, shapes: dict[str, Any]) -> Trace:
    """Return a row; one without a shape has that of its model, if a row before it told."""
    peaks = row.inside("phase_peaks")
    settings = row.inside("settings")
    model = settings.text("model")
    arch = row.inside("arch").data if "arch" in row.data else shapes.get(model, {})
    if "arch" in row.data and not arch:
        raise row.wrong("arch", "is empty; leave it out where the model is one of the catalogue")
    shapes.setdefault(model, arch)
    unknown = [phase for phase in peaks.data if phase not in NAMES]
    if unknown:
        raise peaks.wrong(unknown[0], f"no such phase; {suggestion(unknown[0], NAMES)}")
    if "params" in row.data:
        counted = row.inside("params")
        for part in counted.data:
            counted.count(part)
    return Trace(
        settings=settings.data,
        arch=arch,
        peaks={phase: peaks.number(phase) for phase in peaks.data},
        place=row.place,
    )


def traces(data: Any) -> Iterator[Trace]:
    """Yield the rows of a file's content.

    Raises:
        InvalidInput: a row that lacks something, with its place.
    """
    shapes: dict[str, Any] = {}
    for place, row in _rows(data):
        yield _trace(Fields(row, place), shapes)


def cases(data: Any) -> Iterator[Case | Refusal]:
    """Yield the rows of a file's content as cases to compare; a row that lacks something is refused by itself.

    Raises:
        InvalidInput: it has no rows.
    """
    shapes: dict[str, Any] = {}
    for place, row in _rows(data):
        key = row.get("key", place) if isinstance(row, dict) else place
        try:
            yield _case(Fields(row, place), shapes)
        except InvalidInput as error:
            yield Refusal(str(key), str(error), wrong=True)


def _case(row: Fields, shapes: dict[str, Any]) -> Case:
    trace = _trace(row, shapes)
    return Case(
        key=row.text("key") if "key" in row.data else row.place,
        measured_peak=row.number("peak_bytes"),
        measured_phase=row.text("peak_phase", among=NAMES) if "peak_phase" in row.data else None,
        measured_phases={phase: peak for phase, peak in trace.peaks.items() if phase not in BESIDE},
        predict=lambda: _of_its_own_phases(trace),
    )


def _of_its_own_phases(trace: Trace) -> dict[str, float]:
    """Return the peak of every phase that counts for a row's.

    Raises:
        InvalidInput: it measured a phase that its algorithm has not.
    """
    try:
        found = predicted(trace)
    except InvalidInput as error:
        raise _in_its_row(error, trace) from None
    strange = [phase for phase in trace.peaks if phase not in found]
    if strange:
        peaks = Fields(trace.peaks, f"{trace.place}.phase_peaks")
        raise peaks.wrong(strange[0], f"{trace.settings['algo']!r} has no such phase; {suggestion(strange[0], found)}")
    return {phase: value for phase, value in found.items() if phase not in BESIDE}


def _in_its_row(error: InvalidInput, trace: Trace) -> InvalidInput:
    """Return an error whose problems are all placed in the row."""
    return InvalidInput(
        p if p.field.startswith(trace.place) else attrs.evolve(p, field=f"{trace.place}: {p.field}")
        for p in error.problems
    )


def predicted(trace: Trace) -> dict[str, float]:
    """Return the peak of every phase of a row, in bytes.

    Raises:
        InvalidInput: a setting that is not modelled, with the reason.
    """
    if sharded(trace):
        return traced_shards.predicted(trace)
    run = scenario(trace).result
    found = _phases(run)
    found["load"] = _load(run)
    if trace.settings["algo"] == "generate":
        return found | {"grow": _grown(run)}
    found["optim_init"] = _first_step(run, trace)
    steps = Fields(trace.settings, "settings").count("grad_accum", 1)
    if steps > 1:
        again = scenario(trace, steps).result
        later = _phases(again)
        role = TRAINS[trace.settings["algo"]]
        found |= {phase: later[first] for phase, first in SECOND.items()}
        end = again.value(f"update:{role}/backward_end.allocated")
        found["bwd_end2"] = end - again.value(f"update:{role}.gradients_at_the_end")
        if "ref_forward" in found:  # the phases' names in a trace cover the second micro-batch as well
            found["ref_forward"] = max(found["ref_forward"], later["ref_forward"])
            found["forward"] = max(found["forward"], between(again))
    return found


def _phases(run: Result) -> dict[str, float]:
    algorithm = run.graph.parts.algorithm.name
    family = algorithm.partition("-")[0] if not algorithm.startswith("TRL") else algorithm
    table = {**(PHASES["SFT"] if family in ("DPO", "GRPO") else {}), **PHASES[family]}
    roles = run.graph.parts.algorithm.roles
    return {
        phase: max(run.value(f"{where}:{role}/{m}.allocated") for where, role, ms in places for m in ms)
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
    event = f"update:{'critic' if joint else role}/optimizer_step.allocated"
    absent = [f"{r}.held_inputs" for r in ("policy", "critic", "reward")]
    absent += [f"update:{role}.{name}" for name in KEPT]
    cast = trace.settings["scheme"] == "bf16_master" and trace.settings["optim"] != "adamw_foreach"
    if cast:  # gradients are made in 32 bits there
        absent += [f"{r}.step_memory" for r in ("policy", "critic", "reward")]
    return run.value(event) - sum(run.values.get(path, 0.0) for path in absent)


def _grown(run: Result) -> float:
    """The cache of all but two tokens is made without generating them; no step of generation does that."""
    tokens = run.value("rollout_tokens") - 2
    grown = run.scenario.using(rollout_tokens=int(tokens)).result
    made_twice = grown.value("policy.cached_token") * run.value("rollout_sequences") * tokens
    peak: float = (
        grown.value("generate:policy/decode.allocated") - grown.value("policy.decode_working_set") + made_twice
    )
    return peak


@hookimpl
def alignsim_validations() -> Iterator[Validation]:
    """Offer the tensor traces."""
    yield Validation(name="tensor-traces", cases=cases, about="live bytes of training steps on fake tensors, by phase")
