"""Ways to hold vLLM and SGLang, as presets ask for them."""

from __future__ import annotations

VLLM = "vllm*"
SLEEPING = ("vllm", "vllm-offloading", "vllm-0.9", "vllm-0.17", "vllm-0.17-offloading")
"""vLLM that is asleep while others work."""
SGLANG = "sglang*"
