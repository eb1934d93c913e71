"""AdamW of bitsandbytes in 32 bits, the moments of large tensors in memory that host and device share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, Const, hookimpl, term
from alignsim.limits import SHARE
from alignsim_plugins.elements import FP32
from alignsim_plugins.optimizers.eight_bit import PAGES, paged_out_state
from alignsim_plugins.optimizers.moments import IN_PLACE
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "bitsandbytes 0.50: optim/adamw.py, PagedAdamW32bit; optim/optimizer.py, get_state_buffer"


@term("byte", per={"role"}, during={"train"}, source=f"{SOURCE}: tensors of 100,000 elements and more")
def paged_state(trainable_parameters: Any, trained_vectors: Any, fp32: Any = FP32) -> Any:
    """What can leave the device: both moments of all matrices."""
    return 2 * fp32 * (trainable_parameters - trained_vectors)


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def optimizer_state(trainable_parameters: Any, paged_state: Any, paged_share: Any, fp32: Any = FP32) -> Any:
    """What is on the device: all but what is paged out."""
    return 2 * fp32 * trainable_parameters - (1 - paged_share) * paged_state


PAGED_ADAMW = Component(
    name="paged-adamw",
    slot=OPTIMIZER,
    terms=(*IN_PLACE, paged_state, optimizer_state, paged_out_state),
    defaults={"paged_share": Const(0, low=0, high=1, source=PAGES, limit=SHARE)},
    source=SOURCE,
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer paged AdamW in 32 bits."""
    yield PAGED_ADAMW
