"""The built-in nodes: machines that are sold as they stand, each a file in its vendor's folder ``nodes``."""

from __future__ import annotations

from functools import cache

from alignsim.hardware import Node
from alignsim.hookspecs import hookimpl
from alignsim_hardware.catalogue import accelerators, vendors
from alignsim_hardware.files import node


@cache
def nodes() -> tuple[Node, ...]:
    """Return the built-in nodes, by vendor and file name.

    Raises:
        InvalidInput: a data file is wrong; each problem names its file and line.
    """
    known = {accelerator.name: accelerator for accelerator in accelerators()}
    return tuple(
        node(page.read_text("utf-8"), f"{vendor.name}/nodes/{page.name}", known)
        for vendor in vendors()
        if (vendor / "nodes").is_dir()
        for page in sorted((vendor / "nodes").iterdir(), key=lambda page: page.name)
    )


@hookimpl
def alignsim_nodes() -> tuple[Node, ...]:
    """Offer the nodes of the data files."""
    return nodes()
