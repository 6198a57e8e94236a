"""Partitions that a catalog knows of: SHOW PARTITIONS, ALTER TABLE .. ADD and DROP PARTITION."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import CatalogPartition, CatalogPartitionSpec
from penstock.table.session.catalogs import FullName
from penstock.table.session.table_session import TableSession
from penstock.table.sql import statements as st
from penstock.table.sql.errors import suggestion
from penstock.table.syntax.expressions import Literal
from penstock.table.table_result import TableResult

Values = tuple[tuple[str, Any], ...]


def partition_keys(session: TableSession, name: FullName) -> tuple[str, ...]:
    keys = session.catalogs.required(name, "table")._body.partitioned_by
    if not keys:
        raise ProgramError(f"The table {'.'.join(name)} is not partitioned.")
    return keys


def values_of(values: Values, keys: tuple[str, ...]) -> dict[str, str]:
    """As text, as the names of partitions have them."""
    found = {}
    for key, value in values:
        if key not in keys:
            raise ProgramError(f"There is no partition column {key!r}.{suggestion(key, keys)}")
        found[key] = str(value.value if isinstance(value, Literal) else value)
    return found


def show_partitions(session: TableSession, statement: st.Show) -> TableResult:
    name = session.catalogs.full_name(statement.path)
    wanted = values_of(statement.partition, partition_keys(session, name))
    catalog = session.catalogs.catalog(name[0])
    found = catalog.list_partitions(ObjectPath(*name[1:]), CatalogPartitionSpec(wanted))
    shown = ["/".join(f"{key}={value}" for key, value in one.get_partition_spec().items()) for one in found]
    return TableResult.of_rows(["partition name"], [(text,) for text in shown])


def alter_partitions(session: TableSession, name: FullName, action: str, value: Any) -> None:
    keys, catalog = partition_keys(session, name), session.catalogs.catalog(name[0])
    if not catalog.keeps_everything or name in session.catalogs.temporary:
        raise NotSupportedError(
            f"{action}: no catalog is told of partitions of {'.'.join(name)}. They come with the rows that are written."
        )
    partitions, ignore = value
    for one in partitions:
        values, options = one if action == "ADD PARTITION" else (one, ())
        given = values_of(values, keys)
        if len(given) < len(keys):
            missing = next(key for key in keys if key not in given)
            raise ProgramError(f"{action}: the partition has no value of {missing!r}.")
        spec = CatalogPartitionSpec({key: given[key] for key in keys})
        if action == "ADD PARTITION":
            catalog.create_partition(ObjectPath(*name[1:]), spec, CatalogPartition(properties=dict(options)), ignore)
        else:
            catalog.drop_partition(ObjectPath(*name[1:]), spec, ignore)
