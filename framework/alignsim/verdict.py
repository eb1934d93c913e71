"""Whether a run fits: what it takes against what there is, pool by pool, and whether its conditions hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from alignsim.batch import Batch
from alignsim.given import Given
from alignsim.lengths import PATHS
from alignsim.parts import Parts
from alignsim.plan import Plan
from alignsim.scope import Scope
from alignsim.units import base_unit

if TYPE_CHECKING:
    from alignsim.result import Binding, Result

FITS, SO_FAR, CLOSE_CALL, DOES_NOT_FIT = "fits", "fits so far", "close call", "does not fit"
ORDER = (FITS, SO_FAR, CLOSE_CALL, DOES_NOT_FIT)


@attrs.frozen
class Cause:
    """A number with a range, and what that does to a total.

    Attributes:
        path: the number.
        less: how much less the total is with this number alone at its low end, in base units.
        more: how much more it is with this number alone at its high end.
        source: where the number and its range are from.
    """

    path: str
    less: float
    more: float
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return attrs.asdict(self)


@attrs.frozen
class Judged:
    """One resource of one pool, held against what there is of it.

    Attributes:
        resource: what is taken up.
        pool: where.
        status: ``fits`` where even the high end is within the least that there is; ``does not fit`` where what is
            expected is more than there usually is; else ``close call``.
        low: what is taken at the low end, in base units.
        expected: what is taken.
        high: what is taken at the high end.
        least: the least that there is.
        usual: what there usually is.
        source: where that is from.
        unit: the base unit.
        binding: the instant that sets it.
        causes: the numbers that make the range, the largest effect first.
        configured: what is taken at the lengths that are configured, where those of a batch were measured; else None.
    """

    resource: str
    pool: str
    status: str
    low: float
    expected: float
    high: float
    least: float
    usual: float
    source: str
    unit: str
    binding: Binding
    causes: tuple[Cause, ...] = ()
    configured: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = {field.name: getattr(self, field.name) for field in attrs.fields(Judged)}
        return plain | {"binding": self.binding.to_dict(), "causes": [cause.to_dict() for cause in self.causes]}


@attrs.frozen
class Met:
    """One condition.

    Attributes:
        path: the condition's value, a margin.
        message: what holds where the margin is at least 0.
        status: ``fits`` where it is so at every end of the ranges; ``does not fit`` where it is expected not to be.
        margin: the expected margin, in base units.
        unit: the base unit.
    """

    path: str
    message: str
    status: str
    margin: float
    unit: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return attrs.asdict(self)


@attrs.frozen
class Verdict:
    """Whether a run fits.

    Attributes:
        status: the worst of all that was judged; ``fits so far`` where it fits, but slots are filled with nothing, and
            what they stand for is not counted.
        judged: every resource and pool of which it is known how much there is.
        conditions: what else must hold.
        lengths: the numbers of tokens that it was judged by, by name.
        real_lengths: whether it was judged by lengths that were measured; else they are what was configured.
    """

    status: str
    judged: tuple[Judged, ...]
    conditions: tuple[Met, ...] = ()
    lengths: tuple[tuple[str, float], ...] = ()
    real_lengths: bool = False

    @property
    def fits(self) -> bool | None:
        """True or False; None where it is not sure."""
        return {FITS: True, DOES_NOT_FIT: False}.get(self.status)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "status": self.status,
            "fits": self.fits,
            "judged": [judged.to_dict() for judged in self.judged],
            "conditions": [met.to_dict() for met in self.conditions],
            "lengths": {"real": self.real_lengths, **dict(self.lengths)},
        }


def judge(result: Result) -> Verdict | None:
    """Return the verdict on a run; None where nothing says how much there is, and nothing sets a condition."""
    judged, conditions = tuple(_judged(result)), tuple(_conditions(result))
    if not judged and not conditions:
        return None
    known = SO_FAR if _unfilled(result.graph.parts) else FITS
    statuses = [known, *(item.status for item in judged), *(met.status for met in conditions)]
    status = max(statuses, key=ORDER.index)
    lengths = dict(_lengths(result))
    real = PATHS["maximum"] in lengths or (
        bool(lengths) and all(number.obtained == "measured" for number in lengths.values())
    )
    return Verdict(status, judged, conditions, tuple((name, n.value) for name, n in lengths.items()), real)


def _unfilled(parts: Parts) -> bool:
    """Whether something that a role needs is filled with nothing."""
    return any(
        component == component.slot.none and component.slot.required_for & parts.algorithm.activities(role)
        for role, filled in parts.components.items()
        for component in filled.values()
    )


def _judged(result: Result) -> Iterator[Judged]:
    graph, parts = result.graph, result.graph.parts
    for name, resource in sorted(parts.resources.items()):
        for pool in parts.pools:
            path = f"@{pool}.{name}"
            paths = (p for capacity in resource.capacity for p in Scope(pool=pool).lookups(capacity))
            given = next((node.given for p in paths if (node := graph.nodes.get(p)) and node.given), None)
            if given is None or (path not in graph.nodes and path not in graph.aliases):
                continue
            low, expected, high = result.ends(path)
            low, high = min(low, expected, high), max(low, expected, high)  # what fills the rest shrinks as others grow
            least, usual = given.at("low"), given.value
            status = FITS if high <= least else DOES_NOT_FIT if expected > usual else CLOSE_CALL
            yield Judged(
                resource=name,
                pool=pool,
                status=status,
                low=low,
                expected=expected,
                high=high,
                least=least,
                usual=usual,
                source=given.source,
                unit=base_unit(graph[path].unit),
                binding=result.bindings(path)[0],
                causes=tuple(causes(result, path)) if low < high else (),
                configured=_configured(result, path),
            )


def _configured(result: Result, path: str) -> float | None:
    """What is taken at configured lengths, where others were measured."""
    facts = result.graph.parts.facts
    lengths = dict(_lengths(result))
    measured = {name: number for name, number in lengths.items() if number.obtained == "measured"}
    changes = {
        name: facts[name].value for name, n in measured.items() if name in facts and facts[name].value != n.value
    }
    changes |= {path: 0.0 for path in PATHS.values() if path in lengths}  # 0 stands for what is not known
    if not changes:
        return None
    (taken,) = Plan.of(result.graph, (path,)).evaluate(changes=changes).values()
    return taken


def causes(result: Result, path: str) -> list[Cause]:
    """Return the numbers whose ranges move a total, the largest effect first."""
    graph = result.graph
    plan = Plan.of(graph, (path,))
    (expected,) = plan.evaluate().values()
    found = []
    for where, given in ((where, graph.nodes[where].given) for where in plan.inputs):
        if given is None or not given.ranged:
            continue
        low, high = (plan.evaluate(changes={where: given.at(end)})[plan.outputs[0]] for end in ("low", "high"))
        if low != expected or high != expected:
            found.append(Cause(where, expected - low, high - expected, given.source))
    return sorted(found, key=lambda cause: (-cause.more, -cause.less, cause.path))


def _conditions(result: Result) -> Iterator[Met]:
    for path, node in result.graph.nodes.items():
        if node.term is not None and node.term.condition and node.kind == "term":
            margins = result.ends(path)
            status = FITS if min(margins) >= 0 else DOES_NOT_FIT if margins[1] < 0 else CLOSE_CALL
            yield Met(path, node.term.condition, status, margins[1], base_unit(node.unit))


def _lengths(result: Result) -> Iterator[tuple[str, Given]]:
    for name in (*(field.name for field in attrs.fields(Batch)), *PATHS.values()):
        node = result.graph.nodes.get(name)
        given = node.given if node is not None and name.endswith("_tokens") else None
        if given is not None and (given.value or name not in PATHS.values()):
            yield name, given
