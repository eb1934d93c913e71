"""What is on offer, as tables: hardware, models, algorithms, scenarios, components and plugins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from alignsim.algorithm import Algorithm
from alignsim.architecture import Architecture
from alignsim.collector import Report
from alignsim.component import Component
from alignsim.given import Given
from alignsim.hardware import Accelerator, Cluster, Node
from alignsim.limits import Limit
from alignsim.reader import Stored
from alignsim.views.amounts import amount, count, extent, gib, measured, short
from alignsim.views.docs import attribute_docs, first_line
from alignsim.views.table import Table


def accelerators_table(accelerators: Iterable[Accelerator]) -> Table:
    """Return the accelerators, one a row."""
    rows = []
    for device in accelerators:
        least = device.least_memory
        rows.append((device.name, device.vendor, device.label, "" if least is None else gib(least), _rate(device)))
    return Table.of("Accelerators", ["name", "vendor", "label", ">usable GiB", ">bf16"], rows)


def _rate(device: Accelerator) -> str:
    return measured(device.flop_rates["bf16"]) if "bf16" in device.flop_rates else ""


def machines_table(machines: Iterable[Node | Cluster]) -> Table:
    """Return nodes and clusters, one a row."""
    rows = []
    for machine in machines:
        node = machine if isinstance(machine, Node) else machine.node
        devices = machine.count if isinstance(machine, Node) else machine.accelerators
        rows.append((machine.name, f"{devices} x {node.accelerator.name}", _of(node.host_memory)))
    return Table.of("Machines", ["name", "accelerators", ">memory of a host"], rows)


def _of(number: Given | None) -> str:
    return "" if number is None else measured(number)


def fields_with_sources(item: Any) -> Iterator[Table]:
    """Yield a piece of hardware: what is said of it in words, and its numbers with range, source and how obtained."""
    words, numbers = [], []
    for name, value in _fields(item):
        if isinstance(value, Given):
            numbers.append((name, measured(value), extent(value), value.obtained, value.source))
        elif value is None:
            numbers.append((name, "not known", "", "", ""))
        elif value not in ("", ()):
            words.append((name, short(value)))
    yield Table.of("", ["", ""], words)
    yield Table.of("", ["", ">value", "range", "obtained", "source"], numbers)


def _fields(item: Any) -> Iterator[tuple[str, Any]]:
    for field in attrs.fields(type(item)):
        value = getattr(item, field.name)
        if field.name == "sources":
            continue
        if field.name == "link_bandwidth" and isinstance(item, Node | Cluster):
            value = item.link  # its own, or that of what it is made of
        if isinstance(value, Mapping):
            yield from ((f"{field.name.replace('_', ' ')} {key}", each) for key, each in value.items())
        else:
            label = f"{field.name}, one way" if field.name.endswith("k_bandwidth") else field.name
            yield label.replace("_", " "), value


def architectures_table(models: Iterable[tuple[Architecture, float | None]]) -> Table:
    """Return models with their parameter counts, one a row."""
    rows = (
        (m.name, "" if total is None else count(total), m.layers, m.hidden, m.heads, m.kv_heads, m.head_dim, m.vocab)
        for m, total in models
    )
    heads = ["name", ">parameters", ">layers", ">hidden", ">heads", ">kv heads", ">head dim", ">vocab"]
    return Table.of("Models", heads, rows)


def shape_table(model: Architecture) -> Table:
    """Return the shape of a model: every field that it has, with what it means."""
    docs = attribute_docs(type(model))
    left_out = {"name", "aliases", "source", "sources", "recorded", *(() if model.experts else ("expert_every",))}
    rows = []
    for field in attrs.fields(type(model)):
        value = getattr(model, field.name)
        if field.name not in left_out and value not in (0, None, (), False):
            rows.append((field.name.replace("_", " "), short(value), docs.get(field.name, "").removesuffix(".")))
    notes = [f"also called: {', '.join(model.aliases)}"] if model.aliases else []
    notes.append(f"source: {model.source}")
    if model.recorded is not None:
        notes.append(f"recorded elsewhere: {amount(model.recorded.value)} parameters ({model.recorded.source})")
    return Table.of(model.name, ["field", ">value", "what it is"], rows, notes)


def algorithms_table(algorithms: Iterable[Algorithm]) -> Table:
    """Return the algorithms, one a row."""
    rows = ((a.name, " -> ".join(a.phases), ", ".join(a.roles), a.source) for a in algorithms)
    return Table.of("Algorithms", ["name", "phases", "roles", "source"], rows)


def algorithm_table(algorithm: Algorithm) -> Table:
    """Return an algorithm as the table that it is: phases down, roles across."""
    rows = [(phase, *(algorithm.activity(phase, role).name for role in algorithm.roles)) for phase in algorithm.phases]
    notes = [f"order of {phase}: {', '.join(events)}" for phase, events in algorithm.order.items()]
    notes += [f"at the same time: {', '.join(group)}" for group in algorithm.concurrent]
    notes += [f"{role} runs the model of {owner}" for role, owner in algorithm.model_of.items()]
    notes += [f"source: {algorithm.source}"] if algorithm.source else []
    return Table.of(algorithm.name, ["phase", *algorithm.roles], rows, notes)


def scenarios_table(scenarios: Iterable[Any]) -> Table:
    """Return the scenarios, one a row."""
    rows = ((s.name, type(s).__name__, s.solver, first_line(type(s))) for s in scenarios)
    return Table.of("Scenarios", ["name", "kind", "answered by", "what it is"], rows)


def components_table(components: Iterable[Component]) -> Table:
    """Return the components by slot, one a row."""
    rows = ((f"{c.slot.name}:{c.name}", len(c.terms), len(c.defaults), c.source) for c in components)
    return Table.of("Components", ["slot:name", ">terms", ">defaults", "source"], rows)


def component_tables(component: Component) -> Iterator[Table]:
    """Yield a component's slot with what it promises, its formulas and its defaults."""
    slot = component.slot
    promises = ", ".join(f"{name} ({unit})" if unit else name for name, unit in slot.promises.items())
    told = [("slot", slot.name), ("about", slot.about), ("promises", promises)]
    told += [("required for", ", ".join(sorted(slot.required_for))), ("source", component.source)]
    told += [("for", ", ".join(sorted(component.kinds)))]
    told += [("needs", f"{place}: {' or '.join(kinds)}") for place, kinds in component.needs.items()]
    told += [("asks", f"{name} {limit.asks()}") for name, limit in component.limits.items()]
    told += [("left out", line) for line in component.left_out]
    yield Table.of(f"{slot.name}:{component.name}", ["", ""], [row for row in told if row[1]])
    if component.terms:
        terms = ((t.name, t.formula.equation, t.unit, t.source) for t in component.terms)
        yield Table.of("Terms", ["name", "formula", "unit", "source"], terms)
    if component.defaults:
        told_limits = {**{name: c.limit.asks() for name, c in component.defaults.items()}, **_asked(slot.limits)}
        defaults = ((n, measured(c.as_given()), told_limits[n], c.source) for n, c in component.defaults.items())
        yield Table.of("Defaults", ["name", ">value", "may be", "source"], defaults)


def _asked(limits: Mapping[str, Limit]) -> dict[str, str]:
    return {name: limit.asks() for name, limit in limits.items()}


def counts_table(counts: Iterable[tuple[str, float, str]]) -> Table:
    """Return parameter counts by part: name, value, and what it counts."""
    rows = [(name.replace("_", " "), amount(value), about.removesuffix(".")) for name, value, about in counts if value]
    return Table.of("Parameters by part", ["part", ">count", "what it counts"], rows)


def read_from_table(model: Architecture) -> Table:
    """Return where the fields of a model were read, of one that was read from a file."""
    told = ((f, getattr(model, f), where) for f, where in model.sources.items())
    rows = [(field.replace("_", " "), short(value), where) for field, value, where in told if value not in (0, None)]
    return Table.of("Read from", ["field", ">value", "where"], rows)


def stored_table(stored: Iterable[Stored]) -> Table:
    """Return the weights that files hold, by format."""
    rows = ((s.format, amount(s.tensors), amount(s.elements), amount(s.size, "byte")) for s in stored)
    return Table.of("Files of weights hold", ["format", ">tensors", ">elements", ">size"], rows)


def plugins_table(reports: Iterable[Report]) -> Table:
    """Return how every plugin fares, one a row; problems below."""
    reports = list(reports)
    rows = (
        (
            report.provider.plugin,
            f"{report.provider.distribution} {report.provider.version}".strip(),
            report.status,
            ", ".join(f"{hook.removeprefix('alignsim_')} {number}" for hook, number in report.hooks.items()),
        )
        for report in reports
    )
    notes = [f"{report.provider.plugin}: {problem}" for report in reports for problem in report.problems]
    return Table.of("Plugins", ["name", "distribution", "status", "offers"], rows, notes)
