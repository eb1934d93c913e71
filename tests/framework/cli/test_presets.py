"""``alignsim presets`` lists what frameworks do by default, and ``--preset`` runs under it."""

import pytest

RUN = ("run", "--preset", "trl", "--policy", "Llama-3.1-8B", "--gpus", "8xH100-SXM5-80GB", "-c", "engine=zero-3")
ACME = """
    from alignsim import Choice, Preset, hookimpl

    @hookimpl
    def alignsim_presets():
        yield Preset(
            name="acme-2.1",
            framework="Acme",
            version="2.1",
            algorithms="SFT",
            about="As Acme comes.",
            only={"engine": "ddp"},
            choices=[Choice(givens={"lora_rank": 8}, where={"adapter": "lora"}, source="acme/lora.py")],
            asks="loss: any",
            left_out="what Acme logs",
            source="acme 2.1",
        )
"""


def test_all_are_listed_with_what_they_run(alignsim):
    listed = alignsim("presets")
    assert (listed.status, listed.err) == (0, "")
    (row,) = [line for line in listed.out.splitlines() if line.startswith("trl-1.16")]
    assert "trl, trl-1" in row
    names = {preset["name"] for preset in alignsim("presets", "--json").json["presets"]}
    assert {"trl-1.16", "verl-2026.08", "openrlhf-0.9"} <= names


def test_one_says_when_each_default_is_in_force_and_where_it_was_read(alignsim, plugin_file):
    out = alignsim("presets", "acme-2.1", "--plugin", plugin_file(ACME)).out
    for line in ("about .*As Acme comes.", "runs .*engine: ddp", "to be said .*loss: any", "left out .*what Acme logs"):
        assert any(all(word in row for word in line.split(" .*")) for row in out.splitlines()), line
    (row,) = [line for line in out.splitlines() if line.startswith("lora rank")]
    assert row.split("  ")[-1] == "acme/lora.py"
    assert "adapter lora" in row


def test_one_as_json_has_every_choice(alignsim, plugin_file):
    told = alignsim("presets", "acme-2.1", "--json", "--plugin", plugin_file(ACME)).json
    assert told["schema"] == "alignsim.presets/1"
    (choice,) = told["choices"]
    assert choice["where"] == {"adapter": ["lora"]}
    assert choice["givens"]["lora_rank"]["value"] == 8
    assert choice["source"] == "acme/lora.py"


def test_a_run_names_what_the_preset_chose(alignsim):
    done = alignsim(*RUN, "--algorithm", "DPO", "--micro-batch", "1", "--json")
    assert done.status == 0, done.err
    table = alignsim(*RUN, "--algorithm", "DPO", "--micro-batch", "1").out
    (row,) = [line for line in table.splitlines() if line.startswith("reference.engine")]
    assert "zero-inference" in row
    assert "prepare_deepspeed" in row


def test_what_is_said_overrules(alignsim):
    rest = ("--algorithm", "DPO", "--micro-batch", "1", "-c", "reference.engine=zero-replica")
    out = alignsim(*RUN, *rest).out
    chosen = out.partition("Chosen by preset")[2]
    assert "reference.engine" not in chosen
    assert "precision" in chosen


@pytest.mark.parametrize("words", [("presets", "trll"), ("run", "--preset", "trll", *RUN[3:], "--algorithm", "DPO")])
def test_an_unknown_name_is_corrected(alignsim, words):
    done = alignsim(*words)
    assert (done.status, done.out) == (3, "")
    assert "did you mean trl" in done.err


def test_an_algorithm_that_it_does_not_run_is_refused(alignsim):
    done = alignsim(*RUN, "--algorithm", "PPO")
    assert (done.status, done.out) == (2, "")
    assert "trl-1.16 runs no PPO" in done.err
