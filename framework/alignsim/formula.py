"""The small language of formulas, parsed once: checked, printed as an equation, inlined in sweeps.

A formula is one ``return`` of ``+ - * /``, comparisons, numbers, its own parameters and the functions of
:mod:`alignsim.maths`. Whatever else Python can do is left to *opaque* formulas, which are called row by row.
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import textwrap
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import Any

import attrs

from alignsim import maths
from alignsim.errors import FormulaError, Origin, Problem

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_INSTEAD = {
    "**": "write the product out: x * x",
    "if": "use maths.where(condition, yes, no)",
    "and/or": "multiply the conditions: (a > 0) * (b > 0)",
    "not": "compare with the opposite: a <= 0",
    "sum": "declare a parameter with Collect(group) as its default",
    "max": "use maths.maximum(a, b)",
    "min": "use maths.minimum(a, b)",
    "round": "use maths.ceil or maths.floor",
    "//": "use maths.floor(a / b)",
    "%": "write a - b * maths.floor(a / b)",
}


@attrs.frozen(eq=False)
class Formula:
    """A plain function and what is known of it.

    Attributes:
        function: the function as it was written.
        opaque: True where it is declared to be outside the language.
    """

    function: Callable[..., Any]
    opaque: bool = False

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Call the function as it was written."""
        return self.function(*values, **named)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Parameter names with their default markers, None where there is no default."""
        signature = inspect.signature(self.function)
        found = {}
        for name, parameter in signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise self._error(f"takes *{name}; name every input", None)
            if parameter.kind is parameter.KEYWORD_ONLY:
                raise self._error(f"takes {name!r} by keyword only; formulas are called by position", None)
            found[name] = None if parameter.default is parameter.empty else parameter.default
        return found

    @cached_property
    def expression(self) -> ast.expr | None:
        """The returned expression in the language, None for opaque formulas and where no source can be read.

        Raises:
            FormulaError: the function leaves the language and is not declared opaque.
        """
        if self.opaque:
            return None
        definition = _definition(self.function)
        if definition is None:
            return None
        found = _Check(self, definition).result()
        if not self._computes(found):
            raise self._error(
                "gives other numbers than its source says; was the file edited after it was loaded?", None
            )
        return found

    def _computes(self, expression: ast.expr) -> bool:
        """Whether the function gives what the expression says, tried on two rows of numbers."""
        code = compile(ast.fix_missing_locations(ast.Expression(copy.deepcopy(expression))), "<formula>", "eval")
        for start in (3.0, 0.25):
            row = {name: start + i * 1.7 for i, name in enumerate(self.parameters)}
            try:
                wanted = eval(code, dict(maths.FUNCTIONS), row)
            except ArithmeticError:
                continue
            try:
                answer = self.function(*row.values())
            except ArithmeticError:
                return False
            if answer != wanted and wanted == wanted:
                return False
        return True

    @property
    def equation(self) -> str:
        """The formula as people read it, e.g. ``parameters * weight_bytes``."""
        return "computed by Python code" if self.expression is None else ast.unparse(self.expression)

    @property
    def doc(self) -> str:
        """The docstring."""
        return inspect.getdoc(self.function) or ""

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]

    @property
    def origin(self) -> Origin:
        """The file and line of the function."""
        code = getattr(self.function, "__code__", None)
        return Origin(code.co_filename, code.co_firstlineno) if code else Origin("built in")

    @property
    def provider(self) -> str:
        """The dotted name of the function, for messages."""
        return f"{self.function.__module__}.{self.function.__qualname__}"

    def inline(self, names: Mapping[str, ast.expr]) -> ast.expr:
        """Return the expression with every parameter replaced. Only for formulas in the language."""
        assert self.expression is not None
        inlined: ast.expr = _Substitute(names).visit(copy.deepcopy(self.expression))
        return ast.fix_missing_locations(inlined)

    def _error(self, message: str, node: ast.AST | None) -> FormulaError:
        origin = self.origin
        line = getattr(node, "lineno", None)
        return FormulaError(Problem(self.function.__name__, message, attrs.evolve(origin, line=line or origin.line)))


class _Check(ast.NodeTransformer):
    """Refuses what is outside the language, and reduces ``maths.where`` and ``m.where`` to ``where``."""

    def __init__(self, formula: Formula, definition: ast.FunctionDef) -> None:
        self.formula = formula
        self.scope = inspect.getclosurevars(formula.function)
        self.body = definition.body

    def result(self) -> ast.expr:
        body = self.body
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body = body[1:]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            bad = next((s for s in body if not isinstance(s, ast.Return)), None)
            self.refuse("if" if isinstance(bad, ast.If) else "more than one return expression", bad)
        expression: ast.expr = self.visit(copy.deepcopy(body[0].value))  # type: ignore[attr-defined]
        return expression

    def refuse(self, what: str, node: ast.AST | None) -> None:
        instead = _INSTEAD.get(what)
        raise self.formula._error(
            f"a formula cannot use {what}"
            + (f"; {instead}" if instead else "")
            + ", or declare it with opaque=True (called row by row in sweeps)",
            node,
        )

    def generic_visit(self, node: ast.AST) -> ast.AST:
        named = {ast.IfExp: "if", ast.BoolOp: "and/or", ast.Lambda: "lambda", ast.Subscript: "[...]"}
        self.refuse(named.get(type(node), type(node).__name__), node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.formula.parameters:
            raise self.formula._error(
                f"{node.id!r} is not a parameter; make it one, with a Const(...) default where it is a constant", node
            )
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self.refuse(f"the constant {node.value!r}", node)
        if isinstance(node.value, int) and node.value > 2**53:
            self.refuse("a whole number above 2^53, which no float holds exactly", node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not isinstance(node.op, _OPERATORS):
            symbol = {ast.Pow: "**", ast.FloorDiv: "//", ast.Mod: "%"}
            self.refuse(symbol.get(type(node.op), type(node.op).__name__), node)
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not isinstance(node.op, ast.USub):
            self.refuse("not" if isinstance(node.op, ast.Not) else type(node.op).__name__, node)
        node.operand = self.visit(node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) != 1 or not isinstance(node.ops[0], _COMPARISONS):
            self.refuse("a chained or membership comparison", node)
        node.left, node.comparators = self.visit(node.left), [self.visit(node.comparators[0])]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = self._function(node.func)
        if name is None:
            called = ast.unparse(node.func)
            self.refuse(called if called in _INSTEAD else f"a call of {called}", node)
        if node.keywords:
            self.refuse("keyword arguments in a call", node)
        return ast.Call(ast.Name(name or "", ast.Load()), [self.visit(a) for a in node.args], [])

    def _function(self, node: ast.expr) -> str | None:
        known = {**self.scope.globals, **self.scope.nonlocals}
        if isinstance(node, ast.Name):
            target = known.get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = known.get(node.value.id)
            target = getattr(maths, node.attr, None) if owner is maths else None
        else:
            target = None
        return next((name for name, function in maths.FUNCTIONS.items() if function is target), None)


class _Substitute(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [self.visit(argument) for argument in node.args]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.names[node.id])


@cache
def _functions(text: str) -> dict[int, ast.FunctionDef]:
    """Return the functions of a module's text by the line that their code objects name, decorators included."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {min([f.lineno, *(d.lineno for d in f.decorator_list)]): f for f in functions}


def _definition(function: Callable[..., Any]) -> ast.FunctionDef | None:
    code = getattr(function, "__code__", None)
    if code is None or hasattr(function, "__wrapped__"):  # what runs is not what its source shows
        return None
    linecache.checkcache(code.co_filename)
    found = _functions("".join(linecache.getlines(code.co_filename))).get(code.co_firstlineno)
    if found is None or found.name != function.__name__:  # a notebook, a document, a doctest
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        except (OSError, TypeError, SyntaxError):
            return None
        found = next(
            (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function.__name__), None
        )
    return found
