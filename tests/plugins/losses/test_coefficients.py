"""Loss paths that are a few coefficients, by hand: a small run, and its largest tensors counted on paper."""

from __future__ import annotations

from typing import Any

import pytest

from alignsim import Architecture, Batch, Scenario, default_registry
from alignsim.errors import CompositionError
from alignsim_plugins.losses import chunked_head, coefficients, liger, nemo_rl, verl
from alignsim_plugins.losses.coefficients import MOMENTS
from alignsim_plugins.losses.selectors import SELECTORS

REGISTRY = default_registry()
SHAPE: dict[str, Any] = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "ffn": 192, "vocab": 1000}
ROWS, SEQUENCE, PROMPT, VOCAB, HIDDEN = 4, 512, 128, 1000, 64
TOKENS, COMPLETIONS = ROWS * SEQUENCE, ROWS * (SEQUENCE - PROMPT)
LOSS, BACKWARD = "update:policy/loss", "update:policy/backward_loss"
PATHS = [c for c in REGISTRY.components.values() if c.slot.name == "loss" and "forward_narrow" in c.defaults]


def run(loss: Any, algorithm: str = "SFT", *, precision: str = "bf16", rows: int = ROWS, **givens: Any) -> Any:
    roles = REGISTRY.algorithms[algorithm].roles
    choices: dict[str, Any] = {
        "precision": precision,
        "optimizer": "adamw-fused",
        "adapter": "full",
        "recompute": "full",
        "attention": "sdpa",
        "loss": loss,
        "engine": "single-device",
        "layers": "transformers",
        "packing": "equal",
    }
    if "teacher" in roles:
        choices["teacher.loss"] = "teacher-logits"
    toy = Architecture(name="toy", **SHAPE)
    scenario: Any = Scenario
    return scenario(
        algorithm=algorithm,
        models={role: toy for role in roles if role not in REGISTRY.algorithms[algorithm].model_of},
        components=choices,
        batch=Batch(micro_batch=rows, sequence_tokens=SEQUENCE, prompt_tokens=PROMPT),
        givens=givens,
    ).result


def words(result: Any, event: str, *names: str) -> float:
    """Return the bytes of the named terms at an event, per word."""
    (binding,) = (b for b in result.bindings("update:allocated") if b.event == event)
    at = {path.rpartition(".")[2]: size for path, size in binding.terms}
    return float(sum(at.get(name, 0.0) for name in names)) / VOCAB


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_path_holds_no_more_than_it_makes(path):
    for bits in ("narrow", "wide"):
        value = {moment: path.defaults[f"{moment}_{bits}"].value for moment in ("forward", "held", "inferred")}
        assert 0 < value["held"] <= value["forward"]
        assert value["inferred"] <= value["forward"] + path.defaults["inferred_chunk"].value
        if "backward_narrow" in path.defaults:
            assert path.defaults[f"backward_{bits}"].value >= value["held"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_every_coefficient_has_a_source_and_a_meaning(path):
    for name, constant in path.defaults.items():
        assert constant.source, name
        if constant.unit == "byte" and name.partition("_")[0] in MOMENTS:
            assert constant.value >= 0


def test_old_cross_entropy_by_hand():
    result = run("transformers-4.44")
    assert words(result, LOSS, "logits_at_loss") == 12 * TOKENS
    assert words(result, BACKWARD, "logits_in_backward") == 12 * TOKENS
    assert result.value("update:policy.logits_held") == 4 * TOKENS * VOCAB


def test_the_caller_of_a_loss_function_holds_16_bit_logits_but_no_second_32_bit_ones():
    assert words(run("transformers-4.46"), LOSS, "logits_at_loss") == 14 * TOKENS
    assert words(run("transformers-4.46", precision="fp32"), LOSS, "logits_at_loss") == 12 * TOKENS
    assert words(run("transformers-4.46", precision="autocast-bf16"), LOSS, "logits_at_loss") == 14 * TOKENS


def test_outside_the_forward_autocast_gives_32_bit_logits():
    narrow, wide = (run("trl-simpo", "SimPO", rows=ROWS // 2, precision=p) for p in ("bf16", "autocast-bf16"))
    assert words(narrow, LOSS, "logits_at_loss") == 4 * TOKENS
    assert words(wide, LOSS, "logits_at_loss") == 6 * TOKENS


def test_what_kto_copies_is_held_while_the_reference_runs():
    result = run("trl-kto", "KTO")
    assert words(result, "update:reference/forward_layers", "logits_held") == 4 * TOKENS
    assert words(result, BACKWARD, "logits_held", "logits_in_backward") == 4 * TOKENS
    assert result.value("divergence:policy.inferred_logits_at_loss") == 6 * TOKENS * VOCAB


def test_entropy_in_chunks_by_hand():
    result = run("verl-2026.01-entropy-chunked", entropy_chunk=256)
    assert words(result, LOSS, "logits_at_loss") == 10 * TOKENS + 4 * 256
    assert words(result, BACKWARD, "logits_in_backward") == max(10 * TOKENS + 20 * 256, 16 * (TOKENS - 256))
    whole = run("verl-2026.01-entropy-chunked", entropy_chunk=10**6)
    assert words(whole, BACKWARD, "logits_in_backward") == 30 * TOKENS


def test_log_probabilities_in_chunks_of_every_row():
    result = run("nemo-rl-7ea279a-chunked", logprob_chunk_size=128)
    assert words(result, LOSS, "logits_at_loss") == 2 * TOKENS + 12 * ROWS * 128
    assert words(result, BACKWARD, "logits_in_backward") == 10 * TOKENS + 4 * ROWS * 128


def test_what_was_not_measured_exactly_has_a_range():
    given = run("verl-2026.01-entropy-compiled").graph.givens["policy.backward_narrow"]
    assert (given.low, given.value, given.high) == (6, 7, 8)
    given = run("liger-0.6.4-preference", "CPO").graph.givens["policy.forward_tile"]
    assert (given.low, given.value, given.high) == (2, 6, 12)


def test_a_coefficient_is_an_input():
    assert words(run("openrlhf-3c3be62", backward_narrow=8), BACKWARD, "logits_in_backward") == 8 * TOKENS


def test_chunks_without_a_size_are_refused():
    path = coefficients.coefficients(
        "x", source="test", forward=(2, 4), held=(2, 4), backward=(4, 8), chunk={"forward": 4}
    )
    with pytest.raises(CompositionError, match="chunk_tokens"):
        run(path)


@pytest.mark.parametrize(("share", "rows"), [(1, 1), (2, 2), (3, 4), (129, 256), (4096, 4096), (4097, 8192)])
def test_next_power_of_two(share, rows):
    assert liger.chunk_tokens(head_tokens=10**6, chunk_share=share) == rows


def test_a_chunk_of_liger_by_hand():
    """The example of its source: 16,384 tokens, 32,000 words, hidden 4096: 8 chunks of 2048."""
    share = liger.chunk_share(head_tokens=4 * 4096, vocab=32000, hidden=4096)
    assert liger.chunk_tokens(head_tokens=4 * 4096, chunk_share=share) == 2048
    assert liger.chunk_tokens(head_tokens=3, chunk_share=3) == 3


def test_liger_holds_gradients_from_forward_to_backward():
    result = run("liger-00eba63-cross-entropy")
    gradients = 2 * VOCAB * HIDDEN + 2 * HIDDEN * TOKENS
    assert words(result, LOSS, "early_gradients") * VOCAB == gradients
    assert words(result, BACKWARD, "early_gradients") * VOCAB == gradients
    at_head = words(result, "update:policy/backward_head", "early_gradients", "held_head_gradient") * VOCAB
    assert at_head == 2 * VOCAB * HIDDEN
    assert words(result, LOSS, "tile_at_loss") == 2 * 128  # ceil(2048 / ceil(1000 / 64)) = 128, a power of two


def test_older_liger_makes_a_product_and_its_copy():
    result = run("liger-0.6.4-cross-entropy")
    assert words(result, LOSS, "tile_at_loss") == 2 * 128 + 3 * 2 * HIDDEN
    assert words(result, "update:policy/backward_head", "tile_in_backward") == 0


def test_pairs_and_rows_of_liger():
    assert run("liger-0.6.4-preference", "CPO").value("policy.chunk_tokens") == 2 * SEQUENCE
    assert run("liger-0.6.4-kto", "KTO").value("policy.chunk_tokens") == SEQUENCE
    grpo = run("liger-0.6.4-grpo")
    assert grpo.value("policy.head_tokens") == COMPLETIONS
    assert grpo.value("policy.chunk_tokens") == SEQUENCE - PROMPT


def test_fused_log_probabilities_by_hand():
    result = run("verl-2026.01-fused")
    assert words(result, LOSS, "tile_at_loss") == 16 * 512
    at_head = words(result, "update:policy/backward_head", "tile_in_backward", "held_head_gradient") * VOCAB
    assert at_head == 20 * 512 * VOCAB + 2 * 2 * VOCAB * HIDDEN
    assert words(result, BACKWARD, "early_gradients") == 0


@pytest.mark.parametrize(
    ("loss", "forward", "held", "backward"),
    [("trl-gkd", 15, 7, 12), ("trl-gkd-forward", 7, 2, 3), ("trl-gkd-reverse", 8, 3, 5)],
)
def test_distillation_by_hand(loss, forward, held, backward):
    result = run(loss, "Distillation")
    both = ("logits_at_loss", "logits_given")
    assert words(result, LOSS, *both) == 2 * (2 * TOKENS + forward * COMPLETIONS)
    assert words(result, "update:teacher/loss", "logits_held", "logits_given") == 2 * (held * COMPLETIONS + TOKENS)
    assert words(result, BACKWARD, "logits_given") == 0
    expected = 2 * max(backward * COMPLETIONS, TOKENS + COMPLETIONS)
    assert words(result, BACKWARD, "logits_in_backward") == expected
    assert words(result, "update:teacher/forward_layers", "logits_waiting") == 2 * TOKENS


def test_a_teacher_converts_its_logits_under_autocast():
    result = run("trl-gkd", "Distillation", precision="autocast-bf16")
    converted = words(result, "update:teacher/forward_head", "inferred_logits", "logits_being_converted")
    assert converted == (2 + 4) * TOKENS


def test_selectors_are_two_terms_each():
    for selector in SELECTORS:
        assert {"head_tokens", "logit_tokens"} <= {term.name for term in selector.terms}


def test_terms_are_plain_functions():
    assert nemo_rl.chunk_tokens(rows=4, sequence_tokens=512, logprob_chunk_size=1024, length_share=1) == 4 * 512
    assert verl.chunk_tokens(logit_tokens=100, entropy_chunk=2048) == 100
    assert chunked_head.norm_output(early=0, casts_weights=0, head_tokens=8, tokens=8, residual_bytes=2, hidden=4) == 0
