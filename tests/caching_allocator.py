"""PyTorch's caching allocator on one device, as far as it decides which block a tensor gets.

c10/cuda/CUDACachingAllocator.cpp of torch 2.x: get_allocation_size, get_free_block, should_split, free_block. What is
asked of the device lies in segments; a tensor takes the smallest free block that is large enough, whole unless what is
left over is worth a block of its own; freed neighbours become one.
"""

from __future__ import annotations

from math import ceil

import attrs

ROUNDED, SMALL, LARGE = 512, 2**20, 10 * 2**20
SMALL_SEGMENT, MIDDLE_SEGMENT, UNIT = 2 * 2**20, 20 * 2**20, 2 * 2**20


@attrs.define(eq=False)
class Block:
    """A piece of a segment, between its neighbours."""

    size: int
    address: tuple[int, int]
    small: bool
    before: Block | None = None
    after: Block | None = None
    free: bool = False


@attrs.define
class CachingAllocator:
    """What is allocated, in whole blocks, and what is cached.

    >>> allocator = CachingAllocator()
    >>> first, second = allocator.allocate(30 * 2**20), allocator.allocate(100)
    >>> allocator.free(first)
    >>> _ = allocator.allocate(30 * 2**20 - 2**20)  # in the freed block, and the rest of it is not cut off
    >>> allocator.allocated - 30 * 2**20
    512
    """

    allocated: int = 0
    segments: int = 0
    cached: list[Block] = attrs.field(factory=list)

    def allocate(self, size: int) -> Block:
        """Return a block for a tensor of so many bytes."""
        size = max(ROUNDED, ceil(size / ROUNDED) * ROUNDED)
        small = size <= SMALL
        fitting = [block for block in self.cached if block.small == small and block.size >= size]
        block = min(fitting, key=lambda block: (block.size, block.address)) if fitting else self._segment(size, small)
        if fitting:
            self.cached.remove(block)
        left = block.size - size
        if left >= ROUNDED if small else left > SMALL:
            address = (block.address[0], block.address[1] + size)
            rest = Block(left, address, small, before=block, after=block.after, free=True)
            if rest.after:
                rest.after.before = rest
            block.after, block.size = rest, size
            self.cached.append(rest)
        block.free = False
        self.allocated += block.size
        return block

    def free(self, block: Block) -> None:
        """Give a block back, joined with free neighbours."""
        self.allocated -= block.size
        block.free = True
        first, second = block.before, block.after
        if first and first.free:
            self.cached.remove(first)
            block.address, block.size, block.before = first.address, block.size + first.size, first.before
            if block.before:
                block.before.after = block
        if second and second.free:
            self.cached.remove(second)
            block.size, block.after = block.size + second.size, second.after
            if block.after:
                block.after.before = block
        self.cached.append(block)

    def empty_cache(self) -> None:
        """Give segments back in which nothing is allocated."""
        self.cached = [block for block in self.cached if block.before or block.after]

    def _segment(self, size: int, small: bool) -> Block:
        self.segments += 1
        whole = SMALL_SEGMENT if small else MIDDLE_SEGMENT if size < LARGE else ceil(size / UNIT) * UNIT
        return Block(whole, (self.segments, 0), small)
