"""What a plugin of solvers should pass."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, ClassVar

import pytest

from alignsim.question import Question
from alignsim.solver import Solver
from alignsim.testing.kit import PluginTests
from alignsim.testing.setups import Workbench


class SolverTests(PluginTests):
    """Conformance of a plugin that offers solvers. Subclass it and say which plugin is meant."""

    subject: ClassVar[str] = "solver"
    kind: ClassVar[str] = "solvers"

    def questions(self, solver: Solver, workbench: Workbench) -> Iterable[Question]:
        """Return what it is asked: all scenarios that name it, else a run of every algorithm; override it at will."""
        named = [s for s in workbench.registry.scenarios.values() if s.solver == solver.name]
        return named or [workbench.run(name) for name in workbench.registry.algorithms]

    def test_answers(self, solver: Solver, workbench: Workbench) -> None:
        """It has an answer, the same one when it is asked again, and leaves the question as it was."""
        questions = list(self.questions(solver, workbench))
        assert questions, "nothing to ask it; return scenarios from `questions`"
        for question in questions:
            before = question.plan.evaluate()
            answers = [solver.solve(question) for _ in "ab"]
            assert answers[0] is not None, f"no answer to {question.name}"
            assert plain(answers[0]) == plain(answers[1]), f"two answers to {question.name}"
            assert question.plan.evaluate() == before, f"{question.name} is another question afterwards"

    def test_answers_are_plain_data_too(self, solver: Solver, workbench: Workbench) -> None:
        """``to_dict`` gives what JSON can hold, without infinities."""
        answer = solver.solve(next(iter(self.questions(solver, workbench))))
        if not hasattr(answer, "to_dict"):
            pytest.skip("its answers have no to_dict")
        json.dumps(answer.to_dict(), allow_nan=False)


def plain(answer: Any) -> Any:
    """Return an answer as plain data where it can be, else as its text."""
    return answer.to_dict() if hasattr(answer, "to_dict") else repr(answer)
