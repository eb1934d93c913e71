"""A model of the Hugging Face Hub, only where one asks for it: ``hub:ORGANISATION/NAME``, or ``...@REVISION``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

from alignsim import Found, InvalidInput, Origin, Problem, Reader, Registry, hookimpl
from alignsim.jsonfile import document, read_bytes
from alignsim_plugins.readers.config_files import described
from alignsim_plugins.readers.paths import CONFIG, MOST

SCHEME = "hub:"
ADDRESS = re.compile(r"hub:(?P<repository>[\w.-]{1,96}/[\w.-]{1,96})(@(?P<revision>[\w./-]{1,200}))?")


def is_address(text: str) -> bool:
    """Whether a text is an address of the Hub."""
    return text.startswith(SCHEME)


def read_hub(text: str, registry: Registry) -> Found:
    """Return the model that an address stands for. Its ``config.json`` is downloaded, and kept by huggingface_hub.

    Raises:
        InvalidInput: no such address or file, no way to get it, or a file that is wrong.
    """
    match = ADDRESS.fullmatch(text)
    if match is None:
        raise InvalidInput(Problem("", f"expected hub:ORGANISATION/NAME, and @REVISION if need be; got {text[:200]!r}"))
    repository, revision = match["repository"], match["revision"]
    path, commit = _downloaded(text, repository, revision)
    found = described(
        document(read_bytes(path, MOST), f"{SCHEME}{repository}@{commit}/{CONFIG}", finite=False),
        repository.rpartition("/")[2],
        registry,
    )
    return attrs.evolve(found, notes=(f"commit {commit} of {repository}", *found.notes))


def _downloaded(text: str, repository: str, revision: str | None) -> tuple[Path, str]:
    """Return where the file is now, and the commit that it is of."""
    origin = Origin(text)
    hub = _library(origin)
    try:
        about = hub.get_hf_file_metadata(hub.hf_hub_url(repository, CONFIG, revision=revision))
        if about.size is None or about.size > MOST:
            raise InvalidInput(Problem("", f"its {CONFIG} has {about.size} bytes; at most {MOST:,} are read", origin))
        path = Path(hub.hf_hub_download(repository, CONFIG, revision=revision))
    except InvalidInput:
        raise
    except Exception as error:  # of the library, of its HTTP client, of the network: none of them is ours to tell apart
        told = str(error).strip().splitlines() or [type(error).__name__]
        raise InvalidInput(Problem("", f"cannot be had from the Hub: {told[0][:300]}", origin)) from error
    return path, str(about.commit_hash or path.parent.name)


def _library(origin: Origin) -> Any:
    try:
        return import_module("huggingface_hub")
    except ImportError:
        message = "needs huggingface_hub: pip install 'alignsim[hub]'; or download config.json and give its path"
        raise InvalidInput(Problem("", message, origin)) from None


@hookimpl
def alignsim_readers() -> Iterator[Reader]:
    """Offer it."""
    yield Reader(
        name="hub",
        catalogue="architectures",
        claims=is_address,
        read=read_hub,
        about="hub:ORGANISATION/NAME of the Hugging Face Hub; needs the extra alignsim[hub]",
    )
