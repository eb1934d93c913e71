"""Measurements against predictions: cases, and how far predictions are off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from statistics import median
from typing import Any

import attrs

from alignsim.errors import AlignSimError, InvalidInput, PluginError, Problem
from alignsim.frozen import FrozenDict, frozen

SCHEMA = "alignsim.validation/1"
NEAR, PHASE, PEAK = 0.01, 0.05, 0.005
"""What counts as near in a peak and in a phase; and which phases share the maximum of a row."""


@attrs.frozen(kw_only=True)
class Case:
    """One measurement, and how to predict it.

    Attributes:
        key: how people find it again.
        measured_peak: the largest number of bytes that was measured.
        measured_phase: the phase that it was measured in; None where nobody knows.
        measured_phases: the largest number of bytes of each phase, as far as known.
        predict: gives the predicted bytes of each phase, of those alone that count for the peak. What cannot be
            predicted is refused by raising an :class:`AlignSimError`.

    Raises:
        InvalidInput: a measurement that is no finite number above 0, or a peak below its own phases.
    """

    key: str
    measured_peak: float
    measured_phase: str | None = None
    measured_phases: Mapping[str, float] = attrs.field(factory=FrozenDict, converter=frozen)
    predict: Callable[[], Mapping[str, float]] = attrs.field(repr=False)

    def __attrs_post_init__(self) -> None:
        of_phases = {f"measured_phases.{phase}": value for phase, value in self.measured_phases.items()}
        told = {"measured_peak": self.measured_peak, **of_phases}
        wrong = [
            Problem(f"{self.key}.{name}", f"expected bytes, got {value!r}")
            for name, value in told.items()
            if not _is_number(value) or value <= 0
        ]
        if not wrong and self.measured_peak < max(self.measured_phases.values(), default=0):
            wrong.append(Problem(f"{self.key}.measured_peak", "is less than one of its own phases has"))
        if wrong:
            raise InvalidInput(wrong)


@attrs.frozen
class Refusal:
    """A case that could not be predicted, and why.

    Attributes:
        key: the case's, or its place in the file.
        message: why.
        wrong: the file is: what it says there is no case at all.
    """

    key: str
    message: str
    wrong: bool = False


@attrs.frozen(kw_only=True)
class Validation:
    """A kind of file with measurements, by name, and how its content becomes cases.

    Attributes:
        name: what ``alignsim validate --source`` calls it.
        cases: gives the cases of a file's content, and a :class:`Refusal` for a row that is none; what is wrong with
            all of it is told by :class:`InvalidInput`.
        about: what was measured, and how.
    """

    name: str
    cases: Callable[[Any], Iterable[Case | Refusal]]
    about: str = ""


@attrs.frozen(kw_only=True)
class Row:
    """A prediction beside its measurement.

    Attributes:
        key: the case's.
        predicted: the largest of the predicted phases, in bytes.
        measured: the measured peak.
        phase: the predicted phase that is the largest.
        measured_phase: the measured one.
        phases: phase -> predicted and measured bytes, for phases that have both.
        phase_agrees: whether the phase is right, or its own measured peak is within 0.5 % of the row's; None where no
            phase was measured.
    """

    key: str
    predicted: float
    measured: float
    phase: str
    measured_phase: str | None
    phases: Mapping[str, tuple[float, float]] = attrs.field(converter=frozen)
    phase_agrees: bool | None

    @property
    def error(self) -> float:
        """Predicted over measured, less 1."""
        return self.predicted / self.measured - 1

    @property
    def phase_errors(self) -> dict[str, float]:
        """The same for every phase."""
        return {phase: predicted / measured - 1 for phase, (predicted, measured) in self.phases.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        phases = {
            phase: {"predicted": predicted, "measured": measured, "error": self.phase_errors[phase]}
            for phase, (predicted, measured) in self.phases.items()
        }
        return {
            "key": self.key,
            "predicted": self.predicted,
            "measured": self.measured,
            "error": self.error,
            "phase": self.phase,
            "measured_phase": self.measured_phase,
            "phases": phases,
        }


@attrs.frozen(kw_only=True)
class Summary:
    """How far the predictions of many cases are off. Shares and errors are None where there is nothing to share.

    Attributes:
        rows: cases with a prediction.
        refused: cases without one.
        median_error: the middle one of all errors, signs aside.
        within_1_percent: the share of rows whose error is at most 1 %.
        worst_error: the largest error, with its sign.
        worst_key: the row that it is in.
        phase_right: the share of rows whose phase is right, or has a measured peak within 0.5 % of the row's.
        phases: measured phases with a prediction, over all rows.
        phases_within_5_percent: the share of them whose error is at most 5 %.
        rows_with_all_phases_within_5_percent: the share of rows with such phases alone.
        worst_phase_error: the largest error of a phase, with its sign.
        worst_phase_key: the row and the phase that it is in.
    """

    rows: int
    refused: int
    median_error: float | None
    within_1_percent: float | None
    worst_error: float | None
    worst_key: str | None
    phase_right: float | None
    phases: int
    phases_within_5_percent: float | None
    rows_with_all_phases_within_5_percent: float | None
    worst_phase_error: float | None
    worst_phase_key: str | None


@attrs.frozen
class Comparison:
    """All cases of a file, with their predictions.

    Attributes:
        rows: the predicted ones.
        refused: the others.
    """

    rows: tuple[Row, ...]
    refused: tuple[Refusal, ...] = ()

    @property
    def summary(self) -> Summary:
        """How far they are off."""
        errors = {row.key: row.error for row in self.rows}
        of_phases = {f"{r.key} {phase}": error for r in self.rows for phase, error in r.phase_errors.items()}
        judged = [row.phase_agrees for row in self.rows if row.phase_agrees is not None]
        phased = [all(abs(e) <= PHASE for e in row.phase_errors.values()) for row in self.rows if row.phases]
        worst, worst_phase = _worst(errors), _worst(of_phases)
        return Summary(
            rows=len(self.rows),
            refused=len(self.refused),
            median_error=median(abs(row.error) for row in self.rows) if self.rows else None,
            within_1_percent=_share(abs(row.error) <= NEAR for row in self.rows),
            worst_error=errors[worst] if worst is not None else None,
            worst_key=worst,
            phase_right=_share(judged),
            phases=len(of_phases),
            phases_within_5_percent=_share(abs(error) <= PHASE for error in of_phases.values()),
            rows_with_all_phases_within_5_percent=_share(phased),
            worst_phase_error=of_phases[worst_phase] if worst_phase is not None else None,
            worst_phase_key=worst_phase,
        )

    @property
    def wrong(self) -> bool:
        """Whether the file is wrong somewhere."""
        return any(refusal.wrong for refusal in self.refused)

    def exceeds(self, largest: float) -> bool:
        """Whether an error is larger than that, or a case has no prediction at all."""
        return bool(self.refused) or any(abs(row.error) > largest for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; ``schema`` names its version."""
        return {
            "schema": SCHEMA,
            "rows": [row.to_dict() for row in self.rows],
            "refused": [attrs.asdict(refusal) for refusal in self.refused],
            "summary": attrs.asdict(self.summary),
        }


def compare(cases: Iterable[Case | Refusal]) -> Comparison:
    """Predict every case. One that is refused, or was before, is kept as such.

    >>> cases = [Case(key="a", measured_peak=100.0, measured_phase="update", predict=lambda: {"update": 101.0})]
    >>> row = compare(cases).rows[0]
    >>> row.predicted, round(row.error, 6), row.phase_agrees
    (101.0, 0.01, True)

    Raises:
        InvalidInput: there are no cases, or two of one key.
        PluginError: a prediction that is empty, or no finite number of bytes.
    """
    rows, refused, keys = [], [], set()
    for case in cases:
        if case.key in keys:
            raise InvalidInput(Problem(case.key, "is the key of two cases"))
        keys.add(case.key)
        if isinstance(case, Refusal):
            refused.append(case)
            continue
        try:
            predicted = dict(case.predict())
        except PluginError:
            raise
        except AlignSimError as error:
            refused.append(Refusal(case.key, str(error)))
            continue
        rows.append(_row(case, predicted))
    if not keys:
        raise InvalidInput("there is nothing to compare: no case at all")
    return Comparison(tuple(rows), tuple(refused))


def _row(case: Case, predicted: Mapping[str, float]) -> Row:
    if not predicted or not all(_is_number(value) for value in predicted.values()):
        raise PluginError(f"the prediction of {case.key} is no finite number for each phase: {dict(predicted)!r}")
    phase = max(predicted, key=lambda name: predicted[name])
    known = case.measured_phase is not None
    return Row(
        key=case.key,
        predicted=predicted[phase],
        measured=case.measured_peak,
        phase=phase,
        measured_phase=case.measured_phase,
        phases={p: (predicted[p], measured) for p, measured in case.measured_phases.items() if p in predicted},
        phase_agrees=_agrees(case, phase) if known else None,
    )


def _agrees(case: Case, phase: str) -> bool:
    return phase == case.measured_phase or case.measured_phases.get(phase, 0.0) >= (1 - PEAK) * case.measured_peak


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _share(truths: Iterable[bool]) -> float | None:
    found = list(truths)
    return sum(found) / len(found) if found else None


def _worst(errors: Mapping[str, float]) -> str | None:
    return max(errors, key=lambda name: abs(errors[name])) if errors else None
