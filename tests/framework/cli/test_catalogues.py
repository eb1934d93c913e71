import re

import pytest

LISTS = {
    "hardware": "H100-SXM5-80GB",
    "models": "Llama-3.1-8B",
    "algorithms": "PPO",
    "components": "optimizer:adamw-fused",
    "presets": "verl-2026.08",
    "scenarios": "Llama2_70B_PpoAlignment",
    "plugins": "alignsim_plugins.algorithms.dpo",
}


@pytest.mark.parametrize(("command", "name"), LISTS.items())
def test_every_kind_is_listed_and_shown(alignsim, command, name):
    listed = alignsim(command)
    assert (listed.status, listed.err) == (0, "")
    assert name in listed.out
    shown = alignsim(command, name)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.strip()


@pytest.mark.parametrize(("command", "name"), LISTS.items())
def test_every_kind_is_told_as_json(alignsim, command, name):
    for words in ([command, "--json"], [command, name, "--json"]):
        done = alignsim(*words)
        assert (done.status, done.err) == (0, "")
        assert done.json["schema"] == f"alignsim.{command}/1"


@pytest.mark.parametrize(("command", "name"), LISTS.items())
def test_a_misspelt_name_is_corrected(alignsim, command, name):
    done = alignsim(command, f"{name[:-1]}x")
    assert (done.status, done.out) == (3, "")
    assert "did you mean" in done.err
    assert name in done.err


def test_every_number_of_hardware_has_range_source_and_how_obtained(alignsim):
    out = alignsim("hardware", "h100-sxm5-80gb").out
    assert re.search(r"usable memory +79\.188 GiB \(85\.028 GB\)  79\.100 GiB .* measured +total_memory of", out)
    assert re.search(r"flop rates bf16 +989 Tflop/s +vendor", out)
    told = alignsim("hardware", "H100-SXM5-80GB", "--json").json
    assert told["usable_memory"]["low"] < told["usable_memory"]["value"]
    assert told["kind"] == "accelerator"


def test_a_machine_is_hardware_too(alignsim):
    (name,) = [m["name"] for m in alignsim("hardware", "--json").json["machines"] if "H200" in m["name"]][:1]
    assert alignsim("hardware", name, "--json").json["kind"] in ("node", "cluster")


def test_a_model_is_counted_by_part(alignsim):
    out = alignsim("models", "Llama-3.1-8B").out
    assert re.search(r"^parameters +8,030,261,248  ", out, re.MULTILINE)
    assert re.search(r"^attention parameters +41,943,040  ", out, re.MULTILINE)
    assert "expert layer" not in out
    told = alignsim("models", "DeepSeek-V3", "--json").json
    assert told["counted_parameters"] == told["counts"]["parameters"] == 671_026_419_200
    assert told["counts"]["expert_layers"] == 58


def test_an_algorithm_is_shown_as_its_table(alignsim):
    out = alignsim("algorithms", "PPO").out
    assert re.search(r"^update +train +idle +idle +train$", out, re.MULTILINE)


def test_plugins_tell_what_went_wrong(alignsim, broken):
    done = alignsim("plugins", "--plugin", broken)
    assert done.status == 0
    assert "failed in alignsim_algorithms: RuntimeError: the shelf is empty" in done.out
    only = alignsim("plugins", "alignsim", "--json").json["plugins"]
    assert {plugin["distribution"] for plugin in only} == {"alignsim"}


def test_a_disabled_plugin_is_named_where_it_is_missed(alignsim, monkeypatch):
    from alignsim import default_registry

    default_registry.cache_clear()
    monkeypatch.setenv("ALIGNSIM_DISABLE_PLUGINS", "alignsim_plugins.algorithms.dpo")
    done = alignsim("algorithms", "DPO")
    default_registry.cache_clear()
    assert done.status == 3
    assert "plugin alignsim_plugins.algorithms.dpo (alignsim 0.1.0) is disabled" in done.err
