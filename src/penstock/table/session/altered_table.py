"""ALTER TABLE: a table's declaration after some actions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.table.catalog.objects import CatalogBaseTable
from penstock.table.logical.resolved_table import resolve_table
from penstock.table.sql import statements as st
from penstock.table.sql.errors import SqlValidationError, suggestion


def altered(table: CatalogBaseTable, actions: tuple[tuple[str, Any], ...]) -> CatalogBaseTable:
    body = table._body
    for action, value in actions:
        body = with_key(_after(body, action, value))
    resolve_table(body)
    return CatalogBaseTable(body=body, handle=table._handle)


def with_key(body: st.TableBody) -> st.TableBody:
    """Columns of a primary key are NOT NULL from then on, also when the key is dropped, as in Flink."""
    keys = () if body.primary_key is None else body.primary_key.columns
    columns = tuple(
        replace(column, data_type=column.data_type.not_null())
        if isinstance(column, st.Column) and column.name in keys
        else column
        for column in body.columns
    )
    return replace(body, columns=columns)


def _after(body: st.TableBody, action: str, value: Any) -> st.TableBody:
    match action:
        case "SET":
            return replace(body, options=tuple({**dict(body.options), **dict(value)}.items()))
        case "RESET":
            if "connector" in value:
                raise SqlValidationError("RESET: the option 'connector' tells what the table is, and stays.")
            return replace(body, options=tuple((k, v) for k, v in body.options if k not in value))
        case "ADD":
            if value.name in _names(body):
                raise SqlValidationError(f"ADD: there is a column {value.name!r} already.")
            return _placed(body, value, len(body.columns))
        case "MODIFY":
            place = _place(body, value.name)
            rest = (*body.columns[:place], *body.columns[place + 1 :])
            kept = replace(value, comment=value.comment or body.columns[place].comment)
            return _placed(replace(body, columns=rest), kept, place)
        case "RENAME COLUMN":
            old, new = value[0][0], value[1][0]
            place = _place(body, old)
            _unused(body, old)
            renamed = replace(body.columns[place], name=new)
            return replace(body, columns=(*body.columns[:place], renamed, *body.columns[place + 1 :]))
        case "DROP":
            gone = [path[0] for path in value]
            for name in gone:
                _place(body, name)
                _unused(body, name)
            return replace(body, columns=tuple(column for column in body.columns if column.name not in gone))
        case "ADD WATERMARK" | "MODIFY WATERMARK":
            _changes(body.watermark, action, "watermark")
            return replace(body, watermark=value)
        case "DROP WATERMARK":
            _changes(body.watermark, action, "watermark")
            return replace(body, watermark=None)
        case "ADD PRIMARY KEY" | "MODIFY PRIMARY KEY":
            _changes(body.primary_key, action, "primary key")
            return replace(body, primary_key=value)
        case "DROP PRIMARY KEY" | "DROP CONSTRAINT":
            _changes(body.primary_key, action, "primary key")
            return replace(body, primary_key=None)
        case "ADD DISTRIBUTION" | "MODIFY DISTRIBUTION":
            _changes(body.distribution, action, "distribution")
            return replace(body, distribution=value)
        case "DROP DISTRIBUTION":
            _changes(body.distribution, action, "distribution")
            return replace(body, distribution=None)
    raise NotSupportedError(f"ALTER TABLE .. {action} is not there.")


def _changes(present: Any, action: str, what: str) -> None:
    if action.startswith("ADD") and present is not None:
        raise SqlValidationError(f"{action}: there is a {what} already. Use MODIFY.")
    if not action.startswith("ADD") and present is None:
        raise SqlValidationError(f"{action}: the table has no {what}.")


def _names(body: st.TableBody) -> list[str]:
    return [column.name for column in body.columns]


def _place(body: st.TableBody, name: str) -> int:
    if name not in _names(body):
        raise SqlValidationError(f"There is no column {name!r}.{suggestion(name, _names(body))}")
    return _names(body).index(name)


def _placed(body: st.TableBody, column: Any, place: int) -> st.TableBody:
    if column.place == "FIRST":
        place = 0
    elif column.place is not None:
        place = _place(body, column.place.removeprefix("AFTER ")) + 1
    plain = replace(column, place=None)
    return replace(body, columns=(*body.columns[:place], plain, *body.columns[place:]))


def _unused(body: st.TableBody, name: str) -> None:
    """Keys, partitions and watermarks keep their columns."""
    if body.primary_key is not None and name in body.primary_key.columns:
        raise SqlValidationError(f"The column {name!r} belongs to the primary key: drop the key first.")
    if body.watermark is not None and body.watermark.column == (name,):
        raise SqlValidationError(f"The column {name!r} has the watermark: drop the watermark first.")
    if name in body.partitioned_by:
        raise SqlValidationError(f"The table is partitioned by {name!r}.")
