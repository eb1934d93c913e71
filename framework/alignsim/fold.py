"""Rewriting of inlined formulas that changes no bit of an answer: constants computed, identities dropped."""

from __future__ import annotations

import ast

from alignsim import maths


class _Fold(ast.NodeTransformer):
    """Compute what is constant; drop exact identities: x * 1, x / 1, x + 0, x - 0, a ``where`` that is decided."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            return _constant(ast.BinOp(left, node.op, right))
        neutral = 1 if isinstance(node.op, ast.Mult | ast.Div) else 0
        if isinstance(right, ast.Constant) and right.value == neutral:
            return left  # type: ignore[no-any-return]
        if isinstance(left, ast.Constant) and left.value == neutral and isinstance(node.op, ast.Mult | ast.Add):
            return right  # type: ignore[no-any-return]
        return ast.BinOp(left, node.op, right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        negated = ast.UnaryOp(node.op, operand)
        return _constant(negated) if isinstance(operand, ast.Constant) else negated

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.comparators[0])
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            return _constant(ast.Compare(left, node.ops, [right]))
        return ast.Compare(left, node.ops, [right])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        arguments = [self.visit(a) for a in node.args]
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "where" and isinstance(arguments[0], ast.Constant):
            taken, dropped = arguments[1:] if arguments[0].value else arguments[:0:-1]
            if _sure(dropped):
                return taken  # type: ignore[no-any-return]
        if name in maths.FUNCTIONS and all(isinstance(a, ast.Constant) for a in arguments):
            return ast.Constant(maths.FUNCTIONS[name](*(a.value for a in arguments)))
        return ast.Call(node.func, arguments, [])


def fold(expression: ast.expr) -> ast.expr:
    """Return the expression with constants computed, by the same operations, and exact identities dropped."""
    folded: ast.expr = _Fold().visit(expression)
    return folded


class _Numeric(ast.NodeTransformer):
    """Make floats of truth values and whole numbers: on both, arithmetic differs between Python and NumPy."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant(float(node.value))  # type: ignore[arg-type]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return ast.BinOp(_number(self.visit(node.left)), node.op, _number(self.visit(node.right)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return ast.UnaryOp(node.op, _number(self.visit(node.operand)))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        keep = isinstance(node.func, ast.Name) and node.func.id == "where"
        arguments = [self.visit(a) for a in node.args]
        return ast.Call(node.func, [a if keep and i == 0 else _number(a) for i, a in enumerate(arguments)], [])


def _number(expression: ast.expr) -> ast.expr:
    truth = isinstance(expression, ast.Compare)
    return ast.BinOp(expression, ast.Mult(), ast.Constant(1.0)) if truth else expression


def numeric(expression: ast.expr) -> ast.expr:
    """Return the expression with truth values made numbers wherever arithmetic would see them."""
    return _number(_Numeric().visit(expression))


def _constant(expression: ast.expr) -> ast.expr:
    code = compile(ast.fix_missing_locations(ast.Expression(expression)), "<constant>", "eval")
    try:
        return ast.Constant(eval(code, {}))
    except ZeroDivisionError:  # every row is refused, as one configuration is
        return expression


def _sure(expression: ast.expr) -> bool:
    """Whether computing it cannot fail, so that leaving it out changes nothing."""
    return all(
        _safe_name(node.func) if isinstance(node, ast.Call) else _safe_divisor(node)
        for node in ast.walk(expression)
        if isinstance(node, ast.Call | ast.BinOp)
    )


def _safe_name(function: ast.expr) -> bool:
    return isinstance(function, ast.Name) and function.id in maths.FUNCTIONS


def _safe_divisor(node: ast.BinOp) -> bool:
    return not isinstance(node.op, ast.Div) or (isinstance(node.right, ast.Constant) and bool(node.right.value))
