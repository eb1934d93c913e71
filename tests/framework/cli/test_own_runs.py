"""A run that the command line describes by itself: components, batch and numbers."""

import re

import pytest

from alignsim import Batch, Layout, Scenario
from alignsim.cli.composing import numbers, pairs

COMPONENTS = {
    "engine": "single-device",
    "precision": "bf16",
    "optimizer": "adamw-fused",
    "adapter": "full",
    "recompute": "full",
    "attention": "flash",
    "packing": "padded",
    "loss": "trl-fused",
    "layers": "transformers",
}
BATCH = ("--micro-batch", "2", "--sequence-tokens", "2048", "--prompt-tokens", "512")
H100 = ("--gpus", "1xH100-SXM5-80GB")


def chosen(**others):
    """Return the flags that choose components."""
    return [word for slot, name in (COMPONENTS | others).items() for word in ("--component", f"{slot}={name}")]


DPO = ("--algorithm", "DPO", "--policy", "Llama-3.1-8B", *H100, *BATCH)
OWN = Scenario(
    algorithm="DPO",
    models={"policy": "Llama-3.1-8B"},
    accelerator="H100-SXM5-80GB",
    components=COMPONENTS,
    batch=Batch(micro_batch=2, sequence_tokens=2048, prompt_tokens=512),
)


def test_a_run_of_ones_own_is_an_ordinary_scenario(alignsim):
    done = alignsim("run", *DPO, *chosen(), "--json")
    assert done.status == 0
    told = done.json
    assert told["peak"]["expected"] == OWN.result.value("allocated")
    assert told["binding"] == OWN.result.binding.to_dict()
    (judged,) = told["verdict"]["judged"]
    assert judged["least"] == pytest.approx(79.1 * 2**30, rel=1e-4)
    assert judged["expected"] == told["figures"]["device"]["expected"] == OWN.result.value("device")
    assert told["figures"]["allocated"] | told["peak"] == told["figures"]["allocated"]


def test_the_answer_says_when_and_what_of(alignsim):
    done = alignsim("run", *DPO, *chosen())
    assert done.out.startswith("DPO of Llama-3.1-8B: algorithm DPO, models policy: Llama-3.1-8B, accelerator H100")
    assert "micro batch 2, sequence tokens 2,048, prompt tokens 512" in done.out
    assert re.search(r"^update +75\.671 GiB +81\.251 GB  update:policy/backward_first_layer ", done.out, re.MULTILINE)
    assert "\nAt update:policy/backward_first_layer\n" in done.out
    assert re.search(r"^policy\.held_optimizer_state +29\.915 GiB  What the optimizer keeps", done.out, re.MULTILINE)
    assert "accumulated_gradients" not in done.out
    assert "\nclose call: device 76.907 GiB (75.981 GiB to 93.906 GiB) of 79.188 GiB (79.100 GiB at least)" in done.out
    assert "\nlengths: sequence tokens 2,048, prompt tokens 512, taken as configured" in done.out
    assert re.search(r"^device +76\.907 GiB  75\.981 GiB to 93\.906 GiB  update:", done.out, re.MULTILINE)
    assert re.search(r"^varying_fragmentation +-774\.868 MiB +\+16\.648 GiB", done.out, re.MULTILINE)
    assert "Left out\nother programs on the device" in done.out


def test_from_instant_to_instant(alignsim):
    done = alignsim("run", *DPO, *chosen(), "--instants")
    shown = re.findall(r"^update:\w+/\w+(?= +\d)", done.out, re.MULTILINE)
    assert len(shown) == 12
    assert shown == list(OWN.result.instants)
    assert max(m.magnitude for m in OWN.result.instants.values()) == OWN.result.peak.magnitude


def test_numbers_and_components_of_one_role(alignsim):
    flags = (*DPO, *chosen(adapter="lora"), "-c", "reference.engine=same-weights")
    small = alignsim("run", *flags, "--json").json["peak"]["expected"]
    large = alignsim("run", *flags, "--set", "policy.lora_rank=256", "--json").json["peak"]["expected"]
    assert small < large
    steps = alignsim("run", *DPO, *chosen(), "--accumulation-steps", "2", "--json").json["peak"]["expected"]
    assert steps > OWN.result.value("allocated")


def test_ranks_that_share_sequences(alignsim):
    run = ("run", "--algorithm", "SFT", "--policy", "Llama-3.1-8B", *BATCH)
    sharded = chosen(engine="fsdp2", attention="ulysses-flash", packing="packed", loss="cross-entropy")
    done = alignsim(*run, *sharded, "--sequence", "4", "--gpus", "8xH100-SXM5-80GB")
    assert "layout 1 x 1 x 2, sequences over 4, micro batch 2" in done.out
    odd = alignsim(*run, *sharded, "--sequence", "4", "--gpus", "6xH100-SXM5-80GB")
    assert "6 devices are not a whole number of replicas of tensor 1 x pipeline 1 x sequence 4 = 4 devices" in odd.err
    assert "sequence: must divide {Llama-3.1-8B}.heads, which is 32 " in alignsim(*run, *sharded, "--sequence", "3").err
    assert "--sequence: must be at least 1, got 0" in alignsim(*run, *sharded, "--sequence", "0").err
    reference = alignsim("run", "--sequence", "2").err
    assert "--sequence: scenario Llama2_70B_PpoAlignment has nothing of the kind" in reference


MEGATRON = {
    "engine": "megatron",
    "layers": "megatron",
    "precision": "megatron-bf16",
    "optimizer": "megatron-adam",
    "attention": "megatron-fused",
    "packing": "equal",
    "recompute": "none",
    "loss": "megatron-d98e8a6",
}
SFT = ("--algorithm", "SFT", "--policy", "Llama-3.1-8B", "--gpus", "16xH100-SXM5-80GB", "--tensor", "2", *BATCH)


def test_more_of_the_layout(alignsim):
    done = alignsim("run", *SFT, *chosen(**MEGATRON), "--spread", "context=4", "--spread", "sequence_parallel=true")
    assert done.status == 0
    assert "layout 2 x 1 x 2" in done.out
    same = Scenario(
        algorithm="SFT",
        models={"policy": "Llama-3.1-8B"},
        accelerator="H100-SXM5-80GB",
        components=COMPONENTS | MEGATRON,
        layout=Layout(tensor=2, context=4, data=2, sequence_parallel=True),
        batch=OWN.batch,
    )
    assert f"peak: {same.result.peak.to('GiB').magnitude:.3f} GiB" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("contxt=2", "Layout.contxt: no such field; did you mean context?"),
        ("context=2.5", "--spread: context is a whole number, true or false; got '2.5'"),
        ("tensor=2", "--spread: names 'tensor', as --tensor does"),
        ("context", "--spread: expected a name, = and a value, such as context=2; got 'context'"),
        ("context=3", "16 devices are not a whole number of replicas of tensor 2 x pipeline 1 x context 3 = 6 devices"),
        ("virtual=true", "Layout.virtual: expected a whole number, got True"),
    ],
)
def test_a_layout_that_is_wrong(alignsim, words, message):
    done = alignsim("run", *SFT, *chosen(**MEGATRON), "--spread", words)
    assert done.status == 2
    assert message in done.err


def test_critic_and_reward_have_a_scalar_head(alignsim):
    flags = ("--algorithm", "RM", "--policy", "Llama-3.2-1B", *BATCH, *chosen(loss="score"))
    done = alignsim("run", *flags)
    assert "reward: Llama-3.2-1B with a scalar head, since no --critic is given" in done.out
    assert "models reward: Llama-3.2-1B-scalar" in done.out
    other = alignsim("run", *flags, "--critic", "Llama-3.1-8B")
    assert "models reward: Llama-3.1-8B-scalar" in other.out


def test_explain_and_graph_take_the_same_flags(alignsim):
    done = alignsim("explain", *DPO, *chosen(), "update:policy.growing_gradients", "--depth", "0")
    assert done.out.startswith("update:policy.growing_gradients = 13.573 GiB  = where(")
    assert alignsim("graph", *DPO, *chosen(), "--output", "policy.gradients").out.startswith("flowchart LR")


def test_a_scenario_of_a_plugin_is_changed_by_them(alignsim, acme):
    flags = ("run", "AcmeDpo", "--plugin", acme, "--json")
    one = alignsim(*flags).json["peak"]["expected"]
    other = alignsim(*flags, "--component", "optimizer=sgd").json["peak"]["expected"]
    assert other < one
    assert alignsim(*flags, "--set", "policy.master_bytes=0").json["peak"]["expected"] < one


@pytest.mark.parametrize(
    ("flags", "status", "message"),
    [
        (["--micro-batch", "2"], 2, "--algorithm: is required to describe a run; or name a scenario to change"),
        (["--algorithm", "DPO", "-c", "loss"], 2, "--component: expected a name, = and a value, such as loss="),
        (["--algorithm", "DPO", "-c", "loss=naive", "-c", "loss=score"], 2, "--component: names 'loss' twice"),
        (["--algorithm", "DPO", "--set", "x="], 2, "--set: expected a name, = and a value"),
        (["--algorithm", "DPO", "--micro-batch", "0"], 2, "--micro-batch: must be at least 1, got 0"),
        (["--algorithm", "DPO", "-c", "loss=naiv"], 3, "did you mean naive"),
        (["--algorithm", "DPO", "-c", "los=naive"], 3, "did you mean loss?"),
        (["--algorithm", "DPO", "-c", "loss=naive", "--device-memory", "80 GB"], 2, "name the devices by --gpus"),
        (["--algorithm", "DPO", "-c", "loss=naive"], 2, "role 'policy' needs a model"),
        (["--algorithm", "DPO", "--policy", "Llama-3.2-1B", "-c", "loss=naive"], 2, "slot 'engine' is unfilled"),
        (["Llama2_70B_PpoAlignment", "-c", "loss=naive"], 2, "--component: scenario Llama2_70B_PpoAlignment has noth"),
        (["Llama2_70B_PpoAlignment", "--set", "tensor=2"], 2, "--set: scenario Llama2_70B_PpoAlignment has nothing"),
    ],
)
def test_what_is_wrong_is_told_by_the_flag(alignsim, flags, status, message):
    done = alignsim("run", *flags)
    assert (done.status, done.out) == (status, "")
    assert message in done.err


def test_numbers_keep_their_units():
    assert numbers(["a=2", "b=80 GiB"]) == {"a": 2.0, "b": "80 GiB"}
    assert pairs("set", ["a = b"], "a=1") == {"a": "b"}


def test_a_close_call_warns_and_is_no_where_one_is_strict(alignsim):
    loose, strict = (alignsim("run", *DPO, *chosen(), *flags) for flags in ((), ("--strict",)))
    assert (loose.status, strict.status) == (0, 1)
    assert "warning: close call" in loose.err
    assert loose.out == strict.out
    sure = alignsim("run", *DPO, *chosen(), "--strict", "--set", "fixed_costs=0")
    assert (sure.status, sure.err) == (0, "")
    assert "\nfits: device 75.671 GiB of 79.188 GiB (79.100 GiB at least), set at update:policy/back" in sure.out


def test_what_is_not_counted_is_told():
    (line,) = OWN.left_out
    assert line.startswith("other programs on the device")
    rest = {"engine": "even-split", "precision": "bf16-master", "optimizer": "adamw-fused", "adapter": "full"}
    empty = OWN.using(components={**rest, "*": "none"})
    assert empty.left_out[-1].startswith("whatever these slots stand for, as nothing fills them: attention, ")


def test_a_machine_says_how_much_memory_its_host_has(alignsim):
    flags = ("run", "--algorithm", "SFT", "--policy", "Llama-3.2-1B", "--gpus", "1xHGX-H100-8", *BATCH)
    told = alignsim(*flags, *chosen(recompute="offloaded", loss="cross-entropy", engine="ddp"), "--json").json
    judged = {each["resource"]: each for each in told["verdict"]["judged"]}
    assert set(judged) == {"device", "host"}
    assert judged["host"]["usual"] == 2e12 / 8
    assert 0 < judged["host"]["expected"] < judged["host"]["usual"]


def test_the_reference_case_under_a_frameworks_defaults(alignsim):
    plain = alignsim("run", "Llama2_70B_PpoAlignment", "--algorithm", "PPO", "--preset", "verl")
    assert plain.status == 2
    assert "needs 'micro_batch'" in plain.err
    assert (
        "preset verl-2026.08 leaves to be said: micro_batch: ppo_micro_batch_size_per_gpu has no default" in plain.err
    )
