"""Parts of a model frozen: no more is trained than there is. What they hold is measured in tests/validation."""

from __future__ import annotations

import pytest

from alignsim.errors import CompositionError
from small_runs import SHAPE, small_run


@pytest.mark.parametrize(
    ("adapter", "number"),
    [
        ("last-layers", {"last_layers": SHAPE["layers"] + 1}),
        ("last-layers", {"last_layers": 0}),
        ("frozen-layers", {"frozen_layers": SHAPE["layers"] + 1}),
        ("frozen-layers", {"frozen_layers": 1.5}),
        ("last-layers", {"trained_layers": SHAPE["layers"] + 1}),
    ],
)
def test_layers_that_are_not_there(adapter, number):
    ((name, value),) = number.items()
    path = f"policy.{name}"
    run = small_run(adapter=adapter)
    with pytest.raises(CompositionError, match=rf"{path}: must be .* with adapter '{adapter}', got {value}"):
        run.with_givens({path: value}).result  # noqa: B018
