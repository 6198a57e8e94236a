"""A planned table: the stream of its rows, and what is known about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.common.typeinfo import TypeInformation
from penstock.datastream.stream import DataStream
from penstock.graph.transformation import Upstream
from penstock.runtime.partitioning import ByKey
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.row_type import TableRowType
from penstock.table.logical.changelog import Kinds
from penstock.table.logical.nodes import Fields
from penstock.table.logical.upsert_keys import Keys


@dataclass(frozen=True)
class TableStream:
    """Rows of a table as batches of columns, with these kinds; `before` tells whether -U rows are among them.

    Rows carry no timestamps: the time of a row is in its rowtime column. Watermarks travel in the stream.
    """

    stream: DataStream
    fields: Fields
    kinds: Kinds
    before: bool
    upsert_keys: Keys

    @property
    def row_type(self) -> TableRowType:
        return row_type_of(self.fields)

    @property
    def updating(self) -> bool:
        return self.kinds != frozenset("I")


def row_type_of(fields: Fields) -> TableRowType:
    return TableRowType([field.name for field in fields], [field.data_type for field in fields])


def exchanged(table: TableStream, key: Sequence[int]) -> DataStream:
    """Rows that are equal in these columns come to one subtask."""
    by_key = ByKey(RowKey(table.row_type, key))
    upstreams = tuple(upstream.exchanged(by_key) for upstream in table.stream._upstreams)
    type_info: TypeInformation = table.row_type
    return DataStream(table.stream._env, upstreams, type_info)


def common_parallelism(upstreams: Iterable[Upstream]) -> int | None:
    """That of all of them; None when they differ."""
    found = {upstream.node.parallelism for upstream in upstreams}
    return found.pop() if len(found) == 1 else None
