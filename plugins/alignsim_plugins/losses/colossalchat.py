"""Losses of ColossalChat's trainers: whole logits in 32 bits, which the loops' variables keep from step to step.

A variable lets go of its logits when it is assigned anew; by then the next iteration's exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, after, hookimpl, resident, term
from alignsim_plugins.losses.coefficients import coefficients
from alignsim_plugins.losses.slot import ANSWERS, PAIRS
from alignsim_plugins.losses.slot import CROSS_ENTROPY as MEAN

SOURCE = "ColossalAI 4f9953be: applications/ColossalChat/coati/trainer"
COUNTED = "live storages of its operations counted on the meta device, torch 2.13, in the second iteration"


@term(
    "byte",
    per={"role"},
    during={"train", "infer"},
    resource="allocated",
    live=resident & after("loss"),
    source=f"{SOURCE}: variables of the loops",
)
def logits_left(logit_tokens: Any, vocab: Any, left_bytes: Any) -> Any:
    """Logits that variables of the loop hold."""
    return left_bytes * logit_tokens * vocab


def loop(
    name: str,
    file: str,
    left: float,
    forward: float,
    held: float,
    backward: float,
    inferred: float,
    kind: str,
    inside: bool = False,
) -> Component:
    """Return a loss from its bytes per token and word, all beside what is left in variables."""
    source = f"{SOURCE}/{file}; {COUNTED}"
    return coefficients(
        name,
        source=source,
        forward=(forward, forward),
        held=(held, held),
        backward=(backward, backward),
        inferred=(inferred, inferred),
        inside_forward=inside,
        kinds=(kind,),
        terms=(logits_left,),
        defaults={"left_bytes": Const(left, "byte", source=source)},
    )


LOSSES = (
    loop(
        "colossalchat-sft", "sft.py: outputs", 4, forward=12, held=4, backward=12, inferred=12, kind=MEAN, inside=True
    ),
    loop("colossalchat-simpo", "dpo.py: actor_all_logits", 4, forward=6, held=4, backward=12, inferred=6, kind=PAIRS),
    loop(
        "colossalchat-dpo",
        "dpo.py: actor_all_logits, ref_all_logits",
        4,
        forward=6,
        held=4,
        backward=12,
        inferred=6,
        kind=PAIRS,
    ),
    loop("colossalchat-orpo", "orpo.py: actor_all_logits", 4, forward=12, held=8, backward=16, inferred=12, kind=PAIRS),
    loop(
        "colossalchat-kto",
        "kto.py: logits and kl_logits of both models",
        8,
        forward=8,
        held=4,
        backward=12,
        inferred=6,
        kind=ANSWERS,
    ),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer the losses of ColossalChat."""
    yield from LOSSES
