"""Run files for atheris, which looks for bytes that reach new code: ``nox -s atheris -- -max_total_time=60``.

Every file is answered in finite numbers or refused with an ``AlignSimError``; anything else is a finding.
"""

from __future__ import annotations

import sys
from importlib import import_module
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory

atheris = import_module("atheris")
with atheris.instrument_imports(include=["alignsim", "ruamel.yaml"], enable_loader_override=False):
    from alignsim import AlignSimError, default_registry
    from alignsim.runs import read_run

SEED = """\
algorithm: SFT
models: {policy: Llama-3.2-1B}
accelerator: H100-SXM5-80GB
components: {"*": none, engine: single-device, precision: bf16}
layout: {data: 2}
batch: {micro_batch: 2, sequence_tokens: 64}
givens: {policy.weight_bytes: {value: 2 byte, low: 1 byte}}
gpus: 2
"""


def main() -> None:
    registry = default_registry()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.yaml"

        def one_input(content: bytes) -> None:
            path.write_bytes(content)
            try:
                result = read_run(path, registry).result
            except AlignSimError:
                return
            assert all(isfinite(end) and end >= 0 for end in result.range), result.range

        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        (corpus / "seed.yaml").write_text(SEED, encoding="utf-8")
        atheris.Setup([*sys.argv, str(corpus)], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
