"""Asking readers, one after the other, what a path or an address stands for."""

from __future__ import annotations

from typing import Any

from alignsim.catalogue import Catalogue, described
from alignsim.contract import KINDS
from alignsim.errors import AlignSimError, PluginError
from alignsim.reader import Found, Reader


def read(readers: Catalogue[Reader], catalogue: str, text: str, registry: Any) -> Found | None:
    """Return what the first reader of a catalogue that claims a text finds; None where none claims it.

    Raises:
        InvalidInput: it cannot be read, or is wrong.
        PluginError: a reader breaks the contract: it raises another error, or finds another kind of object.
    """
    for name, reader in readers.items():
        if reader.catalogue != catalogue:
            continue
        try:
            if not reader.claims(text):
                continue
            found = reader.read(text, registry)
            kind = KINDS[f"alignsim_{catalogue}"]
            kind.checked([] if found.item is None else [found.item], kind.classes())
        except PluginError as error:
            raise PluginError(f"plugin {readers.origin(name)}: reader {name!r} {error}") from None
        except AlignSimError:
            raise
        except Exception as error:
            raise PluginError(f"plugin {readers.origin(name)}: reader {name!r} failed: {described(error)}") from error
        return found
    return None
