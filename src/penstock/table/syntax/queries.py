"""Queries as written: SELECT with its clauses, set operations, VALUES, and what may stand after FROM."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.table.syntax.expressions import Call, Expr, Order, WindowSpec
from penstock.table.syntax.position import Position


@dataclass(frozen=True)
class Hint:
    """`OPTIONS('k'='v')`, `STATE_TTL('a'='1d')`, `BROADCAST(t)`; arguments are names or pairs."""

    name: str
    arguments: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Query:
    position: Position | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class TableSource:
    position: Position | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class GroupingSet:
    """GROUPING SETS, ROLLUP or CUBE in a GROUP BY; a plain expression is an element by itself."""

    kind: str
    elements: tuple[GroupingSet | tuple[Expr, ...], ...]


@dataclass(frozen=True)
class Select(Query):
    items: tuple[Expr, ...]
    source: TableSource | None = None
    where: Expr | None = None
    group_by: tuple[Expr | GroupingSet, ...] | None = None
    having: Expr | None = None
    windows: tuple[tuple[str, WindowSpec], ...] = ()
    qualify: Expr | None = None
    distinct: bool = False
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True)
class SetOperation(Query):
    kind: str
    keep_all: bool
    left: Query
    right: Query


@dataclass(frozen=True)
class ValuesQuery(Query):
    rows: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True)
class TableQuery(Query):
    """`TABLE t`, short for SELECT * FROM t."""

    source: TableSource


@dataclass(frozen=True)
class Ordered(Query):
    query: Query
    order_by: tuple[Order, ...] = ()
    offset: Expr | None = None
    limit: Expr | None = None


@dataclass(frozen=True)
class CommonTable:
    name: str
    columns: tuple[str, ...]
    query: Query


@dataclass(frozen=True)
class With(Query):
    tables: tuple[CommonTable, ...]
    query: Query


@dataclass(frozen=True)
class NamedTable(TableSource):
    path: tuple[str, ...]
    hints: tuple[Hint, ...] = ()
    snapshot: Expr | None = None


@dataclass(frozen=True)
class DerivedTable(TableSource):
    query: Query
    lateral: bool = False


@dataclass(frozen=True)
class FunctionTable(TableSource):
    """`TABLE(f(..))`, a window function, or `LATERAL TABLE(f(..))`."""

    call: Call
    lateral: bool = False


@dataclass(frozen=True)
class UnnestTable(TableSource):
    operands: tuple[Expr, ...]
    ordinality: bool = False


@dataclass(frozen=True)
class AliasedTable(TableSource):
    source: TableSource
    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Join(TableSource):
    """kind: INNER, LEFT, RIGHT, FULL, CROSS, COMMA; without condition and columns: a cross join."""

    kind: str
    left: TableSource
    right: TableSource
    condition: Expr | None = None
    using: tuple[str, ...] = ()
    natural: bool = False


@dataclass(frozen=True)
class PatternNode:
    """A piece of a row pattern: kind is name, sequence, choice, permute, exclude or empty."""

    kind: str
    name: str | None = None
    children: tuple[PatternNode, ...] = ()
    least: int = 1
    most: int | None = 1
    greedy: bool = True


@dataclass(frozen=True)
class MatchRecognize(TableSource):
    source: TableSource
    partition_by: tuple[Expr, ...]
    order_by: tuple[Order, ...]
    measures: tuple[tuple[Expr, str], ...]
    pattern: PatternNode
    defines: tuple[tuple[str, Expr], ...]
    rows_per_match: str = "ONE"
    after_match: tuple[str, str | None] = ("TO NEXT ROW", None)
    within: Expr | None = None
    subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()
