"""The types of single values: texts, bytes, numbers, booleans, moments, null and opaque objects."""

from __future__ import annotations

import datetime
import pickle
from typing import Any

from penstock.columns.typesystem.base import AtomicType, DataType, FractionalType, IntegralType, require_range

MAX_LENGTH = 0x7FFFFFFF
_EPOCH = datetime.datetime(1970, 1, 1)
_UTC_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


class NullType(AtomicType):
    """The type of an untyped NULL."""

    def __init__(self) -> None:
        super().__init__(True)

    def _text(self, serializable: bool) -> str:
        return "NULL"


class _LengthType(AtomicType):
    length: int
    LOWEST = 1
    SQL_NAME = ""
    UNBOUNDED_NAME = ""

    def __init__(self, length: int = 1, nullable: bool = True) -> None:
        self._set(length=require_range(f"The length of {self.SQL_NAME}", length, self.LOWEST, MAX_LENGTH))
        super().__init__(nullable)

    def _parameters(self) -> tuple[Any, ...]:
        return (self.length,)

    def _text(self, serializable: bool) -> str:
        if self.UNBOUNDED_NAME and self.length == MAX_LENGTH and not serializable:
            return self.UNBOUNDED_NAME
        return f"{self.SQL_NAME}({self.length})"


class CharType(_LengthType):
    """Text of exactly ``length`` characters; the empty literal has length 0."""

    SQL_NAME = "CHAR"
    LOWEST = 0


class VarCharType(_LengthType):
    """Text of at most ``length`` characters; STRING is the one without a bound."""

    SQL_NAME = "VARCHAR"
    UNBOUNDED_NAME = "STRING"
    LOWEST = 0


class BinaryType(_LengthType):
    """Exactly ``length`` bytes."""

    SQL_NAME = "BINARY"
    LOWEST = 0


class VarBinaryType(_LengthType):
    """At most ``length`` bytes; BYTES is the one without a bound."""

    SQL_NAME = "VARBINARY"
    UNBOUNDED_NAME = "BYTES"
    LOWEST = 0


class BooleanType(AtomicType):
    """TRUE, FALSE, and with null UNKNOWN."""

    def _text(self, serializable: bool) -> str:
        return "BOOLEAN"


class TinyIntType(IntegralType):
    """One byte, -128 to 127."""

    WIDTH = 8


class SmallIntType(IntegralType):
    """Two bytes."""

    WIDTH = 16


class IntType(IntegralType):
    """Four bytes."""

    WIDTH = 32


class BigIntType(IntegralType):
    """Eight bytes."""

    WIDTH = 64


class FloatType(FractionalType):
    """A 4-byte floating point number."""

    def _text(self, serializable: bool) -> str:
        return "FLOAT"


class DoubleType(FractionalType):
    """An 8-byte floating point number."""

    def _text(self, serializable: bool) -> str:
        return "DOUBLE"


class DecimalType(FractionalType):
    """An exact number of ``precision`` digits, ``scale`` of them after the point."""

    precision: int
    scale: int

    def __init__(self, precision: int = 10, scale: int = 0, nullable: bool = True) -> None:
        require_range("The precision of DECIMAL", precision, 1, 38)
        require_range(f"The scale of DECIMAL({precision}, ..)", scale, 0, precision)
        self._set(precision=precision, scale=scale)
        super().__init__(nullable)

    def _parameters(self) -> tuple[Any, ...]:
        return (self.precision, self.scale)

    def _text(self, serializable: bool) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


class DateType(AtomicType):
    """A day of the calendar."""

    EPOCH_ORDINAL = _EPOCH.toordinal()

    def need_conversion(self) -> bool:
        return True

    def to_sql_type(self, d: datetime.date | None) -> int | None:
        return None if d is None else d.toordinal() - self.EPOCH_ORDINAL

    def from_sql_type(self, v: int | None) -> datetime.date | None:
        return None if v is None else datetime.date.fromordinal(v + self.EPOCH_ORDINAL)

    def _text(self, serializable: bool) -> str:
        return "DATE"


class _PrecisionType(AtomicType):
    precision: int
    DEFAULT = 6
    SQL_NAME = ""

    def __init__(self, precision: int = 6, nullable: bool = True) -> None:
        self._set(precision=require_range(f"The precision of {self.SQL_NAME}", precision, 0, 9))
        super().__init__(nullable)

    def need_conversion(self) -> bool:
        return True

    def _parameters(self) -> tuple[Any, ...]:
        return (self.precision,)

    def _text(self, serializable: bool) -> str:
        return f"{self.SQL_NAME}({self.precision})"


class TimeType(_PrecisionType):
    """A time of day without a zone."""

    EPOCH_ORDINAL = _EPOCH.toordinal()
    SQL_NAME = "TIME"

    def __init__(self, precision: int = 0, nullable: bool = True) -> None:
        super().__init__(precision, nullable)

    def to_sql_type(self, t: datetime.time | None) -> int | None:
        if t is None:
            return None
        return ((t.hour * 60 + t.minute) * 60 + t.second) * 1_000_000 + t.microsecond

    def from_sql_type(self, t: int | None) -> datetime.time | None:
        return None if t is None else (_EPOCH + t * _MICROSECOND).time()


class TimestampType(_PrecisionType):
    """A date and a time of day, without a zone."""

    SQL_NAME = "TIMESTAMP"

    def to_sql_type(self, dt: datetime.datetime | None) -> int | None:
        return None if dt is None else (dt.replace(tzinfo=None) - _EPOCH) // _MICROSECOND

    def from_sql_type(self, ts: int | None) -> datetime.datetime | None:
        return None if ts is None else _EPOCH + ts * _MICROSECOND


class LocalZonedTimestampType(_PrecisionType):
    """A moment on the time line, shown in the session's time zone."""

    EPOCH_ORDINAL = _EPOCH.toordinal() * 86_400 * 1_000_000
    SQL_NAME = "TIMESTAMP_LTZ"

    def to_sql_type(self, dt: datetime.datetime | None) -> int | None:
        """Microseconds since 1970; a datetime without a zone is taken in this machine's zone, as PyFlink does."""
        return None if dt is None else (dt.astimezone(datetime.UTC) - _UTC_EPOCH) // _MICROSECOND

    def from_sql_type(self, ts: int | None) -> datetime.datetime | None:
        return None if ts is None else (_UTC_EPOCH + ts * _MICROSECOND).astimezone().replace(tzinfo=None)

    def _text(self, serializable: bool) -> str:
        if serializable:
            return f"TIMESTAMP({self.precision}) WITH LOCAL TIME ZONE"
        return f"TIMESTAMP_LTZ({self.precision})"


class ZonedTimestampType(_PrecisionType):
    """A moment with its own offset; Flink has the name, and no function or connector that takes it."""

    SQL_NAME = "TIMESTAMP_TZ"

    def to_sql_type(self, dt: datetime.datetime | None) -> tuple[int, int] | None:
        if dt is None:
            return None
        aware = dt if dt.tzinfo else dt.astimezone()
        offset = aware.utcoffset() or datetime.timedelta()
        return (aware.replace(tzinfo=None) - _EPOCH) // _MICROSECOND, int(offset.total_seconds())

    def from_sql_type(self, zoned_ts: tuple[int, int] | None) -> datetime.datetime | None:
        if zoned_ts is None:
            return None
        zone = datetime.timezone(datetime.timedelta(seconds=zoned_ts[1]))
        return (_EPOCH + zoned_ts[0] * _MICROSECOND).replace(tzinfo=zone)

    def _text(self, serializable: bool) -> str:
        return f"TIMESTAMP({self.precision}) WITH TIME ZONE"


class RawType(DataType):
    """An opaque object: Penstock keeps it pickled and only hands it on."""

    def need_conversion(self) -> bool:
        return True

    def to_sql_type(self, obj: Any) -> bytes | None:
        return None if obj is None else pickle.dumps(obj)

    def from_sql_type(self, obj: bytes | None) -> Any:
        return None if obj is None else pickle.loads(obj)

    def _text(self, serializable: bool) -> str:
        return "RAW('object', 'pickle')" if serializable else "RAW('object', '...')"


class VariantType(AtomicType):
    """Semi-structured data: a number, a text, an array or an object, decided value by value."""

    def _text(self, serializable: bool) -> str:
        return "VARIANT"


class BitmapType(AtomicType):
    """A compressed set of 32-bit integers."""

    def _text(self, serializable: bool) -> str:
        return "BITMAP"


class DescriptorType(AtomicType):
    """The names of columns that a table function is told with DESCRIPTOR(..)."""

    def _text(self, serializable: bool) -> str:
        return "DESCRIPTOR"
