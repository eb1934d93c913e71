"""A second opinion: the tables of litgpt, field by field, for every model that both know.

Only its ``config.py`` is run (it needs PyYAML and typing_extensions), so litgpt is installed without dependencies.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from runpy import run_path

import pytest

from alignsim_plugins.architectures.published import published

# What litgpt has otherwise, by our name and field, and why ours stands.
KNOWN_SLIPS = {
    ("Mixtral-8x22B", "vocab"): "litgpt has the 32,768 of v0.3; the v0.1 checkpoint has 32,000 rows",
    ("Phi-3-mini", "window"): "litgpt has 2,048, which counts the token itself; config.json says 2,047",
    ("Gemma-3-4B", "vocab"): "litgpt has 262,144; the embedding of the checkpoint has 64 rows more, for images",
    ("Gemma-3-12B", "vocab"): "as for Gemma-3-4B",
    ("Gemma-3-27B", "vocab"): "as for Gemma-3-4B",
}


def tables():
    try:
        file = distribution("litgpt").locate_file("litgpt/config.py")
    except PackageNotFoundError:
        pytest.skip("litgpt is not installed", allow_module_level=True)
    litgpt = run_path(str(file))
    made = (litgpt["Config"](**fields) for fields in litgpt["configs"])
    return {f"{c.hf_config.get('org')}/{c.hf_config.get('name')}".casefold(): c for c in made}


THEIRS = tables()
BOTH = {
    (model.name, repository): model
    for model in published().values()
    for repository in model.aliases
    if repository.casefold() in THEIRS
}


def as_ours(config, max_positions):
    gated = config.mlp_class_name != "GptNeoxMLP"
    expert_ffn = (config.moe_intermediate_size or config.intermediate_size) if config.n_expert else 0
    window = config.sliding_window_size or 0
    if window >= max_positions:
        window = 0  # never reached
    norms = config.norm_1 + config.norm_2 + config.post_attention_norm + config.post_mlp_norm
    return {
        "layers": config.n_layer,
        "hidden": config.n_embd,
        "heads": config.n_head,
        "kv_heads": config.n_query_groups,
        "head_dim": config.head_size,
        "ffn": 0 if config.n_expert else config.intermediate_size,
        "expert_ffn": expert_ffn,
        "experts": config.n_expert,
        "experts_per_token": config.n_expert_per_token,
        "vocab": config.padded_vocab_size,
        "gated": gated,
        "qkv_bias": config.bias or config.attn_bias,
        "output_bias": config.bias,
        "mlp_bias": config.bias,
        "head_bias": config.lm_head_bias,
        "rms_norm": config.norm_class_name == "RMSNorm",
        "norms": 1 if config.shared_attention_norm else norms,
        "parallel": config.parallel_residual,
        "window": window,
        "window_layers": sum(config.sliding_window_indices[: config.n_layer]) if window else 0,
        "qk_norm": config.norm_qk and config.norm_qk_type == "default",
        "qk_norm_full": config.norm_qk and config.norm_qk_type == "olmo2",
    }


def test_many_models_overlap():
    assert len({name for name, _ in BOTH}) >= 60


@pytest.mark.parametrize(("name", "repository"), BOTH)
def test_fields_agree(name, repository):
    ours = BOTH[name, repository]
    theirs = as_ours(THEIRS[repository.casefold()], ours.max_positions)
    differing = {field for field, value in theirs.items() if getattr(ours, field) != value}
    assert differing == {field for known, field in KNOWN_SLIPS if known == name}
