"""Runs plans of projections, filters, unions, VALUES and LIMIT over Arrow tables in memory: a harness, no product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.cast_to_text import texts_of
from penstock.columns.kernels.datum import Session, as_array
from penstock.columns.typed.evaluation import matching, project
from penstock.columns.typesystem.arrow_mapping import from_arrow_type, to_arrow_type
from penstock.table.logical import nodes as plan
from penstock.table.logical.nodes import Field
from penstock.table.logical.queries import QueryBuilder
from penstock.table.logical.tables import MemoryTables, TableDefinition
from penstock.table.sql.dialect import parse_query

Tables = Mapping[str, pa.Table]
Columns = tuple[list[pa.Array], int]


def definition_of(table: pa.Table) -> TableDefinition:
    return TableDefinition(tuple(Field(f.name, from_arrow_type(f.type, f.nullable)) for f in table.schema))


def plan_of(sql: str, tables: Tables | None = None) -> plan.Relation:
    known = MemoryTables({name: definition_of(table) for name, table in (tables or {}).items()})
    return QueryBuilder(known).query(parse_query(sql))


def evaluate(sql: str, tables: Tables | None = None, session: Session | None = None) -> pa.Table:
    """The result of a query over tables in memory."""
    relation = plan_of(sql, tables)
    columns, _ = run(relation, tables or {}, session or Session())
    fields = [pa.field(field.name, to_arrow_type(field.data_type)) for field in relation.fields]
    return pa.table(columns, schema=pa.schema(fields))


def texts(sql: str, tables: Tables | None = None, session: Session | None = None) -> list[list[str | None]]:
    """Every row with its values as CAST(.. AS STRING) shows them."""
    return texts_from(plan_of(sql, tables), tables, session)


def texts_from(
    relation: plan.Relation, tables: Tables | None = None, session: Session | None = None
) -> list[list[str | None]]:
    session = session or Session()
    columns, count = run(relation, tables or {}, session)
    shown = [
        as_array(texts_of(column, field.data_type, session.zone), count).to_pylist()
        for column, field in zip(columns, relation.fields, strict=True)
    ]
    return [list(row) for row in zip(*shown, strict=True)]


def run(node: plan.Relation, tables: Tables, session: Session) -> Columns:
    match node:
        case plan.Scan(path=path):
            table = tables[path[-1]]
            return [column.combine_chunks() for column in table.columns], table.num_rows
        case plan.Values(rows=rows):
            parts: Any = zip(*(project(row, [], 1, session) for row in rows), strict=True)
            return [pa.concat_arrays(column) for column in parts], len(rows)
        case plan.Project(source=source, expressions=expressions):
            columns, count = run(source, tables, session)
            return project(expressions, columns, count, session), count
        case plan.Filter(source=source, condition=condition):
            columns, count = run(source, tables, session)
            places = pa.array(np.flatnonzero(matching(condition, columns, count, session)))
            return [column.take(places) for column in columns], len(places)
        case plan.SetRelation(kind="UNION", left=left, right=right):
            (ours, first), (theirs, second) = run(left, tables, session), run(right, tables, session)
            return [pa.concat_arrays(pair) for pair in zip(ours, theirs, strict=True)], first + second
        case plan.Limit(source=source, offset=offset, count=most):
            columns, count = run(source, tables, session)
            stop = count if most is None else min(count, offset + most)
            return [column[offset:stop] for column in columns], max(stop - offset, 0)
    raise NotImplementedError(type(node).__name__)
