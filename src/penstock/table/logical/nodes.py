"""The relational nodes: frozen, with the columns that each gives."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from typing import Any, Self

from penstock.columns.typed.nodes import Aggregate, OverCall, SortKey, TimeAttribute, Typed
from penstock.columns.typed.python_call import PythonFunction
from penstock.columns.typesystem.base import DataType
from penstock.table.syntax.position import Position
from penstock.table.syntax.queries import Hint, PatternNode


@dataclass(frozen=True)
class Field:
    """A column of a relation; time tells whether it is the stream's time."""

    name: str
    data_type: DataType
    time: TimeAttribute | None = None

    def shown_type(self) -> str:
        text = self.data_type.as_summary_string()
        return text if self.time is None else f"{text} *{self.time.value}*"


Fields = tuple[Field, ...]


@dataclass(frozen=True)
class Relation:
    fields: Fields
    position: Position | None = field(default=None, compare=False, repr=False, kw_only=True)
    # Whether updates come with the row as it was before; update_kinds.py finds out.
    update_before: bool = field(default=True, compare=False, repr=False, kw_only=True)

    def inputs(self) -> tuple[Relation, ...]:
        return ()

    def with_inputs(self, inputs: tuple[Relation, ...]) -> Self:
        """The same node over other inputs with the same columns."""
        given, before = iter(inputs), {id(source) for source in self.inputs()}
        own = {part.name: getattr(self, part.name) for part in dataclass_fields(self)}
        changed: dict[str, Any] = {name: next(given) for name, value in own.items() if id(value) in before}
        return replace(self, **changed)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.fields)


@dataclass(frozen=True)
class Scan(Relation):
    """A table of the catalog; definition is what the catalog knows of it."""

    path: tuple[str, ...]
    definition: Any = None
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True)
class Values(Relation):
    rows: tuple[tuple[Typed, ...], ...]


@dataclass(frozen=True)
class Project(Relation):
    source: Relation
    expressions: tuple[Typed, ...]

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class Filter(Relation):
    source: Relation
    condition: Typed

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class Aggregation(Relation):
    """Keys are columns of the source; sets lists the key positions of each grouping set (one set: GROUP BY)."""

    source: Relation
    keys: tuple[int, ...]
    calls: tuple[Aggregate, ...]
    sets: tuple[tuple[int, ...], ...] = ()
    state_ttl: int | None = None  # milliseconds, of a hint

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class RowWindowAggregation(Relation):
    """Groups of `size` rows of the same keys, the next of which begins `slide` rows later."""

    source: Relation
    keys: tuple[int, ...]
    calls: tuple[Aggregate, ...]
    size: int
    slide: int

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class TableAggregation(Relation):
    """The keys, and after them the rows that a table aggregate function of the user gives for each group."""

    source: Relation
    keys: tuple[int, ...]
    function: PythonFunction
    arguments: tuple[int, ...]

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class OverAggregation(Relation):
    """The source's columns, and after them the values of functions over windows of rows."""

    source: Relation
    calls: tuple[OverCall, ...]

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class WindowAssignment(Relation):
    """The source's columns with window_start, window_end and window_time; amounts are milliseconds."""

    source: Relation
    kind: str
    time_column: int
    size: int
    slide: int | None = None
    offset: int = 0
    partition_by: tuple[int, ...] = ()

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class JoinRelation(Relation):
    """kind: INNER, LEFT, RIGHT, FULL, SEMI, ANTI; the condition sees the columns of both, left first."""

    left: Relation
    right: Relation
    kind: str
    condition: Typed | None = None
    state_ttl: tuple[int | None, int | None] = (None, None)  # milliseconds for the rows of each side, of a hint

    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class Correlation(Relation):
    """For each row of the left the right, which refers to the left's columns as outer ones."""

    left: Relation
    right: Relation
    kind: str
    condition: Typed | None = None

    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class Snapshot(Relation):
    """A table as it was at a moment of the outer row.

    Versions are told apart by the key of the table and its rowtime, or by those that a temporal table function names.
    """

    source: Relation
    period: Typed
    key: tuple[int, ...] = ()
    time_column: int | None = None
    lookup_hint: Hint | None = None

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class TemporalJoin(Relation):
    """Each row of the left with the version of a row of the right: the one at its time, or the last one there is."""

    left: Relation
    right: Relation
    kind: str
    condition: Typed | None
    time_column: int  # of the left
    event_time: bool
    key: tuple[int, ...]  # of the right
    version_time: int | None  # of the right

    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class LookupJoin(Relation):
    """Each row of the left with rows of a table outside, asked for when the row comes. The table is no input."""

    left: Relation
    table: Scan
    kind: str
    condition: Typed | None
    hint: Hint | None = None

    def inputs(self) -> tuple[Relation, ...]:
        return (self.left,)


@dataclass(frozen=True)
class Unnest(Relation):
    """The elements of arrays or maps of an outer row, as rows."""

    operands: tuple[Typed, ...]
    ordinality: bool = False


@dataclass(frozen=True)
class TableFunctionScan(Relation):
    """The rows that a table function of the user gives for a row of the left, which arguments refer to as outer."""

    function: PythonFunction
    arguments: tuple[Typed, ...]


@dataclass(frozen=True)
class SetRelation(Relation):
    kind: str
    keep_all: bool
    left: Relation
    right: Relation

    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@dataclass(frozen=True)
class Sort(Relation):
    source: Relation
    keys: tuple[SortKey, ...]

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class Limit(Relation):
    source: Relation
    offset: int = 0
    count: int | None = None

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class Rank(Relation):
    """The rows with ranks from start to end of each partition; `numbered`: with the rank as last column.

    `limit` is ORDER BY with LIMIT, or LIMIT alone: one partition, and never numbered.
    """

    source: Relation
    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    start: int
    end: int
    numbered: bool
    limit: bool = False

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class Deduplicate(Relation):
    """One row for each key: the first or the last one by a time attribute."""

    source: Relation
    keys: tuple[int, ...]
    time_column: int
    last: bool

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class Expand(Relation):
    """Each row once for each grouping set: after it the keys, null where the set lacks them, and which set it is."""

    source: Relation
    keys: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class Replication(Relation):
    """Each row as often as its last column says, without that column."""

    source: Relation

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class ChangelogNormalize(Relation):
    """A changelog of upserts by these columns as a full one."""

    source: Relation
    keys: tuple[int, ...]

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class DropUpdateBefore(Relation):
    """A full changelog without the rows as they were before."""

    source: Relation

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class SinkMaterialize(Relation):
    """A changelog as the one of a table with this key: of several rows with a key the last one counts.

    With a conflict NOTHING the first one counts, with ERROR several are a failure; when watermarks pass.
    """

    source: Relation
    keys: tuple[int, ...]
    conflict: str = "DEDUPLICATE"

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class ToChangelog(Relation):
    """Changes as rows: the kind, and the columns of the source."""

    source: Relation
    codes: tuple[str | None, ...]  # what each kind is called; None: such changes are left out

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class FromChangelog(Relation):
    """Rows as changes: of the kind that a column names, without that column."""

    source: Relation
    column: int
    codes: tuple[tuple[str, int], ...]  # a text of the column, and the number of the kind
    in_batch: bool = False  # of a DELETE statement: these are no changes on the way to a result

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class Match(Relation):
    """MATCH_RECOGNIZE; measures and definitions are kept as written, their columns are those of the source."""

    source: Relation
    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    pattern: PatternNode
    measures: tuple[tuple[Any, str], ...]
    defines: tuple[tuple[str, Any], ...]
    after_match: tuple[str, str | None]
    within: int | None = None

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


@dataclass(frozen=True)
class Sink(Relation):
    """Rows into a table of the catalog."""

    source: Relation
    path: tuple[str, ...]
    definition: Any = None
    overwrite: bool = False
    static_partition: tuple[tuple[str, Any], ...] = ()
    on_conflict: str | None = None
    options: tuple[tuple[str, str], ...] = ()  # of a hint
    deletes: bool = False  # all rows are deletions, which find their rows by the primary key

    def inputs(self) -> tuple[Relation, ...]:
        return (self.source,)


def unique_names(names: list[str]) -> list[str]:
    """Equal names get numbers, as Flink does: a, a0, a1."""
    taken: set[str] = set()
    found = []
    for name in names:
        candidate, number = name, 0
        while candidate in taken:
            candidate, number = f"{name}{number}", number + 1
        taken.add(candidate)
        found.append(candidate)
    return found
