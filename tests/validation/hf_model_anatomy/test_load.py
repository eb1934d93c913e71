"""Hugging Face's anatomy of a model's memory: BERT-large on a V100, as nvidia-smi shows it.

1343 MB after a tensor of one element, 2631 MB after loading the model. An encoder is not what alignsim describes, so
this is about the step from allocated to reserved: the segments of PyTorch's caching allocator make up the difference
exactly. The third number, 14949 MB in training, needs dropout masks and an encoder's head, which nothing here counts.

Source: https://huggingface.co/docs/transformers/model_memory_anatomy (2022).
"""

from __future__ import annotations

from math import ceil

BEFORE, LOADED = 1343, 2631
MIB = 2**20
SMALL, LARGE = 2, 20  # MiB: the segments that tensors below 1 MiB, and from 1 to 10 MiB, share
LAYERS, HIDDEN, FFN, WORDS, POSITIONS = 24, 1024, 4096, 30522, 512


def tensors() -> list[int]:
    """Elements of every parameter of BertForSequenceClassification with two classes, in the order of its modules."""
    norm = [HIDDEN, HIDDEN]
    square, up = [HIDDEN * HIDDEN, HIDDEN], [HIDDEN * FFN, FFN]
    layer = [*square, *square, *square, *square, *norm, *up, FFN * HIDDEN, HIDDEN, *norm]
    return [WORDS * HIDDEN, POSITIONS * HIDDEN, 2 * HIDDEN, *norm, *layer * LAYERS, *square, 2 * HIDDEN, 2]


def segments(sizes: list[int], free_in_small: float) -> float:
    """MiB that the allocator asks the device for; ``free_in_small`` is left of a small segment that exists already."""
    total, small, large = 0.0, free_in_small, 0.0
    for size in sizes:
        mib = ceil(size / 512) * 512 / MIB
        if mib > 10:
            total += ceil(mib / 2) * 2
        elif mib > 1:
            if large < mib:
                total, large = total + LARGE, LARGE
            large -= mib
        else:
            if small < mib:
                total, small = total + SMALL, SMALL
            small -= mib
    return total


def test_parameters():
    assert sum(tensors()) == 335_143_938


def test_loading():
    allocated = 4 * sum(tensors()) / MIB
    assert round(allocated) == 1278
    assert BEFORE + segments([4 * n for n in tensors()], free_in_small=SMALL - 512 / MIB) == LOADED
