"""The devices of this machine, with a driver that is made up."""

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from alignsim import Detected, InvalidInput, default_registry
from alignsim.cli import main
from alignsim_hardware.nvml import devices

H100, MIB = "NVIDIA H100 80GB HBM3", 2**20


class NVMLError(Exception):
    pass


@pytest.fixture
def driver(monkeypatch):
    """Return ``driver(*devices, fails=None)``; what it says is told through a module of NVML's name."""

    def made(*found, fails=""):
        asked = []

        def answer(name, value):
            def function(*arguments):
                asked.append(name)
                told = value(*arguments) if callable(value) else value
                if name == fails or told is None:
                    raise NVMLError("Driver Not Loaded")
                return told

            return function

        nvml = ModuleType("pynvml")
        functions = {
            "nvmlInit": 0,
            "nvmlShutdown": 0,
            "nvmlSystemGetDriverVersion": b"570.86",
            "nvmlDeviceGetCount": len(found),
            "nvmlDeviceGetHandleByIndex": lambda index: found[index],
            "nvmlDeviceGetName": lambda handle: handle[0],
            "nvmlDeviceGetMemoryInfo": lambda handle: handle[1] and SimpleNamespace(total=handle[1]),
        }
        for name, value in functions.items():
            setattr(nvml, name, answer(name, value))
        nvml.NVMLError = NVMLError  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pynvml", nvml)
        return asked

    return made


def test_devices_as_the_driver_reports_them(driver):
    asked = driver((H100, 81559 * MIB), (b"NVIDIA GB10", None))
    assert devices() == (Detected(H100, 81559 * MIB, "570.86"), Detected("NVIDIA GB10", None, "570.86"))
    assert (asked[0], asked[-1]) == ("nvmlInit", "nvmlShutdown")


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(InvalidInput, match=r"nvidia-ml-py is not installed; pip install 'alignsim\[nvml\]'"):
        devices()


@pytest.mark.parametrize(
    ("fails", "told"),
    [("nvmlInit", "there is no NVIDIA driver that answers"), ("nvmlDeviceGetCount", "cannot read the devices")],
)
def test_a_driver_that_fails(driver, fails, told):
    asked = driver((H100, 1), fails=fails)
    with pytest.raises(InvalidInput, match=f"NVML: {told}: Driver Not Loaded"):
        devices()
    assert asked[-1] == ("nvmlInit" if fails == "nvmlInit" else "nvmlShutdown")


def test_the_command_says_what_to_write(driver, capsys):
    driver((H100, 81559 * MIB), (H100, 81559 * MIB), ("NVIDIA H100 8GB", 8 * MIB), (H100, 40 * 2**30))
    assert main(["hardware", "detect"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert any(line.startswith(f"2  {H100}") and line.endswith("--gpus 2xH100-SXM5-80GB") for line in lines)
    assert any("NVIDIA H100 8GB" in line and "not in the catalogue; " in line for line in lines)
    assert any(line.endswith("not H100-SXM5-80GB: its memory is another (a slice of a device?)") for line in lines)


def test_the_command_as_json(driver, capsys):
    driver((H100, 81559 * MIB), ("NVIDIA GH200 480GB", None))
    assert main(["hardware", "detect", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "alignsim.detected/1"
    first = told["devices"][0]
    assert (first["catalogue"], first["count"], first["agrees"]) == ("H100-SXM5-80GB", 1, True)
    assert first["memory"] == first["catalogue_memory"] == 81559 * MIB
    assert told["devices"][1]["agrees"] is None


def test_no_device_at_all(driver, capsys):
    driver()
    assert main(["hardware", "detect"]) == 2
    assert "no device is here that a detector knows of" in capsys.readouterr().err


def test_every_device_of_the_catalogue_is_found_by_its_other_names():
    accelerators = default_registry().accelerators
    assert all(accelerators[alias] is each for each in accelerators.values() for alias in each.aliases)
