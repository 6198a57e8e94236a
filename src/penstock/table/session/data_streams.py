"""Tables of DataStreams, and DataStreams of tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from penstock.columns.typed.nodes import TimeAttribute
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.scalars import LocalZonedTimestampType
from penstock.common.errors import ProgramError
from penstock.common.typeinfo import (
    ExternalTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from penstock.common.types import Row
from penstock.datastream.stream import DataStream
from penstock.runtime.table.streams import TIMESTAMP, StreamToTableParams, TableToStreamParams
from penstock.table.changelog_mode import ChangelogMode
from penstock.table.logical import builder
from penstock.table.logical.nodes import Field, Fields, Relation, Scan
from penstock.table.logical.resolved_table import ResolvedTable, resolve_table
from penstock.table.logical.rewrites import rewritten
from penstock.table.logical.tables import TableDefinition
from penstock.table.physical.declared_columns import with_declared_columns
from penstock.table.physical.table_stream import TableStream, row_type_of
from penstock.table.resolution.calls import implied
from penstock.table.schema import Schema
from penstock.table.session.stream_types import data_type_of, type_info_of
from penstock.table.session.table_session import TableSession
from penstock.table.sql import statements as st
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import expressions as syntax

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner

_ROWTIME_KEY = "rowtime"  # the metadata of a stream: its records' timestamps


@dataclass(frozen=True, eq=False)
class StreamHandle:
    """The handle of a table whose rows are the records of a stream."""

    stream: DataStream
    table: ResolvedTable
    fields: tuple[str | int | None, ...]  # for each stored column the field of the record
    mode: ChangelogMode

    @property
    def changelog(self) -> str:
        return self.mode._kinds

    def scan(self, relation: Scan, planner: Planner) -> TableStream:
        stored = row_type_of(self.table.stored)
        params = StreamToTableParams(stored, self.fields, self.mode._kinds != "I")
        made = self.stream._transform(
            "stream_to_table", "DataStreamToTable", output_type=stored, params={"columns": params}
        )
        upstream = self.stream._upstreams[0]
        if len(self.stream._upstreams) == 1 and upstream.partitioning is None:
            made._nodes[0].parallelism = upstream.node.parallelism
        table = planner.converted(made, replace(relation, fields=self.table.stored), "stream")
        table = replace(table, before=self.mode._before)
        return replace(with_declared_columns(relation, table, self.table, planner), before=self.mode._before)


def relation_of(
    stream: DataStream, given: Sequence[Any], session: TableSession, mode: ChangelogMode | None = None
) -> Relation:
    """The plan of reading a stream as a table."""
    mode = mode or ChangelogMode.insert_only()
    if stream._env is not session.env:
        raise ProgramError("The stream belongs to another StreamExecutionEnvironment than the table environment.")
    natural = _natural_columns(stream._type_info)
    if len(given) == 1 and isinstance(given[0], Schema):
        body, places = _by_schema(given[0], natural)
    elif given:
        body, places = _by_expressions(given, natural)
    else:
        body = st.TableBody(tuple(st.Column(name, kind) for name, kind, _ in natural))
        places = {name: field for name, _, field in natural}
    table = resolve_table(body)
    fields = tuple(places[field.name] for field in table.stored)
    handle = StreamHandle(stream, table, fields, mode)
    upserts = "U" in handle.changelog and not mode._before
    definition = TableDefinition(
        table.fields, table.primary_key, changelog=handle.changelog, handle=handle, upserts=upserts
    )
    return Scan(table.fields, (session.anonymous_name(),), definition)


_Column = tuple[str, DataType, "str | int | None"]


def _natural_columns(type_info: TypeInformation) -> list[_Column]:
    if isinstance(type_info, ExternalTypeInfo):
        return _natural_columns(type_info.type_info)
    if isinstance(type_info, RowTypeInfo):
        names, types = type_info.get_field_names(), type_info.get_field_types()
        return [(name, data_type_of(kind), place) for place, (name, kind) in enumerate(zip(names, types, strict=True))]
    if isinstance(type_info, TupleTypeInfo):
        return [(f"f{place}", data_type_of(kind), place) for place, kind in enumerate(type_info.get_field_types())]
    return [("f0", data_type_of(type_info), None)]


def _by_schema(schema: Schema, natural: list[_Column]) -> tuple[st.TableBody, dict[str, Any]]:
    body, places = schema._body, {}
    by_name = {name: field for name, _, field in natural}
    physical = [column for column in body.columns if isinstance(column, st.Column)]
    if not physical:
        own = tuple(st.Column(name, kind) for name, kind, _ in natural)
        body = replace(body, columns=(*own, *body.columns))
        physical = list(own)
    for column in physical:
        if column.name in by_name:
            places[column.name] = by_name[column.name]
        elif len(natural) == 1 and len(physical) == 1:
            places[column.name] = natural[0][2]
        else:
            raise SqlValidationError(f"The stream has no field {column.name!r}.{suggestion(column.name, by_name)}")
    for other in body.columns:
        if isinstance(other, st.MetadataColumn):
            if (other.key or other.name) != _ROWTIME_KEY:
                raise SqlValidationError(f"A stream has only the metadata 'rowtime', not {other.key or other.name!r}.")
            places[other.name] = TIMESTAMP
    return body, places


def _by_expressions(given: Sequence[Any], natural: list[_Column]) -> tuple[st.TableBody, dict[str, Any]]:
    """`col("a"), col("b").alias("c"), col("ts").rowtime`: names that are fields are taken by name, others in order."""
    columns: list[st.AnyColumn] = []
    places: dict[str, Any] = {}
    watermark = None
    by_name = {name: (kind, field) for name, kind, field in natural}
    nodes = [syntax.Name((one,)) if isinstance(one, str) else one._node for one in given]
    for place, written in enumerate(nodes):
        node, alias = (written.operand, written.names[0]) if isinstance(written, syntax.Aliased) else (written, None)
        if isinstance(node, syntax.Call) and node.function in ("rowtime", "proctime"):
            [named] = node.arguments
            name = alias or named.parts[-1]  # type: ignore[attr-defined]
            if node.function == "proctime":
                columns.append(st.ComputedColumn(name, syntax.Call("proctime"), "PROCTIME()"))
                continue
            columns.append(st.MetadataColumn(name, LocalZonedTimestampType(3), _ROWTIME_KEY))
            places[name] = TIMESTAMP
            watermark = st.Watermark((name,), syntax.Call("SOURCE_WATERMARK"), "SOURCE_WATERMARK()")
            continue
        if not isinstance(node, syntax.Name):
            raise SqlValidationError("from_data_stream() takes columns: col('a'), with alias, rowtime or proctime.")
        name = node.parts[-1]
        if name in by_name:
            kind, field = by_name[name]
        elif alias is None and place < len(natural):
            _, kind, field = natural[place]
        else:
            raise SqlValidationError(f"The stream has no field {name!r}.{suggestion(name, by_name)}")
        columns.append(st.Column(alias or name, kind))
        places[alias or name] = field
    return st.TableBody(tuple(columns), watermark=watermark), places


# -- streams of tables -------------------------------------------------------------------------------------------------


def stream_of(
    relation: Relation, session: TableSession, mode: ChangelogMode, target: Schema | None = None
) -> DataStream:
    if target is not None:
        relation = _fitted(relation, target)
    fields = _row_info(relation.fields)
    return _converted(relation, session, mode, ExternalTypeInfo(fields))


def append_stream_of(relation: Relation, type_info: TypeInformation, session: TableSession) -> DataStream:
    return _converted(
        relation, session, ChangelogMode.insert_only(), type_info, convert=_as_type(type_info, relation.fields)
    )


def retract_stream_of(relation: Relation, type_info: TypeInformation, session: TableSession) -> DataStream:
    pair = Types.TUPLE([Types.BOOLEAN(), type_info])
    return _converted(
        relation, session, ChangelogMode.all(), pair, pairs=True, convert=_as_type(type_info, relation.fields)
    )


def _converted(
    relation: Relation,
    session: TableSession,
    mode: ChangelogMode,
    output_type: TypeInformation,
    pairs: bool = False,
    convert: Callable[[Row], Any] | None = None,
) -> DataStream:
    planned = rewritten(relation)
    planner = session.planner()
    table = planner.plan(planned)
    if mode._kinds == "I" and table.updating:
        raise ProgramError(
            "The table is updated by its query, so that a stream of insertions cannot hold it: use"
            " to_changelog_stream()."
        )
    times = [place for place, field in enumerate(relation.fields) if field.time is TimeAttribute.ROWTIME]
    rowtime = times[0] if len(times) == 1 else None
    params = TableToStreamParams(table.row_type, rowtime, pairs, convert, without_before=not mode._before)
    stream = table.stream._transform(
        "table_to_stream", "TableToDataStream", output_type=output_type, params={"rows": params}
    )
    parallel = {upstream.node.parallelism for upstream in table.stream._upstreams}
    if len(parallel) == 1:
        stream._nodes[0].parallelism = parallel.pop()
    return stream


def _row_info(fields: Fields) -> RowTypeInfo:
    return RowTypeInfo([type_info_of(field.data_type) for field in fields], [field.name for field in fields])


def _as_type(type_info: TypeInformation, fields: Fields) -> Callable[[Row], Any] | None:
    """Rows stay rows, whose fields have the type's names; a tuple type gives tuples, another type the only column."""
    if isinstance(type_info, TupleTypeInfo):
        return _to_tuple
    if isinstance(type_info, RowTypeInfo):
        return None if type_info.get_field_names() == [field.name for field in fields] else _to_unnamed
    if len(fields) != 1:
        raise ProgramError(f"A table of {len(fields)} columns is a stream of rows or tuples, not of {type_info!r}.")
    return _to_value


def _to_tuple(row: Row) -> tuple[Any, ...]:
    return tuple(row)


def _to_unnamed(row: Row) -> Row:
    made = Row(*row)
    made.set_row_kind(row.get_row_kind())
    return made


def _to_value(row: Row) -> Any:
    return row[0]


def _fitted(relation: Relation, target: Schema) -> Relation:
    """The columns of the target by name, cast where types differ."""
    table = resolve_table(target._body)
    nodes = []
    for field in table.stored:
        if field.name not in relation.names:
            hint = suggestion(field.name, relation.names)
            raise SqlValidationError(f"The table has no column {field.name!r} of the target schema.{hint}")
        nodes.append(implied(builder.references(relation)[relation.names.index(field.name)], field.data_type))
    names = [field.name for field in table.stored]
    projected = builder.project(relation, nodes, names)
    kept = [Field(f.name, f.data_type, old.time) for f, old in zip(table.stored, projected.fields, strict=True)]
    return replace(projected, fields=tuple(kept))
