"""The built-in hardware: every folder beside this module is a vendor, every file in it one accelerator.

To add a device, add a file; to add a vendor, add a folder. Nothing else needs a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from alignsim.hardware import Accelerator
from alignsim.hookspecs import hookimpl
from alignsim_hardware.files import accelerators_in


def vendors() -> Iterator[Traversable]:
    """Yield the folders of the vendors, by name."""
    for entry in sorted(files("alignsim_hardware").iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() and any(inside.name.endswith(".toml") for inside in entry.iterdir()):
            yield entry


@cache
def accelerators() -> tuple[Accelerator, ...]:
    """Return the built-in accelerators, by vendor and file name.

    Raises:
        InvalidInput: a data file is wrong; each problem names its file and line.
    """
    return tuple(found for vendor in vendors() for found in accelerators_in(vendor))


@hookimpl
def alignsim_accelerators() -> tuple[Accelerator, ...]:
    """Offer the accelerators of the data files."""
    return accelerators()
