"""Run the examples of Markdown documents that are not Python, in the document's own empty folder.

A fence with a title, such as ```` ```yaml title="run.yaml" ````, is written to the file of that name.

In a ```` ```console ```` fence, every ``$ alignsim ...`` runs and must print the lines below it, on standard output and
standard error together; ``$ echo $?`` prints its exit status. ``...`` stands for anything within a line, and alone on a
line for any lines. A command shown without output must succeed. Other commands, such as ``$ pip ...``, do not run.
Before a fence, ``<!-- skip: next -->`` passes over it.
"""

import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sybil import Document, Example, Region
from sybil.parsers.markdown import CodeBlockParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

TERMINAL = {"COLUMNS": "120", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb"}


def enter_folder(namespace: dict[str, Any]) -> None:
    """Move to an empty folder, before the first example of a document."""
    stack = ExitStack()
    stack.enter_context(chdir(stack.enter_context(tempfile.TemporaryDirectory())))
    namespace["_folder"] = stack


def leave_folder(namespace: dict[str, Any]) -> None:
    """Move back and remove the folder, after the last example of a document."""
    namespace.pop("_folder").close()


class TitledBlockParser:
    """Writes every fence with a title to the file of that name."""

    lexer = RawFencedCodeBlockLexer(re.compile(r'[\w-]+ title="(?P<title>[^"\n]+)"[^\n]*$\n', re.MULTILINE))

    def __call__(self, document: Document) -> Iterable[Region]:
        """Find the fences."""
        for region in self.lexer(document):
            region.parsed = region.lexemes["title"], region.lexemes["source"]
            region.evaluator = self.evaluate
            yield region

    def evaluate(self, example: Example) -> None:
        """Write the file."""
        title, source = example.parsed
        Path(title).parent.mkdir(parents=True, exist_ok=True)
        Path(title).write_text(source, encoding="utf-8")


class ConsoleBlockParser(CodeBlockParser):
    """Runs the commands of every console fence and compares what they print."""

    language = "console"

    def evaluate(self, example: Example) -> str | None:
        """Run one fence; a text is what went wrong."""
        status = 0
        for command, expected in commands(example.parsed):
            if command.split() == ["echo", "$?"]:
                printed = f"{status}\n"
            elif command.split()[:1] == ["alignsim"]:
                status, printed = run(command)
            else:
                continue
            if not expected and status != 0:
                return f"$ {command}\nexit status {status}\n{printed}"
            if expected and not matches(expected, printed):
                return f"$ {command}\nExpected:\n{expected}\nGot (exit status {status}):\n{printed}"
        return None


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, continuation lines joined, with the output shown below it."""
    joined = re.sub(r"\\\n\s*(?:> )?", "", block)
    for part in re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command.strip(), output.rstrip()


def run(command: str) -> tuple[int, str]:
    """Run alignsim's console script in this process; its exit status and everything that it prints."""
    (script,) = entry_points(group="console_scripts", name="alignsim")
    main = script.load()
    output = io.StringIO()
    status: object = 0
    with (
        patch.object(sys, "argv", shlex.split(command, comments=True)),
        patch.dict(os.environ, TERMINAL),
        redirect_stdout(output),
        redirect_stderr(output),
    ):
        try:
            status = main()
        except SystemExit as stop:
            status = stop.code
    if isinstance(status, str):
        return 1, f"{output.getvalue()}{status}\n"
    return (status if isinstance(status, int) else 0), output.getvalue()


def matches(expected: str, printed: str) -> bool:
    """Whether the text printed is the one expected, spaces at the ends of lines aside."""
    lines = (
        r"(?:[^\n]*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()).replace(r"\.\.\.", "[^\n]*?") + "\n"
        for line in expected.splitlines()
    )
    tidy = "".join(line.rstrip() + "\n" for line in printed.rstrip().splitlines())
    return re.fullmatch("".join(lines), tidy) is not None
