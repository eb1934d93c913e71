"""Whatever a file holds: a model that counts, or a refusal that names the file. No other error, and no nonsense."""

from __future__ import annotations

import json
import os
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alignsim import InvalidInput, default_registry
from alignsim.counts import parameter_counts, total
from alignsim_plugins.readers.safetensors import BITS, tensors
from plugins.readers.conftest import TINY, header, saved

REGISTRY = default_registry()
KEYS = sorted({key for family in REGISTRY.families.values() for keys in family.keys.values() for key in keys})
SIDE_KEYS = [
    "sliding_window", "layer_types", "use_sliding_window", "max_window_layers", "mlp_only_layers", "moe_layers",
    "no_rope_layers", "attention_chunk_size", "moe_layer_freq", "multi_query", "num_kv_heads", "alibi", "dtype",
    "attn_type_list", "sliding_window_pattern", "quantization_config", "text_config", "vision_config", "torch_dtype",
    "use_parallel_residual", "word_embed_proj_dim", "num_nextn_predict_layers",
]  # fmt: skip
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(0, 300), st.floats(), st.text(max_size=9),
    st.lists(st.integers(0, 3), max_size=4), st.sampled_from([2**53, 2**63, 10**30, "full_attention", -1, 0, 1]),
)  # fmt: skip
ANYTHING = st.recursive(ODD, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner), max_leaves=12)
CONFIGS = st.fixed_dictionaries(
    {"model_type": st.sampled_from(sorted(REGISTRY.families))},
    optional={key: st.one_of(st.integers(1, 64), ODD) for key in [*KEYS, *SIDE_KEYS]},
)
LIKELY = st.builds(lambda family, changes: {**TINY, **changes, "model_type": family}, st.sampled_from(
    [name for name, family in REGISTRY.families.items() if not family.refused]
), st.dictionaries(st.sampled_from([*KEYS, *SIDE_KEYS]), st.integers(1, 64) | ODD, max_size=6))  # fmt: skip
HUNT = os.environ.get("ALIGNSIM_HUNT")  # a number of random files of each kind, other ones every time
FILES = settings(
    max_examples=int(HUNT or 60),
    derandomize=HUNT is None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.json"


def held(path: Path, catalogue: str = "architectures") -> Any:
    """What a file holds; None if it is refused in words that name it."""
    try:
        found = REGISTRY.read(catalogue, str(path))
    except InvalidInput as error:
        refused = error
    else:
        assert found is not None
        return found.item
    assert refused.problems
    assert all(len(str(problem)) < 2000 for problem in refused.problems)
    assert str(path) in str(refused)
    return None


def assert_counts(model: Any) -> None:
    counted = total(parameter_counts(model, REGISTRY))
    assert counted is not None
    assert isfinite(counted)
    assert counted == int(counted)
    assert model.layers * model.hidden < counted <= 2**53


@FILES
@given(LIKELY | CONFIGS | ANYTHING)
def test_configurations(file: Path, config: Any) -> None:
    file.write_text(json.dumps(config), encoding="utf-8")
    model = held(file)
    if model is not None:
        assert_counts(model)
        assert (model.layers, model.hidden) == said(config, "layers", "hidden")


def said(config: Any, *fields: str) -> tuple[int, ...]:
    """What the file says of the language model, or what its family has where it is silent."""
    outer = REGISTRY.families[config["model_type"]]
    inner = config[outer.inside] if outer.inside else config
    family = REGISTRY.families[inner.get("model_type", outer.language or outer.name)]
    keys = ([key for key in family.keys[field] if inner.get(key) is not None] for field in fields)
    return tuple(int(inner[k[0]] if k else family.defaults[f]) for f, k in zip(fields, keys, strict=True))


@FILES
@given(
    st.binary(max_size=200) | st.text(alphabet='{}[]":,0123456789eE+-.nulltrfasINy \n', max_size=200).map(str.encode)
)
def test_bytes(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert held(file) is None


@FILES
@given(
    st.dictionaries(
        st.sampled_from(["peft_type", "r", "lora_dropout", "target_modules", "use_dora", "bias", "rank_pattern"]),
        ODD | st.sampled_from(["LORA", "all-linear", "none", ["q_proj"], 0.1]),
    )
    | ANYTHING
)
def test_adapters(tmp_path: Path, config: Any) -> None:
    path = tmp_path / "adapter_config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    component = held(path, "components")
    if component is not None:
        assert component.defaults["lora_rank"].value >= 1
        assert 0 <= component.defaults["lora_dropout"].value < 1
        assert any(
            component.defaults[f"adapts_{part}"].value for part in ("query", "key", "value", "output", "up", "down")
        )


SHAPES = st.dictionaries(
    st.text(min_size=1, max_size=5), st.lists(st.integers(0, 9), max_size=3), min_size=1, max_size=5
)


@FILES
@given(SHAPES, st.data())
def test_true_headers_are_counted(tmp_path: Path, shapes: dict[str, list[int]], data: Any) -> None:
    whole = [name for name, bits in BITS.items() if bits % 8 == 0]
    told, size = header(shapes, {name: data.draw(st.sampled_from(whole)) for name in shapes})
    found = tensors(saved(tmp_path / "w.safetensors", told, size))
    assert {tensor.name for tensor in found} == set(shapes)
    assert sum(tensor.size for tensor in found) == size


@FILES
@given(st.binary(max_size=64), st.integers(0, 2**64 - 1) | st.integers(0, 64))
def test_any_header(tmp_path: Path, content: bytes, length: int) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(length.to_bytes(8, "little") + content)
    with pytest.raises(InvalidInput, match="safetensors"):
        tensors(path)


@FILES
@given(st.dictionaries(st.text(max_size=5), ANYTHING, min_size=1, max_size=4), st.integers(0, 64))
def test_headers_that_say_anything(tmp_path: Path, told: Any, size: int) -> None:
    path = saved(tmp_path / "w.safetensors", told, size)
    with pytest.raises(InvalidInput, match="safetensors"):
        tensors(path)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 2**21,
        b'{"a":' * 2**19,
        b'{"model_type": "llama", "a": ' + b"[" * 900 + b"]" * 900 + b"}",
        b"{" + b",".join(b'"a%d": 1, "a%d": 2' % (n, n) for n in range(50_000)) + b"}",
        b'{"model_type": "llama", "hidden_size": [' + b"NaN," * 500_000 + b"1]}",
        b'{"model_type": "llama", "' + b"x" * 2**20 + b'": [' + b"1," * 500_000 + b"1]}",
        b'{"model_type": "' + b"x" * 2**21 + b'"}',
        b'{"model_type": "llama", "hidden_size": ' + b"9" * 4000 + b"}",
        b'{"model_type": "llama", "hidden_size": ' + b"9" * 2**21 + b"}",
        b'{"model_type": "gemma2", "num_hidden_layers": 9007199254740992, "hidden_size": 8, "num_attention_heads": 8}',
        b'{"model_type": "llama4_text", "num_hidden_layers": 9007199254740992, "num_local_experts": 2}',
    ],
)
def test_large_and_deep_files_are_refused(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert held(file) is None
