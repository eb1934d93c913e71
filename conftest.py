"""README.md and docs/ are tests too: their Python and console examples run, see tests/console_examples.py."""

from doctest import ELLIPSIS
from pathlib import Path

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

from console_examples import ConsoleBlockParser, TitledBlockParser, enter_folder, leave_folder

HERE = Path(__file__).parent

# An example plugin is a distribution of its own: it is installed and tested apart.
collect_ignore = [str(path.parent) for path in HERE.glob("docs/examples/*/pyproject.toml")]

pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=ELLIPSIS),
        ConsoleBlockParser(),
        TitledBlockParser(),
        SkipParser(),
    ],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
    setup=enter_folder,
    teardown=leave_folder,
).pytest()
