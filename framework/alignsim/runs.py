"""A run from a YAML or JSON file: whatever is wrong with it is told at its line and column, all at once."""

from __future__ import annotations

import re
from pathlib import Path

import attrs

from alignsim.errors import InvalidInput, Origin, Problem
from alignsim.registry import Registry
from alignsim.runfile import scenario_of
from alignsim.scenario import Scenario
from alignsim.yamlfile import Tree, read_tree

ENDINGS = (".yaml", ".yml", ".json")
INDEX = re.compile(r"\[['\"]([^'\"]*)['\"]\]")


def read_run(path: str | Path, registry: Registry | None = None) -> Scenario:
    """Return the run that a file describes, composed; its fields are those of :func:`~alignsim.runfile.scenario_of`.

    Raises:
        InvalidInput: the file cannot be read, describes no run, or one whose parts make no whole.
    """
    tree = read_tree(path)
    try:
        run = scenario_of(tree.content, registry, place="")
        run = attrs.evolve(run, name=Path(path).stem) if "name" not in tree.content else run
        _ = run.plan
    except InvalidInput as error:
        told = {problem.origin for problem in tree.problems}
        others = [problem for problem in (_placed(p, tree) for p in error.problems) if problem.origin not in told]
        raise InvalidInput([*tree.problems, *others]) from None
    tree.sound()
    return run


def _placed(problem: Problem, tree: Tree) -> Problem:
    """Return a problem at its line, where the field that it names is in the file."""
    if problem.origin is not None:
        return problem
    field = INDEX.sub(r".\1", problem.field.removeprefix("Scenario."))
    above = [field.rsplit(".", up)[0] for up in range(field.count(".") + 1)]
    for place in (f"givens.{field}", f"components.{field}", *above):
        if place and place in tree.places:
            return attrs.evolve(problem, origin=tree.places[place])
    return attrs.evolve(problem, origin=Origin(tree.file))
