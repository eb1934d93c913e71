"""What ``validate`` and ``compare`` share: an option, and how a comparison is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

import click

from alignsim.cli.failures import NO, WRONG_INPUT
from alignsim.errors import InvalidInput
from alignsim.validation import Case, Comparison, Refusal, compare


def _share(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    try:
        number = float(value.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not isfinite(number) or number < 0:
        raise click.BadParameter(f"{value!r} is not a share in percent, such as 5", ctx, parameter)
    return number / 100


max_error_option = click.option(
    "--max-error",
    callback=_share,
    metavar="PERCENT",
    help="Exit with 1 if a peak is further off than that, or cannot be predicted.",
)


def compared(file: str, cases: Callable[[Any], Iterable[Case | Refusal]]) -> Comparison:
    """Predict the cases of a JSON file.

    Raises:
        InvalidInput: what is wrong with all of it, at its line where it has one.
    """
    from alignsim.jsonfile import read_document

    document = read_document(file)
    try:
        return compare(cases(document.content))
    except InvalidInput as error:
        raise document.located(error) from None


def finish(ctx: click.Context, comparison: Comparison, as_json: bool, max_error: float | None) -> None:
    """Write a comparison; exit with 2 where a row is wrong, 1 where nothing could be predicted or is too far off."""
    from alignsim.cli.output import show, show_json
    from alignsim.views.comparison import refused_table, rows_table, summary_table

    if as_json:
        show_json(comparison.to_dict())
    else:
        show(rows_table(comparison), refused_table(comparison), summary_table(comparison.summary))
    if comparison.wrong:
        ctx.exit(WRONG_INPUT)
    if not comparison.rows or (max_error is not None and comparison.exceeds(max_error)):
        ctx.exit(NO)
