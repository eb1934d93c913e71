"""The tables of docs/validation.md, from reality: ``python tests/validation/page.py`` writes them anew.

Where the environment variable ALIGNSIM_CORPORA names a folder with tensor_traces.json, its table is written too.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from runpy import run_path
from typing import Any

import attrs

from alignsim import compare, default_registry
from alignsim.jsonfile import read_json
from alignsim.runfile import cases
from alignsim.validation import Comparison
from alignsim.views.comparison import percent, summary_table
from alignsim.views.table import Table
from alignsim_plugins.validation.tensor_traces import OTHERS, PHASES

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))  # run as a script, it finds what tests share

import megatron_golden_rows as golden  # noqa: E402
import simumax_rows as simumax  # noqa: E402

PAGE = HERE.parents[1] / "docs" / "validation.md"
BLOCK = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
EDGES = (0.01, 0.02, 0.05, 0.1)


def one_gpu() -> tuple[list[Mapping[str, Any]], Comparison, list[tuple[str, str]]]:
    """Return the described runs, those that can be predicted beside their measurements, and what the others need."""
    runs = read_json(HERE / "one_gpu" / "runs.json")["runs"]
    comparison = compare(cases({"runs": runs}))
    told = re.compile(r"^runs\[\d+\]\.scenario: |;.*")
    waiting = [(refused.key, told.sub("", refused.message)) for refused in comparison.refused if refused.wrong]
    return runs, attrs.evolve(comparison, refused=tuple(r for r in comparison.refused if not r.wrong)), waiting


def one_gpu_tables() -> str:
    """Return the runs, the distribution of their errors, and what is left out."""
    runs, comparison, waiting = one_gpu()
    told = {run["key"]: run for run in runs}
    rows = (
        (
            r.key,
            f"{r.predicted / 2**30:.2f}",
            f"{r.measured / 2**30:.2f}",
            percent(r.error, 1, "+"),
            told[r.key]["about"],
        )
        for r in comparison.rows
    )
    errors = [abs(row.error) for row in comparison.rows]
    left = [(key, row["measured"], row["missing"]) for key, row in left_out().items()]
    tables = [
        Table.of("", ["row", ">predicted GiB", ">measured GiB", ">error", "what"], rows),
        Table.of("Errors up to", ["error", ">rows"], shares(errors, EDGES)),
        Table.of("Described, but a component is not there yet", ["row", "what is missing"], waiting),
        Table.of("Left out", ["row", ">measured", "what is missing"], left),
    ]
    return "\n\n".join(table.markdown() for table in tables if table.rows)


def shares(errors: Iterable[float], edges: Iterable[float]) -> list[tuple[str, str]]:
    """Return how many of some errors are up to each edge."""
    all_of = list(errors)
    return [(f"{100 * edge:.0f} %", f"{sum(e <= edge for e in all_of)} of {len(all_of)}") for edge in edges]


def left_out() -> Mapping[str, Any]:
    """Return the rows that nothing can predict yet."""
    content: Mapping[str, Any] = json.loads((HERE / "one_gpu" / "left_out.json").read_text(encoding="utf-8"))
    return content


@cache
def tensor_traces(rows: str = "rows") -> Comparison | None:
    """Return the traces of one of the lists beside their predictions; None without the file, or without its plugin."""
    file = Path(os.environ.get("ALIGNSIM_CORPORA", "")) / "tensor_traces.json"
    known = default_registry().validations
    if "ALIGNSIM_CORPORA" not in os.environ or not file.is_file() or "tensor-traces" not in known:
        return None
    sharded = rows == "rows_fsdp2"
    found = known["tensor-traces"].cases(read_json(file))
    return compare(case for case in found if case.key.startswith("rows_fsdp2") == sharded)


def tensor_traces_table() -> str | None:
    """Return the summary of the traces of one device."""
    comparison = tensor_traces()
    return None if comparison is None else summary_table(comparison.summary).markdown()


def sharded_traces_tables() -> str | None:
    """Return the traces of one rank of several, row by row, and their summary."""
    comparison = tensor_traces("rows_fsdp2")
    if comparison is None:
        return None
    settings = [
        row["settings"] for row in read_json(Path(os.environ["ALIGNSIM_CORPORA"]) / "tensor_traces.json")["rows_fsdp2"]
    ]
    rows = (
        (
            *(str(s[name]) for name in ("model", "algo", "scheme")),
            f"{s['batch']} x {s['seq']}",
            "yes" if s["gc"] else "",
            "yes" if s["reshard"] else "",
            f"{row.predicted / 2**30:.3f}",
            f"{row.measured / 2**30:.3f}",
            row.phase,
            percent(max(row.phase_errors.values(), key=abs), 3, "+"),
        )
        for s, row in zip(settings, comparison.rows, strict=True)
    )
    columns = ["model", "algorithm", "numbers", ">batch", "recomputed", "resharded"]
    columns += [">predicted GiB", ">measured GiB", "phase", ">worst phase"]
    return "\n\n".join(table.markdown() for table in (Table.of("", columns, rows), summary_table(comparison.summary)))


def phases_table() -> str:
    """Return where the phases of traces are found: those that are moments, then the others."""
    meant: dict[tuple[str, str], list[str]] = {}
    for algorithm, phases in PHASES.items():
        for phase, places in phases.items():
            where = "; or ".join(
                f"`{p}`, {role}: {', '.join(f'`{m}`' for m in moments)}" for p, role, moments in places
            )
            meant.setdefault((phase, where), []).append(algorithm)
    rows = [(phase, ", ".join(algorithms), where) for (phase, where), algorithms in meant.items()]
    rows += [(phase, "", what) for phase, what in OTHERS.items()]
    return Table.of("", ["phase", "algorithm", "phase, role: moments"], rows).markdown()


def families_table() -> str:
    """Return the steps of models of all families, a line for each model, and their causes where they are off."""
    families = run_path(str(HERE / "families" / "predict.py"))
    found: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for row, case in zip(
        compare(families["cases"]()).rows, (r["case"] for r in families["FIGURES"]["rows"]), strict=True
    ):
        line = found.setdefault((case["model"], f"{case['rows']} x {case['tokens']}"), {})
        line[case["attention"]] = (f"{row.measured / 2**30:.2f}", percent(row.error, 2, "+"))
        line["cause"] = (families["cause"](case) or line.get("cause", ("",))[0],)
    rows = (
        (*key, *line.get("sdpa", ("", "")), *line.get("eager", ("", "")), *line["cause"]) for key, line in found.items()
    )
    columns = ["model", "batch", ">sdpa, GiB", ">error", ">eager, GiB", ">error ", "not modelled"]
    return Table.of("", columns, rows).markdown()


def simumax_table() -> str:
    """Return the layouts on eight B200, row by row."""
    rows = (
        (
            row["case"],
            f"{simumax.predicted(row):.2f}",
            f"{row['allocated']:.2f}",
            percent(simumax.error(row), 2, "+"),
        )
        for row in simumax.FIGURES["rows"]
    )
    return Table.of("", ["layout", ">predicted GiB", ">measured GiB", ">error"], rows).markdown()


def golden_table() -> str | None:
    """Return NVIDIA's test cases by configuration; None without the file."""
    measured = golden.measured()
    if measured is None:
        return None
    causes = json.loads((HERE / "megatron_golden" / "causes.json").read_text(encoding="utf-8"))
    found = [(rows, golden.error(rows)) for rows in golden.configurations(measured)]
    rows = (
        (
            rows[0]["case"],
            f"{rows[0]['gpus']}",
            "" if off is None else percent(off, 1, "+"),
            causes.get(rows[0]["case"], ""),
        )
        for rows, off in sorted(found, key=lambda pair: 1.0 if pair[1] is None else abs(pair[1]))
    )
    shares = (
        (f"{100 * edge:.0f} %", f"{sum(off is not None and abs(off) <= edge for _, off in found)} of {len(found)}")
        for edge in (0.01, 0.02, 0.04, 0.08)
    )
    tables = [
        Table.of("Errors up to", ["error", ">configurations"], shares),
        Table.of("Configurations", ["case", ">devices", ">error", "cause"], rows),
    ]
    return "\n\n".join(table.markdown() for table in tables)


def rows_of(folder: str) -> Mapping[str, Any]:
    """Return what a folder's ``runs.py`` defines."""
    return run_path(str(HERE / folder / "runs.py"))


def colossalchat_tables() -> str:
    """Return ColossalChat's rows, how far off they are, and what is left out."""
    runs = rows_of("colossalchat")
    found = [(row, predicted, event) for row, predicted, event in runs["predicted"]()]
    rows = (
        (
            row["key"],
            f"{mib / 1024:.2f}",
            f"{row['mib'] / 1024:.2f}",
            percent(mib / row["mib"] - 1, 1, "+"),
            event.partition("/")[2],
            row.get("cause", ""),
        )
        for row, mib, event in found
    )
    errors = [abs(mib / row["mib"] - 1) for row, mib, _ in found]
    left = (
        (row["key"], f"{row['mib'] / 1024:.2f}", row["left_out"])
        for row in runs["FIGURES"]["rows"]
        if "left_out" in row
    )
    tables = [
        Table.of("", ["row", ">predicted GiB", ">measured GiB", ">error", "moment", "cause"], rows),
        Table.of("Errors up to", ["error", ">rows"], shares(errors, (0.02, 0.06, 0.15))),
        Table.of("Left out", ["row", ">measured GiB", "why"], left),
    ]
    return "\n\n".join(table.markdown() for table in tables)


def bf16_master_table() -> str:
    """Return the rows of DeepSpeed's example of 16-bit copies of weights."""
    rows = (
        (row["key"], f"{gib:.2f}", f"{row['gib']:.2f}", *(percent(g / row["gib"] - 1, 1, "+") for g in (gib, default)))
        for row, gib, default in rows_of("deepspeed_bf16_master")["predicted"]()
    )
    columns = ["row", ">predicted GiB", ">measured GiB", ">error", ">with the default bucket"]
    return Table.of("", columns, rows).markdown()


def published_tables(folder: str) -> str:
    """Return published runs with what is said and told of each."""
    found = rows_of(folder)
    rows = []
    for run in found[folder]():
        low, expected, high = (f"{end / 2**30:.1f}" for end in run.scenario.result.ends("device"))
        said = "runs" if run.runs else "fails"
        measured = ", ".join(f"{figure} {gib:.1f}" for figure, gib in run.measured.items())
        taken = "; ".join(words for words in (run.lengths, run.assumed) if words)
        why = found["CAUSES"].get(run.key, "")
        rows.append((run.key, said, run.told, measured, expected, f"{low} to {high}", taken, why))
    columns = [
        "run",
        "is said",
        "is told",
        ">measured GiB",
        ">device GiB",
        "from and to",
        "lengths",
        "why they disagree",
    ]
    left = Table.of("Left out", ["run", "why"], found["LEFT_OUT"].items())
    return f"{Table.of('', columns, rows).markdown()}\n\n{left.markdown()}"


TABLES: Mapping[str, Callable[[], str | None]] = {
    "recipes": partial(published_tables, "recipes"),
    "reports": partial(published_tables, "reports"),
    "families": families_table,
    "one-gpu": one_gpu_tables,
    "trace-phases": phases_table,
    "tensor-traces": tensor_traces_table,
    "sharded-traces": sharded_traces_tables,
    "simumax-b200": simumax_table,
    "megatron-golden": golden_table,
    "colossalchat": colossalchat_tables,
    "bf16-master": bf16_master_table,
}


def page(text: str) -> str:
    """Return the page with its tables as they are now; what cannot be computed here stays as it is."""

    def table(match: re.Match[str]) -> str:
        begin, name, end = match.groups()
        written = TABLES[name]()
        return match[0] if written is None else f"{begin}\n{written}\n\n{end}"

    return BLOCK.sub(table, text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
