"""Results as Flink's client draws them: a frame of signs, columns aligned to the right."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from penstock.columns.kernels.cast_to_text import texts_of
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType

MAX_WIDTH = 30
NULL = "<NULL>"
_INTEGERS: dict[type[DataType], int] = {
    scalars.TinyIntType: 4,
    scalars.SmallIntType: 6,
    scalars.IntType: 11,
    scalars.BigIntType: 20,
}


def cells(column: pa.Array, data_type: DataType, zone: str) -> list[str]:
    """The values of a column as a table shows them."""
    if families.is_bytes(data_type):
        return [NULL if raw is None else f"x'{raw.hex()}'" for raw in column.to_pylist()]
    return [NULL if text is None else text for text in texts_of(column, data_type, zone).to_pylist()]


def width_by_type(name: str, data_type: DataType) -> int:
    """For results whose rows are not known beforehand."""
    return max(display_width(name), len(NULL), _type_width(data_type))


def _type_width(data_type: DataType) -> int:
    if type(data_type) in _INTEGERS:
        return _INTEGERS[type(data_type)]
    if isinstance(data_type, scalars.DecimalType):
        return data_type.precision + 2
    if isinstance(data_type, scalars.BooleanType):
        return 5
    if isinstance(data_type, scalars.DateType):
        return 10
    if isinstance(data_type, scalars.TimeType):
        return 8 if data_type.precision == 0 else 9 + data_type.precision
    if isinstance(data_type, (scalars.TimestampType, scalars.LocalZonedTimestampType)):
        return 19 if data_type.precision == 0 else 20 + data_type.precision
    return MAX_WIDTH


def width_by_content(name: str, texts: Iterable[str]) -> int:
    return max([display_width(name), *(display_width(text) for text in texts)])


def display_width(text: str) -> int:
    """Columns of a terminal: wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def frame(widths: Sequence[int]) -> str:
    return "+" + "+".join("-" * (width + 2) for width in widths) + "+"


def line(texts: Sequence[str], widths: Sequence[int]) -> str:
    return "|" + "|".join(f" {_fitted(text, width)} " for text, width in zip(texts, widths, strict=True)) + "|"


def _fitted(text: str, width: int) -> str:
    taken = display_width(text)
    if taken <= width:
        return " " * (width - taken) + text
    kept, used = "", 0
    for character in text:
        used += display_width(character)
        if used > width - 3:
            break
        kept += character
    short = kept + "..."
    return " " * (width - display_width(short)) + short


def picture(names: Sequence[str], widths: Sequence[int], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table, as rows come; of no rows `Empty set`."""
    count = 0
    for row in rows:
        if not count:
            yield from (frame(widths), line(names, widths), frame(widths))
        count += 1
        yield line(row, widths)
    if not count:
        yield "Empty set"
        return
    yield frame(widths)
    yield "1 row in set" if count == 1 else f"{count} rows in set"
