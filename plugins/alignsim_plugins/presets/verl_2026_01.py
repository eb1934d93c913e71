"""verl of January 2026: one process a device for actor, critic and reference, vLLM beside it; FSDP unless told."""

from __future__ import annotations

from collections.abc import Iterable

from alignsim import Choice, Const, Preset, hookimpl
from alignsim_plugins.presets.serving import VLLM
from alignsim_plugins.presets.verl import ASKS, CONFIG, FSDP, LEFT_OUT, MEGATRON, ONLY, SAMPLING, of

WORKERS = "workers/fsdp_workers.py"
ENTROPY = f"verl b178a3cd: {WORKERS} and megatron_workers.py, compute_log_prob(calculate_entropy=True)"

CHOICES = (
    *of("verl-2026.01", "b178a3cd", WORKERS, "workers/actor/megatron_actor.py"),
    Choice(
        givens={"generator.max_sequences": 1024},
        where={"rollout": VLLM},
        source=f"{CONFIG}/rollout/rollout.yaml, max_num_seqs: 1024",
    ),
    Choice(
        givens={"policy.reshards_root": 1},
        where={"engine": "fsdp1"},
        source=f"verl b178a3cd: {WORKERS}, compute_log_prob: _handle.reshard(True) of the root",
    ),
    Choice(
        givens={"reference.reshards_root": 1},
        where={"engine": "fsdp1", "reference.engine": ("fsdp1-cpu-offload", "fsdp1-same-weights")},
        source=f"verl b178a3cd: {WORKERS}, compute_ref_log_prob: _handle.reshard(True) of the root",
    ),
    Choice(
        givens={"policy.inferred_narrow": Const(4, "byte"), "policy.inferred_wide": Const(8, "byte")},
        where={"engine": FSDP, "policy.loss": "verl-2026.01"},
        source=f"{ENTROPY}: entropies too, under torch.compile; as verl-2026.01-entropy-compiled",
    ),
    Choice(
        givens={
            "policy.inferred_narrow": Const(10, "byte", low=8, high=12),
            "policy.inferred_wide": Const(8, "byte", low=6, high=10),
        },
        where={"engine": MEGATRON, "policy.loss": "megatron-d98e8a6"},
        source=f"{ENTROPY}: entropies of a clone of the logits; as verl-megatron-b178a3c-entropy",
    ),
)

VERL_2026_01 = Preset(
    name="verl-2026.01",
    framework="verl",
    version="January 2026 (b178a3cd)",
    aliases=("verl-legacy",),
    algorithms=SAMPLING,
    only=ONLY,
    choices=CHOICES,
    source="verl b178a3cd, January 2026: workers/fsdp_workers.py, workers/megatron_workers.py, trainer/config",
    asks=(
        *ASKS,
        "use_reward_loop: with False, RewardModelWorker, choose reward.engine=fsdp1-cpu-offload or fsdp2-cpu-offload",
    ),
    left_out=LEFT_OUT,
)


@hookimpl
def alignsim_presets() -> Iterable[Preset]:
    """Offer verl of January 2026."""
    yield VERL_2026_01
