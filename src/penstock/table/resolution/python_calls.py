"""Calls of Python functions: checked against what the program declared, and found by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from penstock.columns.typed.nodes import Aggregate, Typed
from penstock.columns.typed.python_call import PythonCall, PythonFunction
from penstock.columns.typesystem.casting import implicitly_castable
from penstock.table.resolution.calls import implied
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax.position import Position

Lookup = Callable[[tuple[str, ...]], Any]


def python_function(given: Any, position: Position | None) -> PythonFunction:
    """What a wrapper of udf() and its kin stands for."""
    if isinstance(given, PythonFunction):
        return given
    found = getattr(given, "_python_function", None)
    if not callable(found):
        raise SqlValidationError(
            f"{given!r} cannot be called on columns: declare it with udf(.., result_type=..).", position
        )
    function: PythonFunction = found()
    return function


def converted(function: PythonFunction, arguments: Sequence[Typed], position: Position | None) -> tuple[Typed, ...]:
    """The arguments as the types that the function was declared with."""
    wanted = function.argument_types
    if wanted is None:
        return tuple(arguments)
    if len(wanted) != len(arguments):
        raise SqlValidationError(
            f"{function.name} takes {len(wanted)} arguments, but {len(arguments)} are given.", position
        )
    for node, target in zip(arguments, wanted, strict=True):
        if not implicitly_castable(node.data_type.nullable(), target.nullable()):
            raise SqlValidationError(
                f"{function.name} takes {target.as_summary_string()}, not {node.data_type.as_summary_string()}.",
                position,
            )
    return tuple(implied(node, target) for node, target in zip(arguments, wanted, strict=True))


def python_call(function: PythonFunction, arguments: Sequence[Typed], position: Position | None) -> PythonCall:
    return PythonCall(function.result_type, function, converted(function, arguments, position))


def python_aggregate(
    function: PythonFunction,
    arguments: Sequence[Typed],
    distinct: bool,
    where: Typed | None,
    position: Position | None,
) -> Aggregate:
    inner = converted(function, arguments, position)
    return Aggregate(function.result_type, function.name, inner, distinct, where, options=(("python", function),))


def with_functions(tree: Any, find: Lookup) -> Any:
    """A written query or expression in which calls of the names of Python functions are calls of these functions."""
    if isinstance(tree, tuple):
        return tuple(with_functions(part, find) for part in tree)
    if not is_dataclass(tree) or isinstance(tree, (Position, type)):
        return tree
    inner = {part.name: getattr(tree, part.name) for part in fields(tree) if part.init}
    changed = {name: with_functions(value, find) for name, value in inner.items()}
    if any(changed[name] is not value for name, value in inner.items()):
        tree = replace(tree, **changed)
    if isinstance(tree, syntax.Call):
        found = find(tuple(tree.function.split(".")))
        if found is not None:
            return syntax.InlineCall(found, tree.arguments, tree.distinct, tree.where, position=tree.position)
    return tree
