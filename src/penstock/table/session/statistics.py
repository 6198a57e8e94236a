"""ANALYZE TABLE: counts rows and values, and gives the catalog the numbers. Plans do not depend on them."""

from __future__ import annotations

from penstock.columns.typesystem import families
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.catalog.object_names import ObjectPath, quoted
from penstock.table.catalog.objects import CatalogColumnStatistics, CatalogPartitionSpec, CatalogTableStatistics
from penstock.table.logical.queries import QueryBuilder
from penstock.table.logical.resolved_table import resolve_table
from penstock.table.session.catalogs import FullName
from penstock.table.session.partitions import values_of
from penstock.table.session.table_session import TableSession
from penstock.table.sql import statements as st
from penstock.table.sql.dialect import parse_query
from penstock.table.sql.errors import suggestion
from penstock.table.table_result import TableResult


def analyze(statement: st.AnalyzeTable, session: TableSession) -> TableResult:
    if not session.batch:
        raise NotSupportedError("ANALYZE TABLE reads the table to its end: run it in batch mode, as in Flink.")
    name = session.catalogs.full_name(statement.path)
    table = session.catalogs.required(name, "table")
    if table._view is not None or name in session.catalogs.temporary:
        kind = "view" if table._view is not None else "temporary table"
        raise ProgramError(f"ANALYZE TABLE: {'.'.join(name)} is a {kind}, of which no catalog keeps statistics.")
    keys = table._body.partitioned_by
    if tuple(key for key, _ in statement.partition) != keys:
        wanted = f"PARTITION ({', '.join(keys)})" if keys else "no PARTITION"
        raise ProgramError(f"ANALYZE TABLE {'.'.join(name)} needs {wanted}: all partition columns, and no others.")
    types = {field.name: field.data_type for field in resolve_table(table._body).fields}
    columns = list(types) if statement.all_columns else list(statement.columns)
    for column in columns:
        if column not in types:
            raise ProgramError(f"There is no column {column!r} in {'.'.join(name)}.{suggestion(column, types)}")
    counts = ["COUNT(*)"]
    for column in columns:
        distinct = (
            f"COUNT(DISTINCT {quoted(column)})" if families.is_comparable(types[column]) else "CAST(NULL AS BIGINT)"
        )
        counts += [f"COUNT({quoted(column)})", distinct]
    given = values_of(tuple((key, value) for key, value in statement.partition if value is not None), keys)
    for row in _counted(session, name, keys, given, counts):
        _keep(session, name, keys, columns, row)
    return TableResult.ok()


def _counted(
    session: TableSession, name: FullName, keys: tuple[str, ...], given: dict[str, str], counts: list[str]
) -> list[tuple[object, ...]]:
    """For each partition, or the whole table, values of the partition columns and the counts."""
    shown = ", ".join([*(f"CAST({quoted(key)} AS STRING)" for key in keys), *counts])
    texts = {key: value.replace("'", "''") for key, value in given.items()}
    where = " AND ".join(f"CAST({quoted(key)} AS STRING) = '{text}'" for key, text in texts.items())
    query = f"SELECT {shown} FROM {'.'.join(map(quoted, name))}{f' WHERE {where}' if where else ''}"
    if keys:
        query += f" GROUP BY {', '.join(map(quoted, keys))}"
    relation = QueryBuilder(session.catalogs).query(parse_query(query))
    with session.collect(relation).collect() as rows:
        return [tuple(row) for row in rows]


def _keep(
    session: TableSession, name: FullName, keys: tuple[str, ...], columns: list[str], row: tuple[object, ...]
) -> None:
    """Of columns the number of nulls, and of different values where values can be compared."""
    catalog, place = session.catalogs.catalog(name[0]), ObjectPath(*name[1:])
    rows, counts = row[len(keys)], row[len(keys) + 1 :]
    assert isinstance(rows, int)
    of_table = CatalogTableStatistics(row_count=rows)
    of_columns = CatalogColumnStatistics(
        {
            column: {"null_count": rows - int(str(counts[2 * at])), "ndv": counts[2 * at + 1]}
            for at, column in enumerate(columns)
        }
    )
    if keys:
        spec = CatalogPartitionSpec({key: str(value) for key, value in zip(keys, row, strict=False)})
        catalog.alter_partition_statistics(place, spec, of_table, False)
        catalog.alter_partition_column_statistics(place, spec, of_columns, False)
        return
    catalog.alter_table_statistics(place, of_table, False)
    catalog.alter_table_column_statistics(place, of_columns, False)
