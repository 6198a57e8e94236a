"""CSV text of whole columns, the same as CsvRowWriter makes of the records."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from penstock.common.text import java_text
from penstock.common.typeinfo import BasicType, BasicTypeInfo, TypeInformation
from penstock.formats.csv_dialect import LONGEST_TEXT_LOOKED_AT, CsvDialect, CsvRowWriter
from penstock.formats.field_columns import field_columns
from penstock.runtime.batch import Batch

_WHOLE = {BasicType.BOOLEAN, BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG}
_FRACTIONS = {BasicType.FLOAT, BasicType.DOUBLE}


class CsvColumnWriter:
    """Turns the columns of a batch into lines."""

    def __init__(self, names: list[str], types: list[TypeInformation], rows: CsvRowWriter, dialect: CsvDialect) -> None:
        self._names = names
        self._types = types
        self._dialect = dialect
        self._unsafe = rows.unsafe_characters()
        kinds = {each.basic_type if isinstance(each, BasicTypeInfo) else None for each in types}
        self._possible = bool(types) and self._unsafe is not None and kinds <= {BasicType.STRING, *_WHOLE, *_FRACTIONS}

    def lines(self, batch: Batch) -> memoryview | None:
        """The lines of all records; None when they have to be written one by one."""
        columns = field_columns(batch, self._names, self._types) if self._possible else None
        if columns is None:
            return None
        fields = [self._field(column, declared) for column, declared in zip(columns, self._types, strict=True)]
        null, end = self._dialect.null_literal or "", self._dialect.line_end
        records = pc.binary_join_element_wise(
            *fields, self._dialect.separator, null_handling="replace", null_replacement=null
        )
        return _content(pc.binary_join_element_wise(records, "", end))

    def _field(self, column: pa.Array, declared: TypeInformation) -> pa.Array:
        assert isinstance(declared, BasicTypeInfo)
        if declared.basic_type in _WHOLE:
            return column.cast(pa.string())
        if declared.basic_type in _FRACTIONS:
            texts = [None if value is None else java_text(value, declared) for value in column.to_pylist()]
            return pa.array(texts, pa.string())
        return column if self._dialect.quote is None else self._quoted(column, self._dialect.quote)

    def _quoted(self, texts: pa.Array, quote: str) -> pa.Array:
        long = pc.greater(pc.utf8_length(texts), LONGEST_TEXT_LOOKED_AT)
        needed = pc.or_(long, pc.match_substring_regex(texts, self._unsafe))
        if not pc.any(needed).as_py():
            return texts
        escaped, escape = texts, self._dialect.escape
        if escape is not None:
            escaped = pc.replace_substring(escaped, escape, escape + escape)
        escaped = pc.replace_substring(escaped, quote, quote + quote)
        return pc.if_else(needed, pc.binary_join_element_wise(quote, escaped, quote, ""), texts)


def _content(texts: pa.Array) -> memoryview:
    """All texts without anything between them: Arrow has them in one piece."""
    _, offsets, content = texts.buffers()
    ends = memoryview(offsets).cast("i")
    first, last = ends[texts.offset], ends[texts.offset + len(texts)]
    return memoryview(content)[first:last] if content is not None else memoryview(b"")
