"""Reads the text form of types, `ROW<a INT NOT NULL, b ARRAY<STRING>>`, alone or inside a SQL statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import Resolution, interval_between
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowField, RowType, StructuredType
from penstock.common.errors import ProgramError


@dataclass(frozen=True)
class TypeToken:
    """A word, number or sign of a type's text; quote is the sign around it, if any."""

    text: str
    quote: str = ""

    @property
    def word(self) -> str:
        return "" if self.quote else self.text.upper()


class TypeTextError(ProgramError):
    """A text that is no type; index is that of the token which cannot be there."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


_SIGNS = re.compile(r"\s*(?:`((?:[^`]|``)*)`|'((?:[^']|'')*)'|([A-Za-z_][A-Za-z_0-9]*|\d+|[<>(),.]))")


def parse_type(text: str) -> DataType:
    """The type that a text means.

    >>> parse_type("map<string, decimal(10, 2) not null>").as_summary_string()
    'MAP<STRING, DECIMAL(10, 2) NOT NULL>'
    """
    tokens, position = [], 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _SIGNS.match(stripped, position)
        if match is None:
            raise ProgramError(f"{text!r} is no type: cannot read {stripped[position:]!r}")
        name, literal, plain = match.groups()
        if name is not None:
            tokens.append(TypeToken(name.replace("``", "`"), "`"))
        elif literal is not None:
            tokens.append(TypeToken(literal.replace("''", "'"), "'"))
        else:
            tokens.append(TypeToken(plain))
        position = match.end()
    try:
        data_type, used = read_type(tokens, 0)
        if used < len(tokens):
            raise TypeTextError(f"nothing may follow it, but {tokens[used].text!r} does", used)
    except TypeTextError as error:
        raise ProgramError(f"{text!r} is no type: {error}") from None
    return data_type


def read_type(tokens: Sequence[TypeToken], start: int, in_sql: bool = False) -> tuple[DataType, int]:
    """The type that begins at a token, and the index of the token after it.

    VARCHAR without a length is STRING in SQL, and VARCHAR(1) in other texts, as in Flink.
    """
    reader = _Reader(tokens, start, scalars.MAX_LENGTH if in_sql else 1)
    return reader.data_type(), reader.index


class _Reader:
    def __init__(self, tokens: Sequence[TypeToken], index: int, usual_length: int) -> None:
        self._tokens = tokens
        self.index = index
        self.usual_length = usual_length

    def _peek(self, ahead: int = 0) -> TypeToken:
        place = self.index + ahead
        return self._tokens[place] if place < len(self._tokens) else TypeToken("", "end")

    def accept(self, *words: str) -> bool:
        if all(self._peek(ahead).word == word for ahead, word in enumerate(words)):
            self.index += len(words)
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.failure(f"expected {word!r}")

    def failure(self, expected: str) -> TypeTextError:
        found = self._peek()
        return TypeTextError(f"{expected}, found {'the end' if found.quote == 'end' else repr(found.text)}", self.index)

    def number(self) -> int:
        text = self._peek().word
        if not text.isdigit():
            raise self.failure("expected a number")
        self.index += 1
        return int(text)

    def literal(self) -> str:
        token = self._peek()
        if token.quote != "'":
            raise self.failure("expected a text in single quotes")
        self.index += 1
        return token.text

    def parameter(self, default: int) -> int:
        if not self.accept("("):
            return default
        value = self.number()
        self.expect(")")
        return value

    def data_type(self) -> DataType:
        data_type = self._base()
        while True:
            if self.accept("NOT", "NULL"):
                data_type = data_type.not_null()
            elif self.accept("NULL"):
                data_type = data_type.nullable()
            elif self.accept("ARRAY"):
                data_type = ArrayType(data_type)
            elif self.accept("MULTISET"):
                data_type = MultisetType(data_type)
            else:
                return data_type

    def _base(self) -> DataType:
        word = self._peek().word
        read = _READERS.get(word)
        if read is None:
            raise self.failure("expected the name of a type")
        self.index += 1
        return read(self)

    def fields(self, close: str) -> list[RowField]:
        members: list[RowField] = []
        while not self.accept(close):
            if members:
                self.expect(",")
            name = self._peek()
            if name.quote not in ("", "`") or not name.text or name.text in "<>(),.":
                raise self.failure("expected the name of a field")
            self.index += 1
            data_type = self.data_type()
            note = self.literal() if self._peek().quote == "'" else None
            members.append(RowField(name.text, data_type, note))
        return members


def _row(reader: _Reader) -> DataType:
    if reader.accept("<", ">"):
        return RowType([])
    if reader.accept("<"):
        return RowType(reader.fields(">"))
    reader.expect("(")
    return RowType(reader.fields(")"))


def _structured(reader: _Reader) -> DataType:
    reader.expect("<")
    name = reader.literal()
    members = reader.fields(">") if reader.accept(",") else []
    if not members:
        reader.expect(">")
    return StructuredType(name, members)


def _map(reader: _Reader) -> DataType:
    reader.expect("<")
    key = reader.data_type()
    reader.expect(",")
    value = reader.data_type()
    reader.expect(">")
    return MapType(key, value)


def _element(make: Callable[[DataType], DataType]) -> Callable[[_Reader], DataType]:
    def read(reader: _Reader) -> DataType:
        reader.expect("<")
        element = reader.data_type()
        reader.expect(">")
        return make(element)

    return read


def _decimal(reader: _Reader) -> DataType:
    if not reader.accept("("):
        return scalars.DecimalType(10, 0)
    precision = reader.number()
    scale = reader.number() if reader.accept(",") else 0
    reader.expect(")")
    return scalars.DecimalType(precision, scale)


def _timestamp(reader: _Reader) -> DataType:
    precision = reader.parameter(6)
    if reader.accept("WITH", "LOCAL", "TIME", "ZONE"):
        return scalars.LocalZonedTimestampType(precision)
    if reader.accept("WITH", "TIME", "ZONE"):
        return scalars.ZonedTimestampType(precision)
    reader.accept("WITHOUT", "TIME", "ZONE")
    return scalars.TimestampType(precision)


def _time(reader: _Reader) -> DataType:
    precision = reader.parameter(0)
    reader.accept("WITHOUT", "TIME", "ZONE")
    return scalars.TimeType(precision)


def _double(reader: _Reader) -> DataType:
    reader.accept("PRECISION")
    return scalars.DoubleType()


def _character(reader: _Reader) -> DataType:
    if reader.accept("VARYING"):
        return scalars.VarCharType(reader.parameter(reader.usual_length))
    return scalars.CharType(reader.parameter(1))


def _binary(reader: _Reader) -> DataType:
    if reader.accept("VARYING"):
        return scalars.VarBinaryType(reader.parameter(reader.usual_length))
    return scalars.BinaryType(reader.parameter(1))


def _raw(reader: _Reader) -> DataType:
    reader.expect("(")
    reader.literal()
    reader.expect(",")
    reader.literal()
    reader.expect(")")
    return scalars.RawType()


_DEFAULT_DIGITS = {"YEAR": 2, "DAY": 2, "SECOND": 6}


def _resolution(reader: _Reader) -> Resolution:
    for unit in Resolution.IntervalUnit:
        if reader.accept(unit.name):
            return Resolution(unit, reader.parameter(_DEFAULT_DIGITS.get(unit.name, -1)))
    raise reader.failure("expected YEAR, MONTH, DAY, HOUR, MINUTE or SECOND")


def _interval(reader: _Reader) -> DataType:
    upper = _resolution(reader)
    return interval_between(upper, _resolution(reader) if reader.accept("TO") else None)


_READERS: dict[str, Callable[[_Reader], DataType]] = {
    "NULL": lambda _: scalars.NullType(),
    "BOOLEAN": lambda _: scalars.BooleanType(),
    "TINYINT": lambda _: scalars.TinyIntType(),
    "SMALLINT": lambda _: scalars.SmallIntType(),
    "INT": lambda _: scalars.IntType(),
    "INTEGER": lambda _: scalars.IntType(),
    "BIGINT": lambda _: scalars.BigIntType(),
    "FLOAT": lambda _: scalars.FloatType(),
    "DOUBLE": _double,
    "DECIMAL": _decimal,
    "DEC": _decimal,
    "NUMERIC": _decimal,
    "CHAR": _character,
    "CHARACTER": _character,
    "VARCHAR": lambda reader: scalars.VarCharType(reader.parameter(reader.usual_length)),
    "STRING": lambda _: scalars.VarCharType(scalars.MAX_LENGTH),
    "BINARY": _binary,
    "VARBINARY": lambda reader: scalars.VarBinaryType(reader.parameter(reader.usual_length)),
    "BYTES": lambda _: scalars.VarBinaryType(scalars.MAX_LENGTH),
    "DATE": lambda _: scalars.DateType(),
    "TIME": _time,
    "TIMESTAMP": _timestamp,
    "TIMESTAMP_LTZ": lambda reader: scalars.LocalZonedTimestampType(reader.parameter(6)),
    "INTERVAL": _interval,
    "ARRAY": _element(ArrayType),
    "MULTISET": _element(MultisetType),
    "MAP": _map,
    "ROW": _row,
    "RAW": _raw,
    "STRUCTURED": _structured,
    "VARIANT": lambda _: scalars.VariantType(),
    "BITMAP": lambda _: scalars.BitmapType(),
    "DESCRIPTOR": lambda _: scalars.DescriptorType(),
}

TYPE_NAMES = frozenset(_READERS)
