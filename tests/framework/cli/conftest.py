"""Runs command lines in this process."""

import json
from textwrap import dedent
from typing import Any

import attrs
import pytest

from alignsim.cli import main

BROKEN = """
    from alignsim import hookimpl

    @hookimpl
    def alignsim_algorithms():
        raise RuntimeError("the shelf is empty")
"""

ACME = """
    from alignsim import Scenario, hookimpl

    class Failing:
        name = "failing"

        def solve(self, scenario):
            raise TypeError("one and one is three")

    @hookimpl
    def alignsim_solvers():
        yield Failing()

    @hookimpl
    def alignsim_scenarios(registry):
        common = dict(
            algorithm="DPO",
            models={"policy": "Llama-2-7B"},
            accelerator="H100-SXM5-80GB",
            components={
                "precision": "bf16-master",
                "engine": "even-split",
                "optimizer": "adamw-fused",
                "adapter": "full",
                "*": "none",
            },
            registry=registry,
        )
        yield Scenario(name="AcmeDpo", **common)
        yield Scenario(name="AcmeFailing", solver="failing", **common)

    @hookimpl
    def alignsim_commands():
        import click

        @click.command("acme-report")
        def report():
            '''Print what Acme has to say.'''
            click.echo("all is well")

        yield report
"""


@attrs.frozen
class Done:
    """How a command line ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def problems(self) -> Any:
        found = json.loads(self.err)
        assert found["schema"] == "alignsim.error/1"
        assert found["error"]["exit"] == self.status
        assert self.out == ""
        return found["error"]["problems"]


@pytest.fixture
def alignsim(capsys):
    """Return ``alignsim("run", "--json")``, which gives a :class:`Done`."""

    def run(*words):
        status = main(words)
        out, err = capsys.readouterr()
        return Done(status, out, err)

    return run


@pytest.fixture
def plugin_file(tmp_path):
    """Return ``plugin_file(text)``, which gives the path of a plugin with that text."""

    def write(text, name="acme.py"):
        path = tmp_path / name
        path.write_text(dedent(text), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def acme(plugin_file):
    """A plugin with two scenarios, a solver that fails, and a command."""
    return plugin_file(ACME)


@pytest.fixture
def broken(plugin_file):
    """A plugin whose hook raises."""
    return plugin_file(BROKEN, "broken.py")
