"""The plugin that teaches a family of models, for people to fill in."""

from __future__ import annotations

TEMPLATE = '''"""Teaches alignsim to read config.json files of model_type {name!r}.

Try it:         alignsim models path/to/config.json --plugin {file}.py
Use it:         alignsim run --policy path/to/config.json --plugin {file}.py ...
Hold it true:   compare the total with the number of parameters that the model's own code makes.

All fields of a model: help(alignsim.Architecture). What a model has not is 0 or False, and need not be said.
"""

from alignsim import Family, hookimpl

FAMILY = Family(
    name={name!r},
    # A field of Architecture, and the key that config.json says it by.
    keys={{
        "layers": "num_hidden_layers",
        "hidden": "hidden_size",
        "heads": "num_attention_heads",
        "kv_heads": "num_key_value_heads",
        "head_dim": "head_dim",
        "ffn": "intermediate_size",
        "vocab": "vocab_size",
        "max_positions": "max_position_embeddings",
        "tied": "tie_word_embeddings",
        # With experts: "experts": "num_experts", "experts_per_token": "num_experts_per_tok",
        #               "expert_ffn": "moe_intermediate_size", "shared_experts": ..., "dense_layers": ...
    }},
    # What a field is where the file is silent: the defaults of the configuration's class.
    defaults={{"tied": False}},
    # What the modelling code has, whatever the file says.
    always={{"gated": True, "rms_norm": True, "norms": 2, "qkv_bias": False, "qk_norm": False}},
    source="the code that this is from, and its version",
)


@hookimpl
def alignsim_families():
    yield FAMILY
'''


def template(model_type: str) -> str:
    """Return a plugin for a ``model_type``, to be filled in."""
    file = "".join(letter if letter.isalnum() else "_" for letter in model_type)
    return TEMPLATE.format(name=model_type, file=file)
