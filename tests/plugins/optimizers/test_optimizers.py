"""Optimizers: state and temporaries by hand, and as torch 2.13 was seen to make them."""

from __future__ import annotations

import pytest

from alignsim_plugins.optimizers import adafactor, adamw_loop, eight_bit, moments, muon, paged_adamw, sgd
from small_runs import held, small_run, worked

EVERY = (
    "adamw-fused",
    "adamw-foreach",
    "adamw-loop",
    "sgd",
    "sgd-momentum",
    "adafactor",
    "lion",
    "adamw-8bit",
    "paged-adamw-8bit",
    "lion-8bit",
    "paged-lion-8bit",
    "muon",
)


def test_temporaries_as_they_were_seen():
    """Peaks beside parameters, gradients and state of one step over a matrix of 500 x 200."""
    matrix = 500 * 200
    for width in (2, 4):
        assert worked(adamw_loop.step_memory, matrix, width) == 2 * width * matrix
        assert worked(muon.newton_schulz, matrix, 200, width) == (width + 4) * matrix + 4 * 200 * 200
    assert worked(adafactor.step_memory, matrix, 4) == 8 * matrix
    assert worked(adafactor.step_memory, matrix, 2) == 16 * matrix
    assert worked(sgd.step_memory, 0, matrix, 2, 0) == 0
    assert worked(moments.last_gradient_cast, matrix, 2, 4) == 2 * matrix


def test_state_in_eight_bits_by_hand():
    assert worked(eight_bit.one_state, 256, 0) == 256 + 4
    assert worked(eight_bit.one_state, 1256, 1000) == 4000 + 260
    assert worked(eight_bit.wide_parameters, 1000, 10, 4096) == 1000
    assert worked(eight_bit.wide_parameters, 1000, 10, 4095) == 1010


def test_bytes_a_parameter():
    shape = {"layers": 40, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128}
    per = {}
    for name in EVERY:
        result = small_run(shape, optimizer=name, precision="fp32").result
        per[name] = result.value("policy.optimizer_state") / result.value("{small}.parameters")
    assert per["adamw-fused"] == per["adamw-foreach"] == per["adamw-loop"] == 8
    assert per["sgd"] == 0
    assert per["sgd-momentum"] == per["lion"] == 4
    assert per["adamw-8bit"] == pytest.approx(2 * (1 + 4 / 256), rel=1e-3)
    assert per["lion-8bit"] == pytest.approx(1 + 4 / 256, rel=1e-3)
    assert per["paged-adamw-8bit"] == pytest.approx(8 / 256, rel=0.01)
    assert per["muon"] == pytest.approx(4, rel=1e-3)
    assert per["adafactor"] < 0.002


def test_adafactor_by_hand():
    result = small_run(optimizer="adafactor").result
    layer = 4 * 128 + 2 * 128 + 2 * 64 + 3 * (128 + 384)
    assert result.value("policy.trained_edges") == 2 * (64 + 128) + 3 * layer
    assert result.value("policy.optimizer_state") == 4 * (2 * (64 + 128) + 3 * layer + 7 * 128)


def test_pages_are_on_the_host_or_on_the_device():
    paged, whole = small_run(optimizer="paged-adamw-8bit"), small_run(optimizer="adamw-8bit")
    state = whole.result.value("policy.optimizer_state")
    assert paged.using(resource="host").result.value("host") + paged.result.value("policy.optimizer_state") == state
    assert paged.using(paged_share=1).result.value("policy.optimizer_state") == state


@pytest.mark.parametrize("optimizer", EVERY)
@pytest.mark.parametrize("adapter", ["full", "lora", "qlora", "dora"])
def test_a_step_holds_at_least_weights_and_gradients(optimizer, adapter):
    run = small_run(optimizer=optimizer, adapter=adapter)
    value = run.result.value
    least = value("policy.weights") + value("policy.adapter_weights") + value("policy.gradients")
    assert held(run, "optimizer_step") >= least + value("policy.optimizer_state")


@pytest.mark.parametrize("shape", [{}, {"tied": True}, {"qkv_bias": True, "qk_norm": True}, {"norms": 4}])
def test_what_is_trained_adds_up(shape):
    value = small_run(shape).result.value
    attention, mlp = 2 * 128 * 128 + 2 * 128 * 64, 3 * 128 * 384
    outside = value("policy.trained_embedding") + value("policy.trained_head") + value("policy.trained_vectors")
    assert outside + 3 * (attention + mlp) == value("{small}.parameters")


def test_experts_are_no_matrices():
    shape = {"experts": 8, "experts_per_token": 2, "expert_ffn": 32, "ffn": 0}
    value = small_run(shape, optimizer="muon").result.value
    assert value("policy.trained_experts") == 3 * 8 * 3 * 128 * 32
    attention, router = 2 * 128 * 128 + 2 * 128 * 64, 8 * 128
    matrices = 3 * (attention + router)
    assert value("policy.optimizer_state") == 2 * (2 * value("{small}.parameters") - matrices)


def test_paged_moments_in_32_bits_by_hand():
    assert worked(paged_adamw.paged_state, 1000, 10) == 8 * 990
    assert worked(paged_adamw.optimizer_state, 1000, 8 * 990, 0) == 8 * 10
    assert worked(paged_adamw.optimizer_state, 1000, 8 * 990, 1) == 8 * 1000
