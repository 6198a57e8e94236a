"""CREATE TABLE .. LIKE: what is taken over from another table, and what is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from penstock.table.catalog.objects import CatalogBaseTable
from penstock.table.sql import statements as st
from penstock.table.sql.errors import SqlValidationError

_T = TypeVar("_T")
_FEATURES = ("CONSTRAINTS", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS", "DISTRIBUTION")
# What INCLUDING means unless something else is said: options may be overwritten, other things not.
_DEFAULTS = {**dict.fromkeys(_FEATURES, "INCLUDING"), "OPTIONS": "OVERWRITING"}


def like(body: st.TableBody, source: CatalogBaseTable, clause: st.LikeClause) -> st.TableBody:
    if source._view is not None:
        raise SqlValidationError(f"LIKE {'.'.join(clause.table)}: it is a view, and LIKE takes a table.")
    base, ways = source._body, _ways(clause)
    columns = [column for column in base.columns if _kept(column, ways)]
    own = {column.name: column for column in body.columns}
    for column in columns:
        if column.name in own and ways[_kind(column)] != "OVERWRITING":
            raise SqlValidationError(f"LIKE: the column {column.name!r} is in both tables.")
    merged = [own.pop(column.name, column) for column in columns]
    return replace(
        body,
        columns=(*merged, *own.values()),
        watermark=_one(body.watermark, base.watermark, ways["WATERMARKS"], "watermark"),
        primary_key=_one(body.primary_key, base.primary_key, ways["CONSTRAINTS"], "primary key"),
        partitioned_by=_one(body.partitioned_by, base.partitioned_by, ways["PARTITIONS"], "partitioning"),
        distribution=_one(body.distribution, base.distribution, ways["DISTRIBUTION"], "distribution"),
        options=_options(body.options, base.options, ways["OPTIONS"]),
    )


def _ways(clause: st.LikeClause) -> dict[str, str]:
    ways = dict(_DEFAULTS)
    for strategy, feature in clause.options:
        for name in _FEATURES if feature == "ALL" else (feature,):
            ways[name] = strategy
    return ways


def _kind(column: st.AnyColumn) -> str:
    return {st.ComputedColumn: "GENERATED", st.MetadataColumn: "METADATA"}.get(type(column), "PHYSICAL")


def _kept(column: st.AnyColumn, ways: dict[str, str]) -> bool:
    ways.setdefault("PHYSICAL", "INCLUDING")
    return ways[_kind(column)] != "EXCLUDING"


def _one(own: _T, base: _T, way: str, what: str) -> _T:
    if way == "EXCLUDING" or not base:
        return own
    if own and way != "OVERWRITING":
        raise SqlValidationError(f"LIKE: both tables have a {what}. Use EXCLUDING or OVERWRITING.")
    return own or base


def _options(own: st.Options, base: st.Options, way: str) -> st.Options:
    if way == "EXCLUDING":
        return own
    both = sorted(set(dict(own)) & set(dict(base)))
    if both and way == "INCLUDING":
        raise SqlValidationError(f"LIKE INCLUDING OPTIONS: the option '{both[0]}' is in both tables.")
    return tuple({**dict(base), **dict(own)}.items())
