"""Adam and Lion of bitsandbytes: state in 8 bits by blocks.

Small tensors stay in 32 bits, and so does the embedding, as transformers asks for; adapters' matrices count as large.
Paged, the state of large tensors is in memory that host and device share.
"""

from __future__ import annotations

from typing import Any

from alignsim import Component, Const, resident, term
from alignsim.limits import COUNT, SHARE
from alignsim_plugins.elements import ELEMENT, FP32
from alignsim_plugins.optimizers.moments import IN_PLACE
from alignsim_plugins.optimizers.slot import OPTIMIZER

SOURCE = "Dettmers et al. 2022 (8-bit optimizers); bitsandbytes 0.50: optim/optimizer.py, init_state"
PAGES = "unified memory: pages stay where there is room"
BLOCK = Const(256, source="bitsandbytes 0.50: blocksize = 256, one 32-bit maximum a block", limit=COUNT)
SMALL = Const(4096, source="bitsandbytes 0.50: min_8bit_size=4096")
BYTE = Const(1, "byte", source="bitsandbytes 0.50: state in torch.uint8", limit=ELEMENT)


@term(
    "parameter",
    per={"role"},
    during={"train"},
    source="transformers 5.24: trainer.py overrides nn.Embedding; " + SOURCE,
)
def wide_parameters(trained_embedding: Any, trained_vectors: Any, hidden: Any, small: Any = SMALL) -> Any:
    """Parameters with state in 32 bits: the embedding, and vectors where they are short."""
    return trained_embedding + (hidden < small) * trained_vectors


@term("byte", per={"role"}, during={"train"}, source=SOURCE)
def one_state(
    trainable_parameters: Any, wide_parameters: Any, state_byte: Any = BYTE, fp32: Any = FP32, block: Any = BLOCK
) -> Any:
    """One state: a byte a parameter and a maximum a block; else in 32 bits."""
    return fp32 * wide_parameters + (trainable_parameters - wide_parameters) * (state_byte + fp32 / block)


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE)
def optimizer_state(optimizer_states: Any, one_state: Any) -> Any:
    """All states."""
    return optimizer_states * one_state


@term("byte", per={"role"}, during={"train"}, source="bitsandbytes 0.50: get_state_buffer, tensors of 100,000 elements")
def paged_state(
    optimizer_states: Any,
    trainable_parameters: Any,
    trained_vectors: Any,
    wide_parameters: Any,
    trained_embedding: Any,
    state_byte: Any = BYTE,
    fp32: Any = FP32,
) -> Any:
    """What can leave the device: states of all matrices, without the maxima of blocks."""
    return optimizer_states * (
        fp32 * trained_embedding + (trainable_parameters - trained_embedding - trained_vectors) * state_byte
    )


@term("byte", per={"role"}, during={"train"}, group="model_state", source=SOURCE, name="optimizer_state")
def resident_state(optimizer_states: Any, one_state: Any, paged_state: Any, paged_share: Any) -> Any:
    """What is on the device: all but what is paged out."""
    return optimizer_states * one_state - (1 - paged_share) * paged_state


@term(
    "byte",
    per={"role"},
    during={"train"},
    resource="host",
    live=resident,
    source="cudaMallocManaged, as bitsandbytes calls it",
)
def paged_out_state(paged_state: Any) -> Any:
    """Room on the host for all pages: any of them may have to leave the device."""
    return paged_state


def eight_bit(name: str, states: int, *, paged: bool) -> Component:
    """Return an optimizer with so many states in 8 bits, paged or not."""
    terms = (wide_parameters, one_state, *IN_PLACE)
    pages = {"paged_share": Const(0, low=0, high=1, source=PAGES, limit=SHARE)} if paged else {}
    return Component(
        name=name,
        slot=OPTIMIZER,
        terms=(*terms, paged_state, resident_state, paged_out_state) if paged else (*terms, optimizer_state),
        defaults={"optimizer_states": Const(states, source=SOURCE, limit=COUNT), **pages},
        source=SOURCE,
    )
