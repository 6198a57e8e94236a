"""State as rows, read piece by piece: for loops, pandas, Arrow, and Spark."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.common.errors import JobExecutionError
from penstock.runtime.savepoint import SavedOperator, Savepoint
from penstock.runtime.state_rows import StateRow

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


Read = Callable[[Savepoint, SavedOperator], Iterator[StateRow]]


class StateRows:
    """The entries of one state. They are read from the files whenever they are iterated over, never all at once."""

    def __init__(self, savepoint: Savepoint, operator: SavedOperator, read: Read, *, expires: bool, maps: bool) -> None:
        self._savepoint = savepoint
        self._operator = operator
        self._read = read
        self.columns = StateRow._fields if expires else StateRow._fields[:-1]
        self._maps = maps

    def __iter__(self) -> Iterator[StateRow]:
        return rows_of_savepoint(self._savepoint, self._operator, self._read)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with the columns key, namespace and value, and expires if there is a time to live."""
        import pandas as pd

        width = len(self.columns)
        return pd.DataFrame([row[:width] for row in self], columns=list(self.columns))

    def to_arrow(self, schema: pa.Schema | None = None) -> pa.Table:
        """An Arrow table with the same columns: rows and tuples are structs, maps are maps.

        Types are found by looking at all values; raises ArrowInvalid where they do not agree. A schema says them.
        """
        import pyarrow as pa

        from penstock.state_processor.tables import batches_of, schema_of

        rows = list(self)
        schema = schema or schema_of(rows, self.columns, self._maps)
        return pa.Table.from_batches(batches_of(rows, schema), schema)

    def to_spark(self, spark: Any, schema: pa.Schema | None = None) -> Any:
        """A DataFrame of a Spark session, with the same columns: each part of the savepoint is read by a Spark task.

        All executors must see the savepoint's directory. Types are found by looking at the first rows; a schema (of
        Arrow) says them.
        """
        from penstock.state_processor.tables import SAMPLE_ROWS, schema_of, spark_columns

        if schema is None:
            sample = [row for row, _ in zip(self, range(SAMPLE_ROWS), strict=False)]
            schema = schema_of(sample, self.columns, self._maps, for_spark=True)
        parts = [part for part in self._savepoint.parts if self._operator.uid in part.operators]
        read = functools.partial(_read_parts, self._savepoint, self._operator, self._read, schema)
        tasks = max(1, len(parts))
        return spark.range(0, len(parts), 1, tasks).mapInArrow(read, spark_columns(schema))


def rows_of_savepoint(savepoint: Savepoint, operator: SavedOperator, read: Read) -> Iterator[StateRow]:
    try:
        yield from read(savepoint, operator)
    except (ImportError, AttributeError) as error:
        raise JobExecutionError(
            f"the state of {operator.name!r} (uid {operator.uid}) has objects of a class that is not here: {error}."
            " Put the program's modules on the path (PYTHONPATH)."
        ) from error


def _read_parts(
    savepoint: Savepoint, operator: SavedOperator, read: Read, schema: pa.Schema, numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Runs in a Spark task, for the numbers of the parts that it reads."""
    from penstock.state_processor.tables import batches_of

    parts = [part for part in savepoint.parts if operator.uid in part.operators]
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            one = replace(savepoint, parts=(parts[number],))
            yield from batches_of(rows_of_savepoint(one, operator, read), schema)
