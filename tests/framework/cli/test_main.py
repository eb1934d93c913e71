import json
import os
import subprocess
import sys

import pytest

from alignsim import __version__
from alignsim.cli import main
from alignsim.cli.state import COMMANDS

HEAVY = {"networkx", "numpy", "pint", "rich"}


def process(*words, **environment):
    return subprocess.run(
        [sys.executable, "-m", "alignsim", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"]])
def test_help_loads_no_large_library(words):
    program = f"from alignsim.cli import main\nassert main({words!r}) == 0\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & HEAVY
    assert not any(name.startswith("alignsim_plugins") for name in loaded)


def test_a_file_or_pipe_is_written_without_rich():
    program = "from alignsim.cli import main\nmain(['algorithms'])\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not set(done.stdout.splitlines()[-1].split()) & {"rich", "numpy"}


def test_help_lists_every_command(alignsim):
    done = alignsim("--help")
    assert done.status == 0
    for command in COMMANDS:
        assert f"\n  {command} " in done.out
        assert alignsim(command, "-h").status == 0
    assert alignsim().status == 2  # as any group of commands: help, and the status of wrong usage
    assert alignsim("--version").out == f"alignsim, version {__version__}\n"


def test_the_module_runs_and_writes_clean_json():
    done = process("run", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["min_devices_for_ppo"] == 19


def test_a_misspelt_command_is_wrong_usage(alignsim):
    done = alignsim("explian")
    assert (done.status, done.out) == (2, "")
    assert "no command 'explian'; did you mean explain" in done.err
    (problem,) = alignsim("explian", "--json").problems
    assert "did you mean explain" in problem["message"]


def test_a_plugin_adds_a_command(alignsim, acme):
    assert "acme-report" not in alignsim("--help").out
    assert "acme-report  Print what Acme has to say." in alignsim("--plugin", acme, "--help").out
    assert alignsim("--plugin", acme, "acme-report").out == "all is well\n"
    assert "did you mean acme-report" in alignsim("--plugin", acme, "acme-rport").err


def test_a_plugin_that_cannot_be_loaded_ends_with_3(alignsim, plugin_file):
    assert alignsim("--plugin", "nowhere.py", "run").status == 3
    done = alignsim("run", "--plugin", plugin_file("import nothing_of_that_name"))
    assert done.status == 3
    assert "acme.py:1: ModuleNotFoundError" in done.err


def test_a_broken_plugin_is_told_of_and_breaks_nothing(alignsim, broken):
    done = alignsim("run", "--plugin", broken, "--algorithm", "DPO")
    assert done.status == 0
    assert "warning: plugin alignsim_file_broken" in done.err
    assert "the shelf is empty" in done.err


def test_a_fault_ends_with_70_and_a_traceback_only_on_demand(alignsim, acme, monkeypatch):
    failing = ("run", "AcmeFailing", "--plugin", acme)
    done = alignsim(*failing)
    assert (done.status, done.out) == (70, "")
    assert "internal error: TypeError: one and one is three" in done.err
    assert "acme.py:8" in done.err
    assert "Traceback" not in done.err
    (problem,) = alignsim(*failing, "--json").problems
    assert problem["message"].startswith("TypeError: one and one is three")
    monkeypatch.setenv("ALIGNSIM_DEBUG", "1")
    assert "Traceback" in alignsim(*failing).err


def test_an_interrupt_ends_with_130(alignsim, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("alignsim.cli.asking.ask", interrupted)
    assert main(["run"]) == 130


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m alignsim models --json | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "141\n"
    assert done.stderr == ""


def test_names_are_completed():
    done = process(_ALIGNSIM_COMPLETE="bash_complete", COMP_WORDS="alignsim models Llama-3.1", COMP_CWORD="2")
    assert "plain,Llama-3.1-8B" in done.stdout.splitlines()


def test_a_terminal_gets_drawn_tables(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["algorithms"]) == 0
    out = capsys.readouterr().out
    assert "─" in out
    assert "rollout -> score -> update" in out
