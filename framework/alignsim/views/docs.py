"""What the docstring of a class says of its attributes."""

from __future__ import annotations

import inspect
import re

ENTRY = re.compile(r"^    (\w+): (.*)$")


def attribute_docs(cls: type) -> dict[str, str]:
    """Return attribute -> its text, from the section ``Attributes:``; those of base classes too.

    >>> class Box:
    ...     '''A box.
    ...
    ...     Attributes:
    ...         width: from side to side,
    ...             in metres.
    ...     '''
    >>> attribute_docs(Box)
    {'width': 'from side to side, in metres.'}
    """
    found: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        text = inspect.cleandoc(each.__dict__.get("__doc__") or "")
        _, _, section = text.partition("Attributes:\n")
        name = ""
        for line in section.splitlines():
            entry = ENTRY.match(line)
            if entry:
                name = entry[1]
                found[name] = entry[2]
            elif name and line.startswith("        "):
                found[name] += f" {line.strip()}"
            else:
                break
    return {name: text.replace("``", "") for name, text in found.items()}


def first_line(item: object) -> str:
    """Return the summary of a docstring, without its full stop."""
    return (inspect.getdoc(item) or "").partition("\n\n")[0].replace("\n", " ").removesuffix(".")
