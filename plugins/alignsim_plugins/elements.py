"""Sizes of the number formats that formulas count in."""

from __future__ import annotations

from alignsim import Const, Limit
from alignsim.limits import COUNT

FORMAT = Limit(8, "a number has at least one bit, and at most 64", least=0.125)
"""Of a format that numbers are stored in, in bytes; quantised ones have scales besides, and need not be whole."""

ELEMENT = Limit(among=(1, 2, 4, 8), because="numbers are calculated with in 8, 16, 32 or 64 bits")
"""Of a format that numbers are calculated with, in bytes."""

MADE = Limit(among=(0, 1, 2, 4, 8), because="gradients are calculated in 8, 16, 32 or 64 bits, or not at all")
"""Of a format that gradients are made in, in bytes."""

FP32 = Const(4, "byte", source="IEEE 754 binary32", limit=ELEMENT)
BF16 = Const(2, "byte", source="bfloat16: the upper half of binary32", limit=ELEMENT)
FP8 = Const(1, "byte", source="OCP 2023 (8-bit floating point): E4M3, E5M2", limit=ELEMENT)
INT64 = Const(8, "byte", source="64-bit integers: token ids, labels, indices", limit=ELEMENT)
BOOL = Const(1, "byte", source="one byte a truth value, as PyTorch stores them", limit=ELEMENT)

ONE_ROW = Const(1, "sequence", source="a sample is one row, unless the algorithm says otherwise", limit=COUNT)
INPUTS = Const(24, "byte/token", source="token ids, labels and a mask in 64 bits, unless the algorithm says otherwise")

TRACES = "measured: live storages of transformers 5.24, torch 2.13, counted by birth and death"
"""Where a count of tensors is from, if no paper states it."""
