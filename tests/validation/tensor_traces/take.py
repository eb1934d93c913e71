"""Writes ``rows.json``: of a file of tensor traces, what predictions need and what they are compared with.

``python take.py TRACES.json``
"""

import json
import sys
from pathlib import Path

from alignsim_plugins.validation.traced_runs import DEFAULTS

SETTINGS = ("model", "algo", "loss_impl", "scheme", "optim", "attn", "gc", "batch", "seq", *DEFAULTS)
SHAPE = (
    "model_type",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "vocab_size",
    "tie_word_embeddings",
    "num_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
)


def taken(row):
    said = {name: row["settings"][name] for name in SETTINGS}
    return {
        "key": row["key"],
        "settings": {name: value for name, value in said.items() if name not in DEFAULTS or DEFAULTS[name] != value},
        "arch": {name: row["arch"][name] for name in SHAPE if name in row["arch"]},
        "phase_peaks": row["phase_peaks"],
        "peak_bytes": row["peak_bytes"],
        "peak_phase": row["peak_phase"],
    }


if __name__ == "__main__":
    source = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    rows = ",\n".join(json.dumps(taken(row), separators=(",", ":")) for row in source["rows"])
    versions = json.dumps(source["versions"])
    Path(__file__).with_name("rows.json").write_text(
        f'{{"versions":{versions},\n"rows":[\n{rows}\n]}}\n', encoding="utf-8"
    )
