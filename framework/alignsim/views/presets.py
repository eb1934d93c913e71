"""The defaults of frameworks, as tables: all presets, one of them, and what one chose for a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from alignsim.preset import Choice, Default, Preset
from alignsim.views.amounts import measured
from alignsim.views.table import Table


def presets_table(presets: Iterable[Preset]) -> Table:
    """Return the presets, one a row."""
    rows = ((p.name, p.framework, p.version, ", ".join(p.aliases), ", ".join(p.algorithms)) for p in presets)
    return Table.of("Presets", ["name", "framework", "version", "also", "algorithms"], rows)


def preset_tables(preset: Preset) -> Iterator[Table]:
    """Yield what a preset is, then its defaults in the order in which they come into force."""
    told = [("about", preset.about), ("also", ", ".join(preset.aliases)), ("source", preset.source)]
    told += [("algorithms", ", ".join(preset.algorithms))]
    told += [("runs", f"{slot}: {' or '.join(names)}") for slot, names in preset.only.items()]
    told += [("to be said", line) for line in preset.asks]
    told += [("left out", line) for line in preset.left_out]
    yield Table.of(preset.name, ["", ""], [row for row in told if row[1]])
    yield choices_table(preset)


def choices_table(preset: Preset) -> Table:
    """Return every default, one a row, with when it is in force and where it was read."""
    rows = [(*row, in_force(choice), choice.source) for choice in preset.choices for row in _rows(choice)]
    return Table.of("Defaults", ["what", "value", "for", "source"], rows)


def _rows(choice: Choice) -> Iterator[tuple[str, str]]:
    yield from choice.components.items()
    yield from ((name.replace("_", " "), str(size)) for name, size in choice.batch.items())
    yield from ((path.replace("_", " "), measured(number.as_given())) for path, number in choice.givens.items())


def in_force(choice: Choice) -> str:
    """Return when a choice holds, in words; empty where it always does."""
    parts = [", ".join(choice.algorithms)] if choice.algorithms else []
    parts += [f"{place} {' or '.join(names)}" for place, names in choice.where.items()]
    return "; ".join(parts)


def chosen_table(name: str, chosen: Mapping[str, Default]) -> Table:
    """Return the components that a preset chose for a run."""
    rows = ((place, default.value, default.source.removeprefix(f"{name}: ")) for place, default in chosen.items())
    return Table.of(f"Chosen by preset {name}", ["what", "component", "source"], rows)
