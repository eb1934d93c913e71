"""Readers of plugins: what they read is taken for a name, and one that fails is told of."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Architecture, Found, InvalidInput, Problem, Reader, UnknownName
from alignsim.errors import PluginError
from alignsim.testing import offering, registry_of

TINY = Architecture(name="tiny", layers=2, hidden=8, heads=2, ffn=16, vocab=10, source="a test")


def registry(read: Any, catalogue: str = "architectures") -> Any:
    reader = Reader(name="acme", catalogue=catalogue, claims=lambda text: text.endswith(".acme"), read=read)
    return registry_of(offering(readers=[reader], architectures=[TINY]))


def test_names_come_first_and_what_nobody_claims_is_unknown() -> None:
    asked: list[str] = []

    def read(text: str, _: Any) -> Found:
        asked.append(text)
        return Found(TINY)

    known = registry(read)
    assert known.resolve("architectures", "tiny") is TINY
    assert asked == []
    assert known.resolve("architectures", "x.acme") is TINY
    assert asked == ["x.acme"]
    with pytest.raises(UnknownName, match="did you mean tiny"):
        known.resolve("architectures", "tny")
    assert known.read("components", "x.acme") is None


def test_what_is_wrong_is_placed() -> None:
    def read(*_: Any) -> Found:
        raise InvalidInput(Problem("", "is empty"))

    with pytest.raises(InvalidInput, match=r"^policy: is empty$"):
        registry(read).resolve("architectures", "x.acme", "policy")


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda *_: 1 / 0, "plugin test .*: reader 'acme' failed: ZeroDivisionError: division by zero"),
        (lambda *_: Found("tiny"), "reader 'acme' returned 'tiny' .* where Architecture was expected"),
    ],
)
def test_a_reader_that_fails_is_named(read: Any, told: str) -> None:
    with pytest.raises(PluginError, match=told):
        registry(read).resolve("architectures", "x.acme")
