"""What real lengths make of a micro-batch: padded to the longest, put end to end, or by a budget; by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alignsim import Batch, InvalidInput, Layout, Lengths, Result, Scenario
from alignsim.cli.composing import lengths
from alignsim.runfile import scenario_of
from alignsim_plugins.packing.lengths import packed_share

KNOWN = Lengths(mean=900, p99=3800, maximum=4000)
CONFIGURED = 4096


def scenario(packing: str, known: Lengths = KNOWN, micro_batch: int = 4, **more: Any) -> Scenario:
    fields: dict[str, Any] = {
        "algorithm": "GRPO-No-KL",
        "preset": "verl-2026.01",
        "models": {"policy": "Qwen2.5-1.5B"},
        "accelerator": "H100-SXM5-80GB",
        "layout": Layout(data=8),
        "components": {"packing": packing},
        "batch": Batch(
            micro_batch=micro_batch,
            sequence_tokens=CONFIGURED,
            prompt_tokens=512,
            rollout_tokens=CONFIGURED,
            rollout_sequences=64,
        ),
        "lengths": known,
        **more,
    }
    return Scenario(**fields)


def result(*args: Any, **more: Any) -> Result:
    found: Result = scenario(*args, **more).result
    return found


@pytest.mark.parametrize("packing", ["padded", "equal", "packed", "token-budget"])
def test_where_nothing_is_known_every_sequence_is_as_long_as_configured(packing):
    unknown = result(packing, Lengths())
    assert unknown.value("policy.row_tokens") >= CONFIGURED
    assert unknown.value("policy.length_share") == 1
    assert unknown.value("policy.rank_imbalance") == 1
    assert unknown.verdict is not None
    assert not unknown.verdict.real_lengths
    assert all(judged.configured is None for judged in unknown.verdict.judged)


@pytest.mark.parametrize("packing", ["padded", "equal"])
def test_padded_rows_are_as_long_as_the_longest(packing):
    known = result(packing)
    assert known.value("policy.tokens") == pytest.approx(4 * 4000)
    assert known.value("policy.rank_imbalance") == pytest.approx(4000 / 900)


def test_packed_rows_are_a_sum_that_99_of_100_do_not_exceed():
    known = result("packed")
    assert known.value("policy.tokens") == math.ceil(4 * 900 + 2900 * math.sqrt(4))
    assert known.value("policy.rank_imbalance") == pytest.approx((4 * 900 + 5800) / 3600)
    assert result("packed", micro_batch=1).value("policy.tokens") == 4000
    seldom = Lengths(mean=900, p99=1000, maximum=4000)
    assert result("packed", seldom).value("policy.tokens") == math.ceil(3 * 900 + 4000)


def test_a_budget_is_filled_with_more_rows():
    known = result("token-budget", givens={"token_budget": 8192})
    assert known.value("policy.tokens") == 8192
    assert known.value("policy.rows") == pytest.approx(8192 / 900)
    assert known.value("policy.rank_imbalance") == 1
    small = result("token-budget", givens={"token_budget": 2000})
    assert small.value("policy.tokens") == 4000
    assert small.value("policy.rank_imbalance") == 2


def test_prompts_of_shorter_sequences_are_the_same_part_of_them():
    known = result("padded", preset=None, components=_trl())
    assert known.value("policy.completion_tokens") == pytest.approx(4 * 4000 * (CONFIGURED - 512) / CONFIGURED)


def _trl() -> dict[str, str]:
    return {
        "engine": "fsdp2",
        "layers": "transformers",
        "precision": "bf16-gathered",
        "optimizer": "adamw-fused",
        "adapter": "full",
        "recompute": "full",
        "attention": "flash",
        "packing": "padded",
        "loss": "trl-fused",
        "rollout": "vllm",
        "weight_sync": "one-by-one",
    }


def test_both_are_told_where_both_are_known():
    known, unknown = result("packed"), result("packed", Lengths())
    assert known.verdict is not None
    assert known.verdict.real_lengths
    (judged,) = known.verdict.judged
    assert judged.configured == pytest.approx(unknown.value("device"))
    assert judged.expected < unknown.value("device")
    assert dict(known.verdict.lengths)["longest_tokens"] == 4000


def test_under_megatron_context_ranks_have_their_part():
    choices = {"engine": "megatron", "packing": "padded"}
    known = result("padded", components=choices, layout=Layout(tensor=2, context=2, data=2))
    assert known.value("policy.tokens") == pytest.approx(4 * 4000 / 2)


def test_files_and_flags_say_them_too():
    data = {
        "algorithm": "SFT",
        "models": {"policy": "Qwen2.5-1.5B"},
        "lengths": {"mean": 900, "p99": 3800, "maximum": 4000},
    }
    assert scenario_of(data).lengths == KNOWN == lengths(["mean=900,p99=3800", "maximum=4000"])


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"mean": 900, "maximum": 800}, r"Lengths\.maximum: must be at least mean, which is 900; got 800"),
        ({"mean": 900}, r"Lengths\.maximum: is needed"),
        ({"maximum": 0}, r"Lengths\.maximum"),
        ({"longest": 4}, r"Lengths\.longest: no such field"),
    ],
)
def test_what_is_out_of_order_is_refused(known, message):
    with pytest.raises(InvalidInput, match=message):
        Lengths(**known)


def test_longer_than_configured_is_refused():
    with pytest.raises(InvalidInput, match=r"lengths\.maximum: is 5000, but batch\.sequence_tokens cuts .* at 4096"):
        scenario("packed", Lengths(maximum=5000))


@pytest.mark.parametrize("text", ["mean", "mean=", "mean=x", "length=3"])
def test_flags_that_cannot_be_read_are_refused(text):
    with pytest.raises(InvalidInput, match="--real-lengths"):
        lengths([text])


SHARE = st.floats(0.01, 1)


@given(st.integers(1, 10_000), SHARE, SHARE, SHARE)
def test_a_packed_row_is_between_the_mean_and_the_longest(rows, a, b, c):
    mean, p99, longest = sorted((a, b, c))
    share = packed_share(rows, longest, mean, p99)
    assert mean <= share <= longest
    assert packed_share(4 * rows, longest, mean, p99) <= share
