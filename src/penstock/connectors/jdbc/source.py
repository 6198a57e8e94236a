"""Reads a table or a query once, in parts side by side."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import RowTypeInfo, TypeInformation, Types
from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.options import JdbcConnectionOptions
from penstock.connectors.jdbc.session import Session
from penstock.connectors.jdbc.statement import Statement
from penstock.connectors.jdbc.values import RowMaker
from penstock.functions.source import (
    EnumeratorContext,
    Fetch,
    ReaderContext,
    Source,
    SourceReader,
    Split,
    SplitEnumerator,
)

__all__ = ["JdbcSource"]

_READ_RETRIES = 3


@dataclass(frozen=True)
class PartOfQuery(Split):
    """The rows whose value of a column lies between two bounds; the first and the last part are open at their ends."""

    condition: str = ""  # empty: all rows
    bounds: tuple[Any, ...] = ()


@dataclass(frozen=True)
class _Reading:
    """What all parts have in common."""

    address: DatabaseAddress
    query: str
    row_type: RowTypeInfo
    partition_column: str | None
    partitions: int
    lower: Any
    upper: Any


class JdbcSource(Source):
    """The rows of a table or of a query, for ``env.from_source``.

    The row type names the columns. With a partition column (a number, date or timestamp, best with an index) the rows
    are read in so many parts, side by side; its bounds are asked for if they are not given, and only say where to cut:
    rows outside of them are read too.

    After a failure a part goes on where it was, if the rows have not changed meanwhile: it is read in the order of all
    its columns.
    """

    bounded = True

    def __init__(
        self,
        connection: JdbcConnectionOptions,
        row_type: RowTypeInfo,
        table: str | None = None,
        query: str | None = None,
        partition_column: str | None = None,
        partitions: int = 1,
        lower: Any = None,
        upper: Any = None,
    ) -> None:
        super().__init__()
        if (table is None) == (query is None):
            raise ProgramError("JdbcSource reads either a table or a query: name one of the two.")
        if not isinstance(row_type, RowTypeInfo) or not row_type.has_declared_names():
            raise ProgramError("JdbcSource takes the columns as Types.ROW_NAMED(names, types).")
        if partitions < 1 or (partitions > 1 and partition_column is None):
            raise ProgramError("JdbcSource reads in several parts only with a partition_column that tells them apart.")
        dialect = Session(connection.address).dialect
        text = f"SELECT * FROM {dialect.table_name(table)}" if table is not None else str(query).rstrip().rstrip(";")
        self._reading = _Reading(connection.address, text, row_type, partition_column, partitions, lower, upper)

    def create_enumerator(self, context: EnumeratorContext) -> SplitEnumerator:
        return RangeEnumerator(self._reading)

    def create_reader(self, context: ReaderContext) -> SourceReader:
        return PartReader(self._reading)

    def get_produced_type(self) -> TypeInformation | None:
        return self._reading.row_type


class RangeEnumerator(SplitEnumerator):
    """Cuts the values of the partition column into ranges."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading
        self._session = Session(reading.address)

    def discover(self) -> Iterable[Split]:
        column = self._reading.partition_column
        if column is None:
            return [PartOfQuery("all", 0)]
        lower, upper = self._bounds(column)
        try:
            cuts = cuts_between(lower, upper, self._reading.partitions)
        except TypeError:
            raise ProgramError(
                f"JdbcSource cannot cut the values of {column!r} from {lower!r} to {upper!r} into parts: a"
                " partition_column has numbers, dates or timestamps, and its bounds are of the same kind. Other"
                " bounds can be given as lower and upper."
            ) from None
        name = self._session.dialect.quoted(column)
        if not cuts:
            return [PartOfQuery("all", 0)]
        inner = [
            PartOfQuery(f"part-{number}", 0, f"{name} >= ? AND {name} < ?", (low, high))
            for number, (low, high) in enumerate(zip(cuts, cuts[1:], strict=False), 1)
        ]
        return [
            PartOfQuery("part-0", 0, f"({name} < ? OR {name} IS NULL)", (cuts[0],)),
            *inner,
            PartOfQuery(f"part-{len(cuts)}", 0, f"{name} >= ?", (cuts[-1],)),
        ]

    def _bounds(self, column: str) -> tuple[Any, Any]:
        lower, upper = self._reading.lower, self._reading.upper
        if lower is not None and upper is not None:
            return lower, upper
        name = self._session.dialect.quoted(column)

        def ask(cursor: Any) -> Any:
            cursor.execute(f"SELECT MIN({name}), MAX({name}) FROM ({self._reading.query}\n) penstock_source")
            return cursor.fetchone()

        least, greatest = self._session.run(ask, _READ_RETRIES)
        return least if lower is None else lower, greatest if upper is None else upper

    def close(self) -> None:
        self._session.close()


def cuts_between(lower: Any, upper: Any, parts: int) -> list[Any]:
    """The values at which ranges of about the same length begin, without the first."""
    if lower is None or upper is None or parts < 2:
        return []
    if not all(math.isfinite(bound) for bound in (lower, upper) if isinstance(bound, (float, Decimal))):
        return []
    if not lower < upper:
        return []
    whole = upper - lower
    steps: list[Any]
    if isinstance(whole, datetime.timedelta) and not isinstance(lower, datetime.datetime):
        steps = [datetime.timedelta(days=whole.days * part // parts) for part in range(1, parts)]
    elif isinstance(whole, int):
        steps = [whole * part // parts for part in range(1, parts)]  # exact, however large
    else:
        steps = [whole * part / parts for part in range(1, parts)]
    return sorted({lower + step for step in steps} - {lower})


class PartReader(SourceReader):
    """Reads one part after the other through a cursor that stays open from epoch to epoch."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading
        self._session = Session(reading.address)
        self._rows = RowMaker(reading.row_type)
        self._waiting: dict[str, tuple[PartOfQuery, int]] = {}
        self._current: tuple[Any, str, Any] | None = None  # connection, part, cursor

    def add_split(self, split: Split, position: int) -> None:
        assert isinstance(split, PartOfQuery)
        self._waiting[split.split_id] = (split, position)

    def remove_split(self, split_id: str) -> None:
        if self._current is not None and self._current[1] == split_id:
            self.close()
        self._waiting.pop(split_id, None)

    def fetch(self, max_records: int) -> Fetch | None:
        if not self._waiting:
            return None
        split_id = self._current[1] if self._current is not None else next(iter(self._waiting))
        split, position = self._waiting[split_id]

        def read(connection: Any) -> Any:
            if self._current is None or self._current[0] is not connection:  # the last one was lost
                self._current = connection, split_id, self._cursor(connection, split, position)
            return self._current[2].fetchmany(max_records)

        rows = self._rows.rows(self._session.read(read, _READ_RETRIES))
        position += len(rows)
        self._waiting[split_id] = (split, position)
        if not rows:
            assert self._current is not None
            self._current[2].close()
            self._current = None
            del self._waiting[split_id]
        return Fetch(split_id, rows, position, finished=not rows)

    def _cursor(self, connection: Any, split: PartOfQuery, position: int) -> Any:
        cursor = self._session.dialect.stream(connection)
        statement = self._statement(split, position)
        if split.bounds:
            cursor.execute(statement.with_marks(self._session.dialect.mark), split.bounds)
        else:  # taken as it is: drivers look for their marks only where there are parameters
            cursor.execute("".join(statement.pieces))
        return cursor

    def _statement(self, split: PartOfQuery, position: int) -> Statement:
        """The program's own query is no text of ours: question marks and per cent signs in it are no parameters."""
        dialect, reading = self._session.dialect, self._reading
        names = [dialect.quoted(name) for name in reading.row_type.get_field_names()]
        first = [] if reading.partition_column is None else [dialect.quoted(reading.partition_column)]
        types = reading.row_type.get_field_types()
        exact = [dialect.exact(name) for name, each in zip(names, types, strict=True) if each == Types.STRING()]
        order = ", ".join([*first, *(name for name in names if name not in first), *filter(None, exact)])
        head = f"SELECT {', '.join(names)} FROM ({reading.query}\n) penstock_source"
        where = f" WHERE {split.condition}" if split.condition else ""
        tail = f" LIMIT 9223372036854775807 OFFSET {position}" if position else ""
        first_piece, *pieces = Statement.parse(f"{where} ORDER BY {order}{tail}").pieces
        return Statement((head + first_piece, *pieces))

    def close(self) -> None:
        """With the connection: a cursor of MySQL that is closed alone reads to its end first."""
        self._current = None
        self._session.close()
