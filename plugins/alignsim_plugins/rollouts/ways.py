"""The ways in which a rollout engine lives beside a trainer: asleep, with the trainer away, or always awake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from alignsim import Activity, Component, Const, Tenant, Term, term, while_
from alignsim_plugins.adapters.full import FULL
from alignsim_plugins.engines.served import SERVED
from alignsim_plugins.precisions.bf16 import BF16
from alignsim_plugins.rollouts.slot import ROLLOUT
from alignsim_plugins.weight_sync.received import RECEIVED

AWAKE = Activity("served", like="idle")
"""What an engine that never sleeps does while others work."""

TAKING = Activity("taking", like="sync")
"""What such an engine does while it is handed weights."""

POOLED = while_("generate", "served", "taking")
"""When an engine has its pool."""


def tenant(**changes: Any) -> Tenant:
    """Return the role that an engine brings."""
    own = {"adapter": FULL, "engine": SERVED, "precision": BF16, "weight_sync": RECEIVED}
    return Tenant(**{"role": "generator", "process": "generator", "components": own, **changes})


SLEEPING = tenant()
WAYS: Mapping[str, Tenant] = {
    "": SLEEPING,
    "-offloading": tenant(meanwhile="offloaded"),
    "-awake": tenant(otherwise=AWAKE, syncs=TAKING),
}
"""Endings of an engine's name, and the role that it brings then."""


def ways(name: str, terms: tuple[Term, ...], defaults: Mapping[str, Const], source: str) -> Iterator[Component]:
    """Yield an engine in all of its ways."""
    for ending, brings in WAYS.items():
        yield Component(
            name=f"{name}{ending}", slot=ROLLOUT, terms=terms, defaults=defaults, tenant=brings, source=source
        )


@term("byte", per={"role"}, during={"generate"}, source="an engine whose pool takes what there is", name="kv_pool")
def filled_pool(kv_cache_per_device: Any) -> Any:
    """The pool, which is as large as what is left."""
    return kv_cache_per_device
