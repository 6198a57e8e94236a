"""Expressions as written: operators are calls under Flink's function names, `a + b` is Call("plus", ..)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.columns.typesystem.base import DataType
from penstock.table.syntax.position import Position

if TYPE_CHECKING:
    from penstock.table.syntax.queries import Query, TableSource


@dataclass(frozen=True)
class Expr:
    """Base of all; the position is for messages and does not make two expressions differ."""

    position: Position | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Name(Expr):
    """A column, perhaps with its table in front and nested fields after: `t.address.city`."""

    parts: tuple[str, ...]


@dataclass(frozen=True)
class Star(Expr):
    """`*`, or `t.*`."""

    qualifier: tuple[str, ...] = ()


@dataclass(frozen=True)
class Literal(Expr):
    """A constant; moments and intervals are whole numbers in the unit of their Arrow column."""

    value: Any
    data_type: DataType


@dataclass(frozen=True)
class Call(Expr):
    """A function or operator with its arguments; options are clauses as `NULL ON NULL`."""

    function: str
    arguments: tuple[Expr, ...] = ()
    distinct: bool = False
    order_by: tuple[Order, ...] = ()
    where: Expr | None = None
    options: tuple[tuple[str, Any], ...] = ()

    def option(self, name: str, default: Any = None) -> Any:
        return dict(self.options).get(name, default)


@dataclass(frozen=True)
class CastTo(Expr):
    """CAST, or with safe TRY_CAST, which gives null where CAST fails."""

    operand: Expr
    data_type: DataType
    safe: bool = False


@dataclass(frozen=True)
class Case(Expr):
    """CASE: with an operand that is compared to each value, or with conditions."""

    operand: Expr | None
    branches: tuple[tuple[tuple[Expr, ...], Expr], ...]
    default: Expr | None


@dataclass(frozen=True)
class FieldOf(Expr):
    """A field of a row that an expression gives: `f(x).name`."""

    operand: Expr
    name: str


@dataclass(frozen=True)
class ScalarQuery(Expr):
    """A query used as a value."""

    query: Query


@dataclass(frozen=True)
class InQuery(Expr):
    """`a IN (SELECT ..)`, also with several columns."""

    operands: tuple[Expr, ...]
    query: Query
    negated: bool = False


@dataclass(frozen=True)
class InTable(Expr):
    """`a.in_(table)` of the Table API, whose tables are plans already."""

    operand: Expr
    table: Any


@dataclass(frozen=True)
class ExistsQuery(Expr):
    """`EXISTS (SELECT ..)`."""

    query: Query


@dataclass(frozen=True)
class QuantifiedQuery(Expr):
    """`a < ALL (SELECT ..)`, `a = ANY (SELECT ..)`."""

    operand: Expr
    comparison: str
    quantifier: str
    query: Query


@dataclass(frozen=True)
class Order(Expr):
    """A key of an ordering; nulls_first None means the default."""

    operand: Expr
    ascending: bool = True
    nulls_first: bool | None = None


@dataclass(frozen=True)
class FrameBound:
    """One end of a window frame; kind is unbounded, current or offset; before tells the direction."""

    kind: str
    before: bool = True
    offset: Expr | None = None


@dataclass(frozen=True)
class WindowSpec:
    """What stands after OVER or in the WINDOW clause."""

    base: str | None = None
    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[Order, ...] = ()
    unit: str | None = None
    lower: FrameBound | None = None
    upper: FrameBound | None = None


@dataclass(frozen=True)
class Over(Expr):
    """A function over a window of rows; the window may be a name of the WINDOW clause."""

    call: Call | InlineCall
    window: WindowSpec | str


@dataclass(frozen=True)
class Named(Expr):
    """A named argument: `SIZE => INTERVAL '1' HOUR`."""

    name: str
    value: Expr


@dataclass(frozen=True)
class TableArgument(Expr):
    """A table handed to a function, perhaps partitioned and ordered."""

    source: TableSource
    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[Order, ...] = ()


@dataclass(frozen=True)
class ModelArgument(Expr):
    """A model handed to a function: `MODEL m`."""

    path: tuple[str, ...]


@dataclass(frozen=True)
class Descriptor(Expr):
    """Columns named to a function: `DESCRIPTOR(ts)`."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class Default(Expr):
    """`DEFAULT` in place of an argument that is left out."""


@dataclass(frozen=True)
class Aliased(Expr):
    """An expression with a name, or, for a table function, several names."""

    operand: Expr
    names: tuple[str, ...]


@dataclass(frozen=True)
class InlineCall(Expr):
    """A Python function, as it is called in the Table API, or found under the name that it was registered with."""

    function: Any
    arguments: tuple[Expr, ...]
    distinct: bool = False
    where: Expr | None = None
