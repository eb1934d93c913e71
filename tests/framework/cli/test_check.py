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


def test_a_model_from_a_file_in_a_file(check, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    done = check(RUN.replace("Llama-3.1-8B", str(tmp_path)))
    assert done.status == 2
    assert f"{tmp_path}/config.json: num_hidden_layers: is required" in done.err


def test_no_file(alignsim, tmp_path):
    done = alignsim("check", str(tmp_path / "none.yaml"))
    assert done.status == 2
    assert "cannot be read: No such file" in done.err
