"""What ``validate`` and ``compare`` share: an option, and how a comparison is shown."""

from __future__ import annotations

from math import isfinite

import click

from alignsim.cli.failures import NO
from alignsim.validation import Comparison


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


def finish(ctx: click.Context, comparison: Comparison, as_json: bool, max_error: float | None) -> None:
    """Write a comparison; exit with 1 where nothing could be predicted, or something is too far off."""
    from alignsim.cli.output import show, show_json
    from alignsim.views.comparison import refused_table, rows_table, summary_table

    if as_json:
        show_json(comparison.to_dict())
    else:
        show(rows_table(comparison), refused_table(comparison), summary_table(comparison.summary))
    if not comparison.rows or (max_error is not None and comparison.exceeds(max_error)):
        ctx.exit(NO)
