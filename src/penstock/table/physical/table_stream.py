"""A planned table: the stream of its rows, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.datastream.stream import DataStream
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
