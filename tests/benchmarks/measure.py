"""Medians of interleaved rounds: what is compared runs in turn, so that a noisy machine is noisy for both."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from time import process_time
from typing import Any

import attrs

ROUNDS = 20
SHORTEST = 0.004  # seconds that one measurement of a short call is made to last


@attrs.frozen
class Times:
    """CPU seconds of one call, by name, one number a round."""

    rounds: Mapping[str, Sequence[float]]

    def seconds(self, name: str) -> float:
        return median(self.rounds[name])

    def ratio(self, name: str, base: str) -> float:
        """The median of the rounds' own ratios: both sides of each were measured next to each other."""
        return median(a / b for a, b in zip(self.rounds[name], self.rounds[base], strict=True))


def interleaved(calls: Mapping[str, Callable[[], Any]], rounds: int = ROUNDS) -> Times:
    """Return the CPU time of each call, warm. Every round runs all of them; every other round in reverse order."""
    repeats = {name: _repeats(call) for name, call in calls.items()}
    found: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    try:
        for i in range(rounds):
            for name in reversed(list(calls)) if i % 2 else calls:
                found[name].append(_once(calls[name], repeats[name]))
    finally:
        gc.enable()
    return Times(found)


def _once(call: Callable[[], Any], repeats: int) -> float:
    loop = range(repeats)
    start = process_time()
    for _ in loop:
        call()
    return (process_time() - start) / repeats


def _repeats(call: Callable[[], Any]) -> int:
    repeats = 1
    while _once(call, repeats) * repeats < SHORTEST:
        repeats *= 2
    return repeats


def processes(codes: Mapping[str, Sequence[str]], rounds: int = ROUNDS) -> Times:
    """Return the CPU time of fresh interpreters with the given arguments, start and end included."""
    for arguments in codes.values():  # compiles modules, and fills the cache of the file system
        _spawn(arguments)
    found: dict[str, list[float]] = {name: [] for name in codes}
    for i in range(rounds):
        for name in reversed(list(codes)) if i % 2 else codes:
            found[name].append(_spawn(codes[name]))
    return Times(found)


def _spawn(arguments: Sequence[str]) -> float:
    before = os.times()
    start = (before.children_user, before.children_system)
    if hasattr(os, "wait4"):  # microseconds; os.times counts in ticks of 10 ms
        child = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise subprocess.CalledProcessError(child.returncode, list(arguments))
        return usage.ru_utime + usage.ru_stime
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - sum(start)


def calibration() -> float:
    """A fixed loop of plain Python: the yardstick by which figures of different machines can be compared."""
    total = 0.0
    for i in range(100_000):
        total += i * 0.5
    return total
