"""The gate of a job queue: a file, an exit status, and what is wrong at its line."""

import json

import pytest

RUN = """\
algorithm: DPO
models:
  policy: Llama-3.1-8B
accelerator: H100-SXM5-80GB
components:
  engine: single-device
  layers: transformers
  precision: bf16
  optimizer: adamw-fused
  adapter: full
  recompute: full
  attention: flash
  packing: padded
  loss: trl-fused
batch: {micro_batch: 2, sequence_tokens: 2048, prompt_tokens: 512}
"""


@pytest.fixture
def check(alignsim, tmp_path):
    def asked(text, *words, name="run.yaml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return alignsim("check", str(path), *words)

    return asked


def test_a_run_that_is_a_close_call(check):
    done = check(RUN)
    assert (done.status, done.err) == (0, "warning: close call\n")
    assert "close call" in done.out
    assert check(RUN, "--strict").status == 1


def test_a_run_that_does_not_fit(check):
    done = check(RUN.replace("micro_batch: 2", "micro_batch: 8"), "--json")
    assert (done.status, done.json["fits"]) == (1, False)


def test_json_is_taken_too(check):
    run = {
        "algorithm": "SFT",
        "models": {"policy": "Llama-3.2-1B"},
        "components": {"*": "none", "precision": "bf16", "engine": "single-device"},
    }
    done = check(json.dumps(run), name="run.json")
    assert (done.status, done.err) == (0, "")
    assert "nobody can say whether it fits" in done.out


def test_all_that_is_wrong_is_told_at_its_place(check, tmp_path):
    wrong = RUN.replace("DPO", "DPQ").replace("8B", "8").replace("flash", "flsh")
    done = check(wrong.replace("micro_batch: 2", "micro_batch: two"))
    assert (done.status, done.out) == (2, "")
    told = (line.removeprefix(f"error: {tmp_path}/run.yaml:").split(": ") for line in done.err.splitlines())
    assert {(place, field) for place, field, *_ in told} == {
        ("1:12", "algorithm"),
        ("3:11", "models.policy"),
        ("12:14", "components.attention"),
        ("15:22", "batch.micro_batch"),
    }
    assert "did you mean flash?" in done.err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            "givens: {policy.wieght_bytes: 2}",
            "run.yaml:16:31: policy.wieght_bytes: nothing reads this input; did you mean",
        ),
        ("layout: {tensor: 64}", "run.yaml:16:18: Scenario.layout.tensor: must be at most 32"),
        (
            "layout: {tensor: 3, data: 2}\ngpus: 8",
            "run.yaml:16:18: Scenario.layout.tensor: must divide the 32 heads of Llama-3.1-8B for role 'policy'; got 3",
        ),
        ("layout: {pipeline: 33}", "run.yaml:16:20: Scenario.layout.pipeline: must be at most 32, the layers of"),
        (
            "layouts: {reference: {tensor: 64}}",
            "run.yaml:16:31: Scenario.layouts['reference'].tensor: must be at most 32, the heads of",
        ),
        (
            "layout: {data: 4}\ngpus: 8",
            "run.yaml:17:7: gpus: states 8, but the layout of 'policy' has "
            "tensor 1 x pipeline 1 x context 1 x sequence 1 x data 4 = 4 devices",
        ),
        ("gpus: {gpu: 1}", "run.yaml:16:13: gpus.gpu: no role is in such a pool; did you mean gpus?"),
        (
            "layout: {data: 6}\nlayouts: {reference: {data: 4}}\ngpus: {gpus: 6}",
            "run.yaml:18:14: gpus.gpus: 6 is no multiple of the tensor 1 x pipeline 1 x context 1 x "
            "sequence 1 x data 4 = 4 devices of 'reference'",
        ),
        (
            "places: {reference: {pool: other}}\ngpus: 2",
            "run.yaml:17:7: gpus: is one count for several pools; state one for each of gpus, other",
        ),
        ("gpus: 1.5", "run.yaml:16:7: gpus: expected a whole number of at least 1, got 1.5"),
        (
            "layout: {data: 3}\nglobal_batch: 64",
            "run.yaml:17:15: global_batch: states 64, but there are micro_batch 2 x accumulation_steps 1 x data 3 = 6 "
            "of 'policy'; 64 is no multiple of 2 x 3",
        ),
        ("layout: {data: 4}\nglobal_batch: 64", "= 8 of 'policy'; accumulation_steps 8 would be right"),
        (
            "givens: {policy.weight_bytes: 2 GB/s, policy.lora_rank: 1 GiB}",
            "run.yaml:16:31: policy.weight_bytes: is in byte / second, but 'weight_bytes' is in byte/parameter",
        ),
        ("givens: {policy.weight_bytes: 2 parsecs}", "run.yaml:16:31: "),
        (
            "givens: {policy.weight_bytes: {value: 2, low: 3}}",
            "run.yaml:16:31: givens.policy.weight_bytes: low <= value",
        ),
        ("layout: {tensr: 2}", "run.yaml:16:17: layout.tensr: no such field; did you mean tensor"),
        ("modles: {}", "run.yaml:16:9: modles: no such field; did you mean models"),
        ("models: {}", "run.yaml:16:1: models: is here twice"),
        ("places: {critic: {pool: gpus}}", "run.yaml:16:18: Scenario.places['critic']: algorithm DPO has no such role"),
        ("- 1", "run.yaml:16:1: is not YAML"),
    ],
)
def test_what_is_wrong_is_told_at_its_place(check, more, told):
    done = check(f"{RUN}{more}\n")
    assert done.status == 2
    assert told in done.err


def test_what_agrees_is_taken(check):
    more = "layout: {data: 4}\nlayouts: {reference: {data: 2}}\ngpus: 4\nglobal_batch: 8\n"
    done = check(RUN.replace("single-device", "even-split") + more)
    assert done.err == ""
    assert "accelerator H100-SXM5-80GB" in done.out


def test_what_is_wrong_with_one_field_hides_nothing_of_the_others(check):
    done = check(f"{RUN}layout: {{tensor: 3}}\ngpus: none\nfoo: 1\nsolver: peak\n", "--json")
    found = {(problem["field"], problem["line"], problem["column"]) for problem in done.problems}
    assert {("Scenario.layout.tensor", 16, 18), ("gpus", 17, 7), ("foo", 18, 6)} <= found


def test_a_model_from_a_file_in_a_file(check, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    done = check(RUN.replace("Llama-3.1-8B", str(tmp_path)))
    assert done.status == 2
    assert f"{tmp_path}/config.json: num_hidden_layers: is required" in done.err


def test_no_file(alignsim, tmp_path):
    done = alignsim("check", str(tmp_path / "none.yaml"))
    assert done.status == 2
    assert "cannot be read: No such file" in done.err


def test_what_is_wrong_with_yaml_hides_nothing_else(alignsim, tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text("algorithm: DPO\nalgorithm: SFT\nmodles: {}\nmodels: {policy: Llama-3.1-9B}\n", encoding="utf-8")
    done = alignsim("check", str(file))
    told = [line.removeprefix(f"error: {file}:") for line in done.err.splitlines()]
    assert done.status == 2
    assert told[0] == "2:1: algorithm: is here twice"
    assert told[1] == "3:9: modles: no such field; did you mean models?"
    assert told[2].startswith("4:18: models.policy: no architecture is named 'Llama-3.1-9B'; did you mean Llama-3.1-8B")
