"""A job's results as pandas DataFrames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, cast

from penstock.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.common.types import Row
from penstock.control.running_job import RunningJob
from penstock.graph.transformation import Node

if TYPE_CHECKING:
    import pandas

__all__ = ["frames_of"]

_COLUMN_OF_PLAIN_VALUES = "value"


class _EpochwiseJob(Protocol):
    def collected_epochs(self, node: Node) -> Iterator[list[Any]]:
        """The records of a collect sink, one list for each completed epoch."""


def frames_of(
    job: RunningJob, node: Node, type_info: TypeInformation, max_rows: int | None
) -> Iterator[pandas.DataFrame]:
    """One frame for each completed epoch that has records, or several of at most max_rows."""
    try:
        for records in cast(_EpochwiseJob, job).collected_epochs(node):
            size = max_rows or len(records)
            for start in range(0, len(records), size or 1):
                yield frame_of(records[start : start + size], type_info)
    finally:
        if not job.status().is_terminal_state():
            job.cancel()


def frame_of(records: list[Any], type_info: TypeInformation) -> pandas.DataFrame:
    import pandas

    columns = _columns(records, type_info)
    if columns is None:
        return pandas.DataFrame({_COLUMN_OF_PLAIN_VALUES: pandas.Series(records)})
    return pandas.DataFrame([tuple(record) for record in records], columns=columns)


def _columns(records: list[Any], type_info: TypeInformation) -> list[str] | None:
    """Field names; untyped records have columns when all of them have the fields of the first."""
    if isinstance(type_info, RowTypeInfo):
        return type_info.get_field_names()
    if isinstance(type_info, TupleTypeInfo):
        return [f"f{i}" for i in range(len(type_info.get_field_types()))]
    first = records[0]
    if not isinstance(first, (Row, tuple)):
        return None
    names = list(getattr(first, "_fields", None) or (f"f{i}" for i in range(len(first))))
    alike = all(type(record) is type(first) and len(record) == len(names) for record in records)
    return names if alike else None
