import subprocess
import sys

import alignsim_acme

from alignsim import Scenarios
from alignsim.testing import AcceleratorTests


class TestAcme(AcceleratorTests):
    plugin = alignsim_acme


def alignsim(*arguments):
    command = [sys.executable, "-m", "alignsim", *arguments]
    return subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout


def test_the_command_line_lists_it():
    shown = alignsim("hardware", "Acme-X1")
    assert "94.000 GiB" in shown
    assert "Acme driver 1.4" in shown


def test_a_run_takes_place_on_it():
    run = Scenarios.Llama2_70B_PpoAlignment.as_run(accelerator="Acme-X1")
    assert run.accelerator == alignsim_acme.X1
    assert run.result.peak < run.accelerator.least_memory * run.result.peak.u
