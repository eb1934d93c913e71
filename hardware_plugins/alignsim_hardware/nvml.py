"""The devices of this machine, as NVIDIA's management library (NVML) reports them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from alignsim.detector import Detected, Detector
from alignsim.errors import InvalidInput
from alignsim.hookspecs import hookimpl


def devices() -> tuple[Detected, ...]:
    """Return every device that NVML knows, in its order.

    Raises:
        InvalidInput: the extra is not installed, there is no driver, or NVML fails.
    """
    try:
        nvml = import_module("pynvml")
    except ImportError:
        raise InvalidInput("NVML: nvidia-ml-py is not installed; pip install 'alignsim[nvml]'") from None
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise InvalidInput(f"NVML: there is no NVIDIA driver that answers: {error}") from None
    try:
        return tuple(_found(nvml))
    except nvml.NVMLError as error:
        raise InvalidInput(f"NVML: cannot read the devices: {error}") from None
    finally:
        with suppress(nvml.NVMLError):
            nvml.nvmlShutdown()


def _found(nvml: Any) -> Iterator[Detected]:
    driver = _text(nvml.nvmlSystemGetDriverVersion())
    for index in range(nvml.nvmlDeviceGetCount()):
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        memory = None
        with suppress(nvml.NVMLError):  # devices that share the memory of their host do not say
            memory = int(nvml.nvmlDeviceGetMemoryInfo(handle).total)
        yield Detected(_text(nvml.nvmlDeviceGetName(handle)), memory, driver)


def _text(told: Any) -> str:
    """Older versions of nvidia-ml-py return bytes."""
    return told.decode() if isinstance(told, bytes) else str(told)


@hookimpl
def alignsim_detectors() -> tuple[Detector, ...]:
    """Offer the detector of NVIDIA devices."""
    return (Detector(name="nvml", detect=devices, about="NVIDIA devices, from their driver"),)
