"""The reference case: model state and key-value cache of PPO-style RLHF, against DPO.

Names and figures follow mlsysim 0.3.0, so that people can compare; the terms are those of every other run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import attrs

from alignsim import (
    Accelerator,
    Algorithm,
    Architecture,
    Batch,
    Given,
    Layout,
    Parts,
    Preset,
    Problem,
    Question,
    Registry,
    Scenario,
    default_registry,
    described,
)
from alignsim.given import above, as_bytes, as_count, at_least
from alignsim_plugins.adapters.full import FULL
from alignsim_plugins.algorithms.ppo import PPO
from alignsim_plugins.architectures.parameters import TERMS as PARAMETER_TERMS
from alignsim_plugins.architectures.widths import WIDTHS
from alignsim_plugins.engines.even_split import EVEN_SPLIT
from alignsim_plugins.engines.model_state import MODEL_STATE
from alignsim_plugins.optimizers.adamw_fused import ADAMW_FUSED
from alignsim_plugins.optimizers.moments import moment_bytes
from alignsim_plugins.precisions.bf16_master import BF16_MASTER
from alignsim_plugins.resources.device_memory import ALLOCATED
from alignsim_plugins.rollouts.full_cache import FULL_CACHE
from alignsim_plugins.rollouts.kv_cache import kv_elements_per_token
from alignsim_plugins.scenarios.alignment_memory_terms import MIN_DEVICES, OUTPUT_TERMS, PATHS


def _model(value: Architecture | str) -> Architecture:
    return value  # type: ignore[return-value]  # names are looked up in the scenario's own registry


def _capacity(value: Any) -> Given | None:
    return None if value is None else as_bytes(value)


@described
@attrs.frozen(kw_only=True, slots=False, repr=False)
class AlignmentMemoryScenario(Question):
    """PPO and DPO alignment of a policy, with reward and value models of the critic's size.

    Attributes:
        policy: a model, or the name of one in the catalogue.
        critic: the model whose size the reward and value models have.
        tp_size: tensor-parallel ranks; at most the policy's heads, which they need not divide.
        pp_size: pipeline stages; at most the policy's layers.
        dp_size: data-parallel replicas. The reference case divides nothing by them.
        rollout_sequences: sequences generated together.
        rollout_tokens: tokens cached for each of them.
        device_memory: memory of one device with its unit, such as ``"80 GB"``; None if it is left open.

    Raises:
        InvalidInput: everything that is wrong, at once.
        UnknownName: a name that is not in the catalogue.
    """

    policy: Architecture = attrs.field(converter=_model)
    critic: Architecture = attrs.field(converter=_model)
    tp_size: int = attrs.field(converter=as_count, validator=at_least(1))
    pp_size: int = attrs.field(converter=as_count, validator=at_least(1))
    dp_size: int = attrs.field(default=1, converter=as_count, validator=at_least(1))
    rollout_sequences: int = attrs.field(converter=as_count, validator=at_least(1))
    rollout_tokens: int = attrs.field(converter=as_count, validator=at_least(0))
    device_memory: Given | None = attrs.field(default=None, converter=_capacity, validator=above(0))
    name: str = "AlignmentMemory"
    solver: str = "AlignmentMemoryModel"
    registry: Registry = attrs.field(factory=default_registry, repr=False, eq=False)

    axes: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"tp_size": "tensor", "pp_size": "pipeline", "dp_size": "data", "device_memory": "device_capacity"}
    )

    left_out: ClassVar[tuple[str, ...]] = (
        "activations, logits and temporary buffers; contexts, communicators and what the allocator wastes",
        "sharding over data-parallel replicas (their number divides nothing), and the split of rollouts over them",
        "a rollout engine with weights of its own",
        "the embedding on the first pipeline stage and the head on the last: all stages are even",
        "copies of key and value heads where there are more tensor ranks than heads: the cache is divided evenly",
        "in min_devices_for_ppo: the layout and the key-value cache; all of a device's memory counts as usable",
    )

    def __attrs_post_init__(self) -> None:
        for field in ("policy", "critic"):  # names of catalogue models are accepted
            where = f"{type(self).__name__}.{field}"
            object.__setattr__(self, field, self.registry.resolve("architectures", getattr(self, field), where))

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the fields together."""
        if self.tp_size > self.policy.heads:
            yield Problem(
                "tp_size", f"must be at most {self.policy.heads}, the heads of {self.policy.name}; got {self.tp_size}"
            )
        if self.pp_size > self.policy.layers:
            yield Problem(
                "pp_size", f"must be at most {self.policy.layers}, the layers of {self.policy.name}; got {self.pp_size}"
            )
        if self.policy.name == self.critic.name and self.policy != self.critic:
            yield Problem("critic", f"is another model than the policy, but has the same name {self.critic.name!r}")

    @property
    def outputs(self) -> tuple[str, ...]:
        """The paths of the fields of the result."""
        return tuple(path for path in PATHS.values() if self.device_memory is not None or path != MIN_DEVICES)

    def parts(self) -> Parts:
        """Return what the graph is composed of: the common terms, and the reference case's own sums."""
        models = {"policy": self.policy, "reference": self.policy, "reward": self.critic, "critic": self.critic}
        facts = {f"{{{m.name}}}.{name}": number for m in models.values() for name, number in m.numbers().items()}
        facts |= Layout(tensor=self.tp_size, pipeline=self.pp_size, data=self.dp_size).numbers()
        facts |= self._batch.numbers()
        if self.device_memory is not None:
            facts["device_capacity"] = self.device_memory
        fillings = {c.slot.name: c for c in (BF16_MASTER, ADAMW_FUSED, FULL, EVEN_SPLIT, FULL_CACHE)}
        wanted = [term for term in OUTPUT_TERMS if self.device_memory is not None or term.name != MIN_DEVICES]
        return Parts(
            algorithm=PPO,
            terms=(*PARAMETER_TERMS, *WIDTHS, *MODEL_STATE, moment_bytes, kv_elements_per_token, *wanted),
            components={role: _needed(PPO, role, fillings) for role in PPO.roles},
            models={role: model.name for role, model in models.items()},
            resources={ALLOCATED.name: ALLOCATED},
            facts=facts,
        )

    @property
    def _batch(self) -> Batch:
        return Batch(rollout_sequences=self.rollout_sequences, rollout_tokens=self.rollout_tokens)

    def as_run(
        self,
        *,
        algorithm: Algorithm | str = "PPO",
        accelerator: Accelerator | str | None = None,
        preset: Preset | str | None = None,
    ) -> Scenario:
        """Return the same set-up as an ordinary run, whose answer has phases: the memory of one device over time.

        It is held against the memory of the accelerator, if one is named; else against ``device_memory``. With a
        preset, the choices are a framework's; else those of the reference case.

        Raises:
            UnknownName: no such algorithm, accelerator or preset.
        """
        found = self.registry.algorithms[algorithm] if isinstance(algorithm, str) else algorithm
        chosen = {c.slot.name: c for c in (BF16_MASTER, ADAMW_FUSED, FULL, EVEN_SPLIT, FULL_CACHE)}
        components = {name: chosen.get(name, slot.none) for name, slot in self.registry.slots.items()}
        models = {"policy": self.policy, "critic": self.critic, "reward": self.critic}
        return Scenario(
            name=f"{self.name} as {found.name}",
            algorithm=found,
            models={role: model for role, model in models.items() if role in found.roles},
            accelerator=accelerator,
            layout=Layout(tensor=self.tp_size, pipeline=self.pp_size, data=self.dp_size),
            components={} if preset else components,
            preset=preset,
            batch=self._batch,
            givens={} if accelerator or self.device_memory is None else {"@gpus.usable_memory": self.device_memory},
            registry=self.registry,
        )


def _needed(algorithm: Algorithm, role: str, fillings: Mapping[str, Any]) -> dict[str, Any]:
    doing = algorithm.activities(role)
    return {slot: filling for slot, filling in fillings.items() if filling.slot.required_for & doing}
