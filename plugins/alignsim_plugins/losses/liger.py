"""The fused losses of Liger: head and loss chunk by chunk, with gradients made in the forward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from alignsim import Component, hookimpl, maths, term
from alignsim_plugins.losses.chunked_head import chunked_head
from alignsim_plugins.losses.selectors import COMPLETIONS
from alignsim_plugins.losses.slot import ANSWERS, PAIRS, TOKENS
from alignsim_plugins.losses.slot import CROSS_ENTROPY as MEAN

CROSS_ENTROPY = "Liger-Kernel: ops/fused_linear_cross_entropy.py"
PREFERENCE = "Liger-Kernel 0.6.4: chunked_loss/fused_linear_preference.py (DPO, ORPO, CPO, SimPO), chunk_size=1"
UNPAIRED = "Liger-Kernel 0.6.4: chunked_loss/fused_linear_unpaired_preference.py (KTO), chunk_size=1"
GRPO = "Liger-Kernel 0.6.4: chunked_loss/fused_linear_ppo.py and grpo_loss.py, chunk_size=1"
REASONED = (
    "read there, not measured: 2 bytes where a compiler fuses all, 12 where each operation makes a copy; a chunk's "
    "gradient of the head before it is added"
)


@term("token", per={"role"}, source=f"{CROSS_ENTROPY}: triton.cdiv(BT, triton.cdiv(V, H))")
def chunk_share(head_tokens: Any, vocab: Any, hidden: Any) -> Any:
    """So many tokens that their logits are about as large as the head's whole input."""
    return maths.ceil(head_tokens / maths.ceil(vocab / hidden))


@term("token", per={"role"}, source=f"{CROSS_ENTROPY}: triton.next_power_of_2, at most all tokens")
def chunk_tokens(head_tokens: Any, chunk_share: Any) -> Any:
    """The next power of two of a share: 1, and 1 more above 1, 2 more above 2, 4 more above 4, and so on."""
    return maths.minimum(
        head_tokens,
        1
        + (chunk_share > 1)
        + 2 * (chunk_share > 2)
        + 4 * (chunk_share > 4)
        + 8 * (chunk_share > 8)
        + 16 * (chunk_share > 16)
        + 32 * (chunk_share > 32)
        + 64 * (chunk_share > 64)
        + 128 * (chunk_share > 128)
        + 256 * (chunk_share > 256)
        + 512 * (chunk_share > 512)
        + 1024 * (chunk_share > 1024)
        + 2048 * (chunk_share > 2048)
        + 4096 * (chunk_share > 4096)
        + 8192 * (chunk_share > 8192)
        + 16384 * (chunk_share > 16384)
        + 32768 * (chunk_share > 32768)
        + 65536 * (chunk_share > 65536)
        + 131072 * (chunk_share > 131072),
    )


@term("token", per={"role"}, source=PREFERENCE, name="chunk_tokens")
def pair_tokens(head_tokens: Any, rows: Any) -> Any:
    """The tokens of one pair."""
    return 2 * head_tokens / rows


@term("token", per={"role"}, source=GRPO, name="chunk_tokens")
def row_tokens(head_tokens: Any, rows: Any) -> Any:
    """The tokens of one row that have a loss."""
    return head_tokens / rows


LIGER = (
    chunked_head(
        "liger-0.6.4-cross-entropy",
        kinds={MEAN},
        chunk=(chunk_share, chunk_tokens),
        forward=(2, 2, 4),
        backward=0,
        inferred=(4, 2, 4),
        early=True,
        head_products=3,
        inside_forward=True,
        source=f"{CROSS_ENTROPY} of 0.6.4: the gradient takes the logits' place; grad_weight += torch.mm(...).float(), "
        "a product in 16 bits and its copy in 32; two chunks' logits at once without that; read there, not measured",
    ),
    chunked_head(
        "liger-00eba63-cross-entropy",
        kinds={MEAN},
        chunk=(chunk_share, chunk_tokens),
        forward=(2, 2, 4),
        backward=0,
        inferred=(2, 2, 4),
        early=True,
        inside_forward=True,
        source=f"{CROSS_ENTROPY} of 00eba634, after 0.6.4: one buffer of logits for all chunks, torch.addmm in place; "
        "read there, not measured",
    ),
    chunked_head(
        "liger-0.6.4-preference",
        kinds={PAIRS},
        chunk=(pair_tokens,),
        forward=(6, 2, 12),
        backward=0,
        inferred=(6, 2, 10),
        early=True,
        head_products=1,
        source=f"{PREFERENCE}; {REASONED}",
    ),
    chunked_head(
        "liger-0.6.4-kto",
        kinds={ANSWERS},
        chunk=(row_tokens,),
        forward=(6, 2, 12),
        backward=0,
        inferred=(6, 2, 10),
        early=True,
        head_products=1,
        source=f"{UNPAIRED}; {REASONED}",
    ),
    chunked_head(
        "liger-0.6.4-grpo",
        kinds={TOKENS},
        chunk=(row_tokens,),
        forward=(6, 2, 12),
        backward=0,
        inferred=(6, 2, 10),
        early=True,
        head_products=1,
        tokens=COMPLETIONS,
        source=f"{GRPO}; {REASONED}",
    ),
)


@hookimpl
def alignsim_components() -> Iterator[Component]:
    """Offer Liger's fused losses."""
    yield from LIGER
