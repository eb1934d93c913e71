import re

import pytest

from alignsim import Scenarios

LLAMA = ("--policy", "Llama-3.1-8B", "--tensor", "4", "--pipeline", "1")


def test_the_reference_case_is_answered_without_flags(alignsim):
    done = alignsim("run")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Llama2_70B_PpoAlignment: policy Llama-2-70B-nominal, critic Llama-2-13B-nominal")
    assert "fits: PPO's model state fills 19 devices; the layout spreads a copy over 32" in done.out
    assert re.search(r"ppo_total +1,391\.396 GiB +1,494\.000 GB", done.out)
    assert re.search(r"parameters of Llama-2-70B-nominal +70,000,000,000  nominal", done.out)
    assert "activations, logits" in done.out


def test_json_is_the_answer_alone(alignsim):
    done = alignsim("run", "--json")
    assert (done.status, done.err) == (0, "")
    assert done.json == Scenarios.Llama2_70B_PpoAlignment.result.to_dict()
    assert done.json["schema"] == "alignsim.alignment-memory/1"
    assert alignsim("run", "llama2_70b_ppoalignment", "--json").json == done.json


def test_flags_change_the_scenario(alignsim):
    told = alignsim(
        *("run", "--json", "--policy", "Llama-2-70B", "--critic", "Llama-2-13B", "--tensor", "4", "--pipeline", "2"),
        *("--data", "1", "--rollout-sequences", "8", "--rollout-tokens", "100", "--device-memory", "192 GB"),
    ).json
    assert told["policy_state"] == 16 * 68_976_648_192
    assert told["model_parallel_devices"] == told["devices"] == 8
    assert told["kv_cache"] == 2 * 80 * 8 * 128 * 2 * 8 * 100
    assert told["scenario"].startswith("Llama2_70B_PpoAlignment with policy Llama-2-70B, critic Llama-2-13B, tensor 4")


def test_devices_by_name_set_their_memory_and_the_replicas(alignsim):
    done = alignsim("run", *LLAMA, "--gpus", "8xH100-SXM5-80GB")
    assert "tensor 4, pipeline 1, data 2" in done.out
    assert "device memory 79.100 GiB (84.9326 GB)" in done.out
    assert "memory of a device: least usable memory of H100-SXM5-80GB" in done.out
    assert "critic and reward: the policy's model, Llama-3.1-8B, since no --critic is given" in done.out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["100xH100-SXM5-80GB"],
            "100 devices are not a whole number of replicas of tensor 8 x pipeline 4 = 32 devices",
        ),
        (
            ["64xH100-SXM5-80GB", "--data", "3"],
            "64 devices are named, but the layout has tensor 8 x pipeline 4 x data 3",
        ),
        (["0xH100-SXM5-80GB"], "expected a count and a name"),
        (["32xH100-SXM5-80GB", "--device-memory", "80 GB"], "is given beside --gpus"),
    ],
)
def test_devices_that_do_not_make_a_layout(alignsim, flags, message):
    done = alignsim("run", "--gpus", *flags)
    assert done.status == 2
    assert message in done.err


def test_an_algorithm_is_answered_in_phases(alignsim):
    done = alignsim("run", "--algorithm", "ppo")
    assert done.status == 0
    assert re.search(r"^rollout +45\.981 GiB +49\.372 GB  rollout:policy/prefill", done.out, re.MULTILINE)
    assert "fits so far: device 48.397 GiB (47.575 GiB to 60.322 GiB) of 74.506 GiB, set at rollout" in done.out
    told = alignsim("run", "--algorithm", "DPO", "--gpus", "32xH100-SXM5-80GB", "--json").json
    assert told["schema"] == "alignsim.result/2"
    assert list(told["phases"]) == ["init", "update"]
    assert told["verdict"]["judged"][0]["least"] == pytest.approx(79.1 * 2**30, rel=1e-4)
    assert list(told["figures"]) == ["allocated", "reserved", "device"]


def test_an_answer_that_is_no_ends_with_1(alignsim):
    small = ("run", "--tensor", "1", "--pipeline", "1", "--data", "1")
    done = alignsim(*small)
    assert done.status == 1
    assert "does not fit: PPO's model state fills 19 devices; the layout spreads a copy over 1" in done.out
    told = alignsim(*small, "--json")
    assert (told.status, told.err, told.json["fits"]) == (1, "", False)
    phases = alignsim(*small, "--algorithm", "DPO")
    assert phases.status == 1
    assert "\ndoes not fit: device 1.158 TiB (1.146 TiB to 1.411 TiB) of 74.506 GiB, set at" in phases.out
    assert alignsim(*small, "--algorithm", "DPO", "--json").json["fits"] is False


def test_quiet_prints_nothing(alignsim):
    done = alignsim("run", "-q", "--tensor", "1", "--pipeline", "1", "--data", "1")
    assert (done.status, done.out, done.err) == (1, "", "")


@pytest.mark.parametrize(
    ("flags", "messages"),
    [
        (
            ["--tensor", "-8", "--data", "0"],
            ["--tensor: must be at least 1, got -8", "--data: must be at least 1, got 0"],
        ),
        (
            ["--tensor", "65", "--pipeline", "81"],
            ["--tensor: must be at most 64, the heads", "--pipeline: must be at most 80, the layers"],
        ),
        (["--device-memory", "80"], ["--device-memory: expected a quantity of [information]"]),
        (["--device-memory", "80 dollars"], ["--device-memory: expected a quantity of [information]"]),
        (["--device-memory", "0 GB"], ["--device-memory: must be more than 0"]),
        (["--rollout-sequences", "0"], ["--rollout-sequences: must be at least 1"]),
        (["--tensor", "8.5"], ["'8.5' is not a valid integer"]),
        (["--tensr", "8"], ["Did you mean '--tensor'?"]),
    ],
)
def test_wrong_input_ends_with_2_and_names_every_flag(alignsim, flags, messages):
    done = alignsim("run", *flags)
    assert (done.status, done.out) == (2, "")
    for message in messages:
        assert message in done.err
    told = " ".join(f"{p['field']}: {p['message']}" for p in alignsim("run", "--json", *flags).problems)
    for message in messages:
        assert message.partition(": ")[2] in told


@pytest.mark.parametrize(
    ("words", "suggested"),
    [
        (["Llama2_70B_PpoAlignement"], "Llama2_70B_PpoAlignment"),
        (["--policy", "Llama-2-70"], "Llama-2-70B"),
        (["--gpus", "32xH101"], "H100"),
        (["--algorithm", "PPP"], "PPO"),
    ],
)
def test_an_unknown_name_ends_with_3_and_a_suggestion(alignsim, words, suggested):
    done = alignsim("run", *words)
    assert (done.status, done.out) == (3, "")
    assert re.search(rf"did you mean .*{suggested}", done.err)
    (problem,) = alignsim("run", "--json", *words).problems
    assert any(suggested in name for name in problem["suggestions"])


def test_a_run_of_a_plugin_takes_the_same_flags(alignsim, acme):
    told = alignsim("run", "AcmeDpo", "--plugin", acme, "--tensor", "2", "--policy", "Llama-2-13B", "--json").json
    assert told["peak"]["expected"] == 18 * 13_015_864_320 / 2
    assert told["verdict"]["judged"][0]["least"] == pytest.approx(79.1 * 2**30, rel=1e-4)
    assert alignsim("run", "AcmeDpo", "--plugin", acme, "--gpus", "8xB200-SXM-180GB").status == 0
    done = alignsim("run", "AcmeDpo", "--plugin", acme, "--device-memory", "80 GB")
    assert done.status == 2
    assert "--device-memory: scenario AcmeDpo has nothing of the kind" in done.err
