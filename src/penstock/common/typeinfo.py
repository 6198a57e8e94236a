"""Type information: what a program declares about the records of a stream, of state and of keys."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from enum import Enum
from typing import Any, ClassVar

from penstock.common.errors import NotSupportedError
from penstock.common.time import Instant
from penstock.common.types import Row, RowKind

__all__ = ["TypeInformation", "Types"]

_MICROS_PER_SECOND = 1_000_000


class TypeInformation:
    """What is known about the values of one type; compared by what it describes.

    Made by the factory :class:`Types`, for example ``Types.TUPLE([Types.STRING(), Types.INT()])``.
    """

    def _identity(self) -> tuple[Any, ...]:
        """What two equal types share, beside their class."""
        return ()

    def get_java_type_info(self) -> Any:
        raise NotSupportedError(
            f"{self!r}.get_java_type_info() has nothing to return: Penstock runs without Flink's Java"
            " classes. Pass the TypeInformation itself."
        )

    def need_conversion(self) -> bool:
        """Whether the values of this type have another form inside (days for a date, for example)."""
        return False

    def to_internal_type(self, obj: Any) -> Any:
        return obj

    def from_internal_type(self, obj: Any) -> Any:
        return obj

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._identity()))

    def __repr__(self) -> str:
        return type(self).__name__


class BasicType(Enum):
    """The types that one value without parts can have."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


class BasicTypeInfo(TypeInformation):
    """Strings, numbers, booleans and instants."""

    def __init__(self, basic_type: BasicType) -> None:
        self._basic_type = basic_type

    @property
    def basic_type(self) -> BasicType:
        return self._basic_type

    def _identity(self) -> tuple[Any, ...]:
        return (self._basic_type.value,)

    def __repr__(self) -> str:
        return self._basic_type.value

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo:
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT_TYPE_INFO() -> BasicTypeInfo:
        return InstantTypeInfo(BasicType.INSTANT)


class InstantTypeInfo(BasicTypeInfo):
    """:class:`~penstock.common.time.Instant` values; inside they are microseconds since 1970."""

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: Any) -> Any:
        return None if obj is None else obj.seconds * _MICROS_PER_SECOND + obj.nanos // 1_000

    def from_internal_type(self, obj: Any) -> Any:
        if obj is None:
            return None
        seconds, micros = divmod(obj, _MICROS_PER_SECOND)
        return Instant(seconds, micros * 1_000)


class SqlTimeTypeInfo(TypeInformation):
    """Factory of the types of ``datetime.date``, ``datetime.time`` and ``datetime.datetime``."""

    @staticmethod
    def DATE() -> TypeInformation:
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TypeInformation:
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TypeInformation:
        return TimestampTypeInfo()


class _ElementsTypeInfo(TypeInformation):
    """The common shape of arrays and lists: one type for all elements."""

    def __init__(self, element_type: TypeInformation) -> None:
        self._element_type = element_type

    @property
    def element_type(self) -> TypeInformation:
        return self._element_type

    def _identity(self) -> tuple[Any, ...]:
        return (self._element_type,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self._element_type!r}>"


class PrimitiveArrayTypeInfo(_ElementsTypeInfo):
    """Lists of numbers without None; with BYTE elements: bytes."""


class BasicArrayTypeInfo(_ElementsTypeInfo):
    """Lists whose elements have a basic type and may be None."""


class ObjectArrayTypeInfo(_ElementsTypeInfo):
    """Lists whose elements have any type and may be None."""


class ListTypeInfo(_ElementsTypeInfo):
    """Lists whose elements have one declared type."""

    @property
    def elem_type(self) -> TypeInformation:
        return self._element_type


class PickledBytesTypeInfo(TypeInformation):
    """Any picklable Python object: the type of a stream for which none was declared."""

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"


class _FieldsTypeInfo(TypeInformation):
    """The common shape of rows and tuples: one type for each field."""

    def __init__(self, field_types: Iterable[TypeInformation]) -> None:
        self._field_types = list(field_types)

    def get_field_types(self) -> list[TypeInformation]:
        return self._field_types

    def _identity(self) -> tuple[Any, ...]:
        return tuple(self._field_types)

    def need_conversion(self) -> bool:
        return True

    def _convert_in(self, values: Iterable[Any]) -> tuple[Any, ...]:
        pairs = zip(self._field_types, values, strict=False)
        return tuple(field_type.to_internal_type(value) for field_type, value in pairs)

    def from_internal_type(self, obj: Any) -> Any:
        if obj is None:
            return None
        pairs = zip(self._field_types, obj, strict=False)
        return tuple(field_type.from_internal_type(value) for field_type, value in pairs)


class RowTypeInfo(_FieldsTypeInfo):
    """Rows with the given field types; without names the fields are called f0, f1, ...

    Two row types are equal when their field types are; names do not count.
    """

    def __init__(self, field_types: list[TypeInformation], field_names: list[str] | None = None) -> None:
        super().__init__(field_types)
        if field_names is not None and len(field_names) != len(self._field_types):
            raise ValueError(
                f"A row type needs one name for each field: got {len(field_names)} names {list(field_names)}"
                f" and {len(self._field_types)} types {self._field_types}."
            )
        if field_names is not None and len(set(field_names)) != len(field_names):
            raise ValueError(f"The field names of a row type must differ from each other: {list(field_names)}.")
        self._declared_names = None if field_names is None else list(field_names)
        self._names = self._declared_names or [f"f{i}" for i in range(len(self._field_types))]
        self._defaults: dict[str, Any] = {}

    def get_field_names(self) -> list[str]:
        return self._names

    def with_defaults(self, defaults: dict[str, Any]) -> RowTypeInfo:
        """This type, with what fields get in state that was saved before the type had them (else: None).

        ``Types.ROW_NAMED(["user", "country"], [Types.STRING(), Types.STRING()]).with_defaults({"country": "?"})``
        """
        for name in defaults:
            self.get_field_index(name)
        row_type = RowTypeInfo(self._field_types, self._declared_names)
        row_type._defaults = dict(defaults)
        return row_type

    def get_defaults(self) -> dict[str, Any]:
        """The declared defaults by field name."""
        return self._defaults

    def has_declared_names(self) -> bool:
        """Whether the names are the program's, and not f0, f1, ..."""
        return self._declared_names is not None

    def get_field_index(self, field_name: str) -> int:
        if field_name not in self._names:
            raise ValueError(f"{self!r} has no field {field_name!r}; its fields are {self._names}.")
        return self._names.index(field_name)

    def to_internal_type(self, obj: Any) -> Any:
        if obj is None:
            return None
        if isinstance(obj, Row):
            named = obj._fields is not None and set(self._names) <= set(obj._fields)
            values = obj.get_fields_by_names(self._names) if named else list(obj)
            return (obj.get_row_kind().value, *self._convert_in(values))
        if isinstance(obj, dict):
            return (RowKind.INSERT.value, *self._convert_in(obj.get(name) for name in self._names))
        if isinstance(obj, (tuple, list)):
            return (RowKind.INSERT.value, *self._convert_in(obj))
        raise ValueError(f"{obj!r} is not a row of {self!r}.")

    def __repr__(self) -> str:
        if self._declared_names is None:
            return "RowTypeInfo({})".format(", ".join(map(repr, self._field_types)))
        pairs = zip(self._declared_names, self._field_types, strict=True)
        return "RowTypeInfo({})".format(", ".join(f"{name}: {field_type!r}" for name, field_type in pairs))


class TupleTypeInfo(_FieldsTypeInfo):
    """Python tuples with the given field types."""

    def to_internal_type(self, obj: Any) -> Any:
        if obj is None:
            return None
        if isinstance(obj, (tuple, list, Row)):
            return self._convert_in(obj)
        raise ValueError(f"{obj!r} is not a tuple of {self!r}.")

    def __repr__(self) -> str:
        return "TupleTypeInfo({})".format(", ".join(map(repr, self._field_types)))


class DateTypeInfo(TypeInformation):
    """``datetime.date`` values; inside they are days since 1970."""

    EPOCH_ORDINAL: ClassVar[int] = datetime.date(1970, 1, 1).toordinal()

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, d: Any) -> Any:
        return None if d is None else d.toordinal() - self.EPOCH_ORDINAL

    def from_internal_type(self, v: Any) -> Any:
        return None if v is None else datetime.date.fromordinal(v + self.EPOCH_ORDINAL)


class TimeTypeInfo(TypeInformation):
    """``datetime.time`` values; inside they are microseconds since midnight."""

    EPOCH_ORDINAL: ClassVar[int] = DateTypeInfo.EPOCH_ORDINAL * 86_400 * _MICROS_PER_SECOND

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, t: Any) -> Any:
        if t is None:
            return None
        return ((t.hour * 60 + t.minute) * 60 + t.second) * _MICROS_PER_SECOND + t.microsecond

    def from_internal_type(self, t: Any) -> Any:
        if t is None:
            return None
        seconds, micros = divmod(t, _MICROS_PER_SECOND)
        minutes, second = divmod(seconds, 60)
        hour, minute = divmod(minutes, 60)
        return datetime.time(hour, minute, second, micros)


_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


class TimestampTypeInfo(TypeInformation):
    """``datetime.datetime`` values without time zone; inside they are microseconds since 1970."""

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, dt: Any) -> Any:
        return None if dt is None else (dt.replace(tzinfo=None) - _EPOCH) // _MICROSECOND

    def from_internal_type(self, ts: Any) -> Any:
        return None if ts is None else _EPOCH + datetime.timedelta(microseconds=ts)


class MapTypeInfo(TypeInformation):
    """Dicts with one type for all keys and one for all values."""

    def __init__(self, key_type_info: TypeInformation, value_type_info: TypeInformation) -> None:
        self._key_type_info = key_type_info
        self._value_type_info = value_type_info

    @property
    def key_type(self) -> TypeInformation:
        return self._key_type_info

    @property
    def value_type(self) -> TypeInformation:
        return self._value_type_info

    def _identity(self) -> tuple[Any, ...]:
        return (self._key_type_info, self._value_type_info)

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self._key_type_info!r}, {self._value_type_info!r}>"


class LocalTimeTypeInfo(TypeInformation):
    """Dates, times and timestamps of tables."""

    class TimeType(Enum):
        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: TimeType) -> None:
        self._time_type = time_type

    def _identity(self) -> tuple[Any, ...]:
        return (self._time_type.value,)

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self._time_type.name}>"


class ExternalTypeInfo(TypeInformation):
    """A type that a table hands out, around the type of its values."""

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = type_info

    @property
    def type_info(self) -> TypeInformation:
        return self._type_info

    def _identity(self) -> tuple[Any, ...]:
        return (self._type_info,)

    def __repr__(self) -> str:
        return f"ExternalTypeInfo<{self._type_info!r}>"


class Types:
    """Factory of type information: ``Types.INT()``, ``Types.TUPLE([Types.STRING(), Types.LONG()])``, ..."""

    @staticmethod
    def STRING() -> TypeInformation:
        return BasicTypeInfo.STRING_TYPE_INFO()

    @staticmethod
    def BYTE() -> TypeInformation:
        return BasicTypeInfo.BYTE_TYPE_INFO()

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        return BasicTypeInfo.BOOLEAN_TYPE_INFO()

    @staticmethod
    def SHORT() -> TypeInformation:
        return BasicTypeInfo.SHORT_TYPE_INFO()

    @staticmethod
    def INT() -> TypeInformation:
        return BasicTypeInfo.INT_TYPE_INFO()

    @staticmethod
    def LONG() -> TypeInformation:
        return BasicTypeInfo.LONG_TYPE_INFO()

    @staticmethod
    def FLOAT() -> TypeInformation:
        return BasicTypeInfo.FLOAT_TYPE_INFO()

    @staticmethod
    def DOUBLE() -> TypeInformation:
        return BasicTypeInfo.DOUBLE_TYPE_INFO()

    @staticmethod
    def CHAR() -> TypeInformation:
        return BasicTypeInfo.CHAR_TYPE_INFO()

    @staticmethod
    def BIG_INT() -> TypeInformation:
        return BasicTypeInfo.BIG_INT_TYPE_INFO()

    @staticmethod
    def BIG_DEC() -> TypeInformation:
        return BasicTypeInfo.BIG_DEC_TYPE_INFO()

    @staticmethod
    def INSTANT() -> TypeInformation:
        return BasicTypeInfo.INSTANT_TYPE_INFO()

    @staticmethod
    def SQL_DATE() -> TypeInformation:
        return SqlTimeTypeInfo.DATE()

    @staticmethod
    def SQL_TIME() -> TypeInformation:
        return SqlTimeTypeInfo.TIME()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation:
        return SqlTimeTypeInfo.TIMESTAMP()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: list[TypeInformation]) -> RowTypeInfo:
        """Rows whose fields are called f0, f1, ..."""
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: list[str], field_types: list[TypeInformation]) -> RowTypeInfo:
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: list[TypeInformation]) -> TupleTypeInfo:
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> PrimitiveArrayTypeInfo:
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation, value_type_info: TypeInformation) -> TypeInformation:
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:
        return ListTypeInfo(element_type_info)
