import re
import shutil
import subprocess

import pytest

REFERENCE = "Llama2_70B_PpoAlignment"


def test_a_field_and_a_path_are_explained(alignsim):
    assert alignsim("explain", "policy_state").out == alignsim("explain", REFERENCE, "policy.model_state").out
    done = alignsim("explain", "kv_cache", "--depth", "1")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("policy.kv_cache = 80.000 GiB  = layers * kv_elements_per_token * kv_bytes")
    assert len(lines) == 6
    assert len(alignsim("explain", "kv_cache", "--depth", "0").out.splitlines()) == 1


def test_an_explanation_as_json(alignsim):
    told = alignsim("explain", "--algorithm", "PPO", "device", "--json").json
    assert told["schema"] == "alignsim.explanation/1"
    assert told["explanation"]["path"] == "device"
    assert told["explanation"]["inputs"]


def test_the_whole_answer_is_explained_without_a_path(alignsim):
    assert alignsim("explain").out == alignsim("explain", REFERENCE).out == alignsim("explain", "ppo_total").out
    assert alignsim("explain", "--algorithm", "DPO", "--depth", "0").out.startswith("allocated = 36.671 GiB")


def test_a_path_that_is_none(alignsim):
    done = alignsim("explain", "policy_stat")
    assert done.status == 3
    assert "did you mean policy_state" in done.err
    assert alignsim("explain", "a", "b", "c").status == 2


VERTEX = re.compile(r'    (n\d+)(?:\(\["(.*)"\]\)|\["(.*)"\]|\{\{"(.*)"\}\})$')
EDGE = re.compile(r"    (n\d+) --> (n\d+)$")


@pytest.mark.parametrize("flags", [[], ["--values"], ["--algorithm", "PPO"], ["--output", "kv_cache"]])
def test_mermaid_declares_what_it_connects(alignsim, flags):
    done = alignsim("graph", *flags)
    assert done.status == 0
    first, *lines = done.out.splitlines()
    assert first == "flowchart LR"
    vertices = [match for line in lines if (match := VERTEX.match(line))]
    edges = [match for line in lines if (match := EDGE.match(line))]
    ids = [match[1] for match in vertices]
    assert len(vertices) + len(edges) == len(lines)
    assert len(set(ids)) == len(ids) > 5
    assert {end for match in edges for end in match.groups()} == set(ids)
    assert not any('"' in label for match in vertices for label in match.groups()[1:] if label)


def test_values_are_shown_when_asked_for(alignsim):
    assert '["policy.kv_cache<br>80.000 GiB (85.8993 GB)"]' in alignsim("graph", "--values").out
    assert '["policy.kv_cache"]' in alignsim("graph").out


@pytest.mark.parametrize("flags", [[], ["--values"], ["--output", "ppo_total"]])
def test_dot_declares_what_it_connects(alignsim, flags):
    text = alignsim("graph", "--format", "dot", *flags).out
    declared = re.findall(r'^    "(n\d+)" \[label="[^"]*", shape=\w+\];$', text, re.MULTILINE)
    edges = re.findall(r'^    "(n\d+)" -> "(n\d+)";$', text, re.MULTILINE)
    assert len(set(declared)) == len(declared)
    assert {end for edge in edges for end in edge} == set(declared)
    assert text.count("{") - text.count("}") == 0
    assert len(text.splitlines()) == len(declared) + len(edges) + 3
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tcanon"], input=text, text=True, check=True, capture_output=True)


def test_a_graph_as_json(alignsim):
    told = alignsim("graph", REFERENCE, "--output", "min_devices_for_ppo", "--json").json
    assert told["schema"] == "alignsim.graph/1"
    values = {node["path"]: node["value"] for node in told["nodes"]}
    assert values["min_devices_for_ppo"] == 19
    assert all(end in values for edge in told["edges"] for end in edge)
    assert alignsim("graph", "--output", "min_device").status == 3
    assert alignsim("graph", "--format", "png").status == 2
