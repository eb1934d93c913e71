"""What PyTorch's caching allocator reserves and cannot use: blocks are rounded up, and holes stay between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Algorithm, Collect, Const, Term, hookimpl, maths, term
from alignsim_plugins.fixed_costs.switch import COUNTED

ALLOCATOR = "PyTorch, c10/cuda/CUDACachingAllocator.cpp"
GRANULARITY = Const(
    "2 MiB",
    "byte",
    low="512 B",
    high="20 MiB",
    source=f"{ALLOCATOR}: kMinBlockSize (low), kRoundLarge and kSmallBuffer, kLargeBuffer (high)",
)
VARYING = Const(1, source="sequences differ in length from batch to batch; 0 where every batch has the same shapes")
EXPANDABLE = Const(0, source=f"{ALLOCATOR}: PYTORCH_CUDA_ALLOC_CONF has no expandable_segments:True, or 1")
OF_STEADY_SHAPES = Const(
    0.01,
    low=0.0,
    high=0.05,
    source="PyTorch's out-of-memory messages, reserved but unallocated beside allocated: median of 23; high: "
    "mistralai/mistral-finetune#69, 82 MB to 1.08 GB of 20.5 GiB with segments that grow",
)
OF_VARYING_SHAPES = Const(
    0.01,
    low=0.0,
    high=0.23,
    source="PyTorch's out-of-memory messages, reserved but unallocated beside allocated: median of 23, of which 19 "
    "have less than high; high: hiyouga/LlamaFactory#6800",
)
"""Of what is allocated: the holes that are left when the allocator has given back all that it can."""


@term("", per={"role"}, group="shapes", source=ALLOCATOR)
def shapes_vary(varying_shapes: Any = VARYING) -> Any:
    """Whether a role's tensors differ in size from step to step: then freed blocks seldom fit what comes next."""
    return varying_shapes


@term("", per={"process"}, source=ALLOCATOR)
def fragmentation_share(
    vary: Any = Collect("shapes", "max"),
    expandable_segments: Any = EXPANDABLE,
    steady_fragmentation: Any = OF_STEADY_SHAPES,
    varying_fragmentation: Any = OF_VARYING_SHAPES,
    fixed_costs: Any = COUNTED,
) -> Any:
    """Holes as a share of what is kept; segments that can grow have as few as steady shapes leave."""
    return fixed_costs * maths.where(vary * (expandable_segments <= 0) > 0, varying_fragmentation, steady_fragmentation)


@term("byte", per={"process"}, source=ALLOCATOR)
def fragmentation(
    kept: Any, fragmentation_share: Any, allocation_granularity: Any = GRANULARITY, fixed_costs: Any = COUNTED
) -> Any:
    """What is reserved and cannot be used: holes, and the last block rounded up."""
    return kept * fragmentation_share + fixed_costs * (
        maths.ceil(kept / allocation_granularity) * allocation_granularity - kept
    )


@hookimpl
def alignsim_terms(algorithm: Algorithm) -> Iterator[Term]:
    """Offer the share that fragments to every algorithm; ``fragmentation`` is the reserved resource's."""
    yield from (shapes_vary, fragmentation_share)
