"""The command ``alignsim``. What is only needed by some command is imported when that command runs.

Exit status: 0 answered; 1 the answer is no; 2 wrong usage or input; 3 unknown name, or a plugin that breaks the
contract; 70 a fault of ours; 130 interrupted; 141 the reader of the output went away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

COMPLETE = "_ALIGNSIM_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (``sys.argv`` if none is given) and return its exit status. Nothing is raised."""
    from alignsim.cli.app import app
    from alignsim.cli.failures import guarded
    from alignsim.cli.state import State

    words = list(sys.argv[1:] if arguments is None else arguments)
    state = State()
    if arguments is None and COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(app, {"obj": state}, "alignsim", COMPLETE, os.environ[COMPLETE])

    def run() -> None:
        with app.make_context("alignsim", words, obj=state) as context:
            app.invoke(context)

    return guarded(run, as_json="--json" in words, warnings=state.warnings)
