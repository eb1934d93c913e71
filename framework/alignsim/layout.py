"""How a model is spread over devices, and where every role lives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from alignsim.errors import InvalidInput, Problem
from alignsim.given import Inputs, as_count, as_flag, at_least, described


@described
@attrs.frozen(kw_only=True)
class Layout(Inputs):
    """Degrees of parallelism of one model; ``tensor x pipeline x context x sequence x data`` devices run it.

    Attributes:
        tensor: ranks that share every layer's matrices.
        pipeline: stages that the layers are dealt out to.
        data: replicas that see different samples.
        context: ranks that share every sequence.
        expert: ranks that the experts of a layer are dealt out to.
        expert_tensor: ranks that share every expert's matrices; 0 for as many as ``tensor``.
        sequence_parallel: tensor ranks also share the tokens of norms, dropouts and residuals.
        virtual: pieces of each stage (interleaved pipeline); 1 for none.
        micro_batch_group: micro-batches that an interleaved stage runs through one piece before the next; 0 for
            as many as ``pipeline``.
        first_stage_layers: layers of the first stage; 0 for as many as the others.
        last_stage_layers: layers of the last stage; 0 for as many as the others.
        embedding_in_split: the embedding counts as one layer where layers are dealt out.
        loss_in_split: the head and the loss count as one layer where layers are dealt out.
        sequence: ranks that share the tokens of every sequence, and the heads in attention (Ulysses).
    """

    tensor: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    pipeline: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    data: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    context: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    expert: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    expert_tensor: int = attrs.field(default=0, converter=as_count, validator=at_least(0))
    sequence_parallel: bool = attrs.field(default=False, converter=as_flag)
    virtual: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    micro_batch_group: int = attrs.field(default=0, converter=as_count, validator=at_least(0))
    first_stage_layers: int = attrs.field(default=0, converter=as_count, validator=at_least(0))
    last_stage_layers: int = attrs.field(default=0, converter=as_count, validator=at_least(0))
    embedding_in_split: bool = attrs.field(default=False, converter=as_flag)
    loss_in_split: bool = attrs.field(default=False, converter=as_flag)
    sequence: int = attrs.field(default=1, converter=as_count, validator=at_least(1))

    @property
    def devices(self) -> int:
        """All devices that run the model."""
        return self.tensor * self.pipeline * self.context * self.sequence * self.data

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with several degrees together."""
        if self.sequence_parallel and self.tensor == 1:
            yield Problem("sequence_parallel", "is true, but tensor is 1: there is nobody to share tokens with")
        for name in ("virtual", "micro_batch_group"):
            if getattr(self, name) > (name == "virtual") and self.pipeline == 1:
                yield Problem(name, f"is {getattr(self, name)}, but pipeline is 1: there is nothing to interleave")
        for name, counted in (
            ("first_stage_layers", "embedding_in_split"),
            ("last_stage_layers", "loss_in_split"),
        ):
            if getattr(self, name) and self.pipeline == 1:
                yield Problem(name, f"is {getattr(self, name)}, but pipeline is 1: one stage has all layers")
            if getattr(self, name) and getattr(self, counted):
                yield Problem(
                    counted, f"is true, but {name} says {getattr(self, name)}; a layout says one or the other"
                )
        group = self.expert * self.pipeline * (self.expert_tensor or self.tensor)
        if self.devices % group:
            yield Problem(
                "expert",
                f"experts are on groups of expert {self.expert} x expert_tensor {self.expert_tensor or self.tensor} x "
                f"pipeline {self.pipeline} = {group} devices, which does not divide all {self.devices}",
            )


def _as_word(value: Any) -> str:
    if not isinstance(value, str) or not value.isidentifier():
        raise InvalidInput(f"processes and pools are spelt with letters, digits and _; got {value!r}")
    return value


@attrs.frozen
class Place:
    """Where a role lives: the operating-system process that it shares, and the pool of devices.

    Contexts, communicators and allocators are per process; every pool has its own devices and verdict.
    """

    process: str = attrs.field(default="trainer", converter=_as_word)
    pool: str = attrs.field(default="gpus", converter=_as_word)
