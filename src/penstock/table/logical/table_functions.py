"""Table functions of users in plans: in FROM as LATERAL TABLE(f(..)), and in the methods of Table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.columns.typed.nodes import InputRef, OuterRef, Typed
from penstock.columns.typed.python_call import PythonFunction
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import RowType
from penstock.table.logical import builder
from penstock.table.logical.conditions import replaced
from penstock.table.logical.nodes import Correlation, Field, Relation, Snapshot, TableFunctionScan
from penstock.table.resolution.python_calls import converted, python_function
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax import expressions as syntax


def table_function(call: syntax.InlineCall, resolver: Resolver) -> Relation:
    function = python_function(call.function, call.position)
    if function.kind != "table":
        raise SqlValidationError(f"{function.name} gives no rows: it cannot stand in FROM.", call.position)
    arguments = [resolver.resolve(argument) for argument in call.arguments]
    return scanned(function, converted(function, arguments, call.position))


def scanned(function: PythonFunction, arguments: Sequence[Typed]) -> TableFunctionScan:
    names = function.result_names or tuple(f"f{place}" for place in range(len(function.result_types)))
    if len(names) != len(function.result_types):
        raise SqlValidationError(
            f"{function.name} has {len(function.result_types)} result types, but {len(names)} names."
        )
    fields = tuple(Field(name, kind) for name, kind in zip(names, function.result_types, strict=True))
    return TableFunctionScan(fields, function, tuple(arguments))


@dataclass(frozen=True)
class Versions:
    """The rows of a table as versions: by these columns and from that time on."""

    relation: Relation
    time_column: int
    key: tuple[int, ...]


def versioned(versions: Versions, call: syntax.InlineCall, resolver: Resolver) -> Snapshot:
    """A temporal table function: the versions at a moment of the left row."""
    if len(call.arguments) != 1:
        raise SqlValidationError("A temporal table function takes one time.", call.position)
    period = replaced(resolver.resolve(call.arguments[0]), _as_outer)
    relation = versions.relation
    return Snapshot(relation.fields, relation, period, versions.key, versions.time_column, position=call.position)


def lateral(left: Relation, scan: TableFunctionScan, kind: str) -> Correlation:
    """The rows of the left with those that the function gives for each; arguments are columns of the left."""
    arguments = tuple(replaced(one, _as_outer) for one in scan.arguments)
    right = TableFunctionScan(scan.fields, scan.function, arguments)
    joined = builder.joined(left, right, kind, None)
    return Correlation(joined.fields, left, right, kind)


def _as_outer(node: Typed) -> Typed | None:
    if isinstance(node, InputRef):
        return OuterRef(node.data_type, node.index, node.name, node.time)
    return None


def row_types(data_type: DataType) -> Sequence[tuple[str, DataType]]:
    """The columns that a row type spreads to; another type is one column."""
    if isinstance(data_type, RowType):
        return list(zip(data_type.names, data_type.children(), strict=True))
    return [("f0", data_type)]
