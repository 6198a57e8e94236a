"""The statements of Flink SQL as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.columns.typesystem.base import DataType
from penstock.table.syntax.expressions import Expr
from penstock.table.syntax.position import Position
from penstock.table.syntax.queries import Query

Path = tuple[str, ...]
Options = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Statement:
    position: Position | None = field(default=None, compare=False, repr=False, kw_only=True)


# --- what tables are made of


@dataclass(frozen=True)
class Column:
    """A physical column; default position is at the end (place: FIRST, or AFTER a column)."""

    name: str
    data_type: DataType
    comment: str | None = None
    place: str | None = None


@dataclass(frozen=True)
class ComputedColumn:
    name: str
    expression: Expr
    text: str
    comment: str | None = None
    place: str | None = None


@dataclass(frozen=True)
class MetadataColumn:
    name: str
    data_type: DataType
    key: str | None = None
    virtual: bool = False
    comment: str | None = None
    place: str | None = None


AnyColumn = Column | ComputedColumn | MetadataColumn


@dataclass(frozen=True)
class Watermark:
    column: Path
    expression: Expr
    text: str


@dataclass(frozen=True)
class PrimaryKey:
    columns: Path
    name: str | None = None
    enforced: bool = False


@dataclass(frozen=True)
class Distribution:
    kind: str | None = None
    columns: Path = ()
    buckets: int | None = None


@dataclass(frozen=True)
class LikeClause:
    table: Path
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class TableBody:
    """Everything of CREATE TABLE but its name; columns without types (in CTAS) are names only."""

    columns: tuple[AnyColumn, ...] = ()
    names: Path = ()
    watermark: Watermark | None = None
    primary_key: PrimaryKey | None = None
    comment: str | None = None
    distribution: Distribution | None = None
    partitioned_by: Path = ()
    options: Options = ()


# --- data definition


@dataclass(frozen=True)
class CreateTable(Statement):
    path: Path
    body: TableBody
    temporary: bool = False
    if_not_exists: bool = False
    like: LikeClause | None = None
    query: Query | None = None
    replace: bool = False
    must_exist: bool = False  # REPLACE TABLE


@dataclass(frozen=True)
class CreateMaterializedTable(Statement):
    path: Path
    body: TableBody
    query: Query
    query_text: str = ""
    freshness: Expr | None = None
    refresh_mode: str | None = None
    or_alter: bool = False


@dataclass(frozen=True)
class CreateView(Statement):
    path: Path
    query: Query
    query_text: str
    columns: Path = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateFunction(Statement):
    path: Path
    class_name: str
    language: str | None = None
    resources: tuple[tuple[str, str], ...] = ()
    options: Options = ()
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateCatalog(Statement):
    name: str
    options: Options = ()
    comment: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateDatabase(Statement):
    path: Path
    options: Options = ()
    comment: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateModel(Statement):
    path: Path
    inputs: tuple[Column, ...] = ()
    outputs: tuple[Column, ...] = ()
    comment: str | None = None
    options: Options = ()
    query: Query | None = None
    temporary: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateConnection(Statement):
    path: Path
    options: Options = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class Drop(Statement):
    """kind: TABLE, VIEW, MATERIALIZED TABLE, FUNCTION, CATALOG, DATABASE, MODEL, CONNECTION."""

    kind: str
    path: Path
    temporary: bool = False
    system: bool = False
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True)
class AlterTable(Statement):
    """Actions are pairs of a word and what it needs, as ("RENAME", ("t2",)) or ("SET", options)."""

    kind: str
    path: Path
    actions: tuple[tuple[str, Any], ...]
    if_exists: bool = False
    partition: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class AlterObject(Statement):
    """ALTER of a view, database, catalog, function or model."""

    kind: str
    path: Path
    action: str
    value: Any = None
    temporary: bool = False
    system: bool = False
    if_exists: bool = False


# --- data


@dataclass(frozen=True)
class QueryStatement(Statement):
    query: Query


@dataclass(frozen=True)
class Insert(Statement):
    path: Path
    query: Query
    columns: Path = ()
    partition: tuple[tuple[str, Any], ...] = ()
    overwrite: bool = False
    options: Options = ()
    on_conflict: str | None = None


@dataclass(frozen=True)
class Delete(Statement):
    path: Path
    where: Expr | None = None


@dataclass(frozen=True)
class Update(Statement):
    path: Path
    assignments: tuple[tuple[str, Expr], ...]
    where: Expr | None = None


@dataclass(frozen=True)
class TruncateTable(Statement):
    path: Path


@dataclass(frozen=True)
class StatementSet(Statement):
    """Inserts that run as one job."""

    inserts: tuple[Statement, ...]


@dataclass(frozen=True)
class BeginStatementSet(Statement):
    """The first line of a statement set that a client sends piece by piece."""


@dataclass(frozen=True)
class EndStatementSet(Statement):
    """The last line of such a set."""


@dataclass(frozen=True)
class CallProcedure(Statement):
    """CALL of a procedure."""

    call: Expr


# --- looking and steering


@dataclass(frozen=True)
class Explain(Statement):
    statement: Statement
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class CompilePlan(Statement):
    file: str
    statement: Statement
    if_not_exists: bool = False
    execute: bool = False
    text: str = field(default="", compare=False, repr=False)  # of the statement


@dataclass(frozen=True)
class ExecutePlan(Statement):
    file: str


@dataclass(frozen=True)
class Describe(Statement):
    """kind: TABLE, CATALOG, DATABASE, FUNCTION, MODEL, JOB, CONNECTION."""

    kind: str
    path: Path
    extended: bool = False


@dataclass(frozen=True)
class Show(Statement):
    """kind is what to list, as TABLES or CURRENT CATALOG; path restricts it."""

    kind: str
    path: Path = ()
    preposition: str | None = None
    like: str | None = None
    like_kind: str | None = None
    negated: bool = False
    partition: tuple[tuple[str, Any], ...] = ()
    source: Path = ()


@dataclass(frozen=True)
class UseCatalog(Statement):
    name: str


@dataclass(frozen=True)
class UseDatabase(Statement):
    path: Path


@dataclass(frozen=True)
class UseModules(Statement):
    names: Path


@dataclass(frozen=True)
class LoadModule(Statement):
    name: str
    options: Options = ()


@dataclass(frozen=True)
class UnloadModule(Statement):
    name: str


@dataclass(frozen=True)
class SetOption(Statement):
    """SET without a key lists all options."""

    key: str | None = None
    value: str | None = None


@dataclass(frozen=True)
class ResetOption(Statement):
    key: str | None = None


@dataclass(frozen=True)
class JarStatement(Statement):
    """ADD JAR or REMOVE JAR."""

    action: str
    file: str


@dataclass(frozen=True)
class AnalyzeTable(Statement):
    path: Path
    partition: tuple[tuple[str, Any], ...] = ()
    columns: Path = ()
    all_columns: bool = False


@dataclass(frozen=True)
class StopJob(Statement):
    job_id: str
    savepoint: bool = False
    drain: bool = False
