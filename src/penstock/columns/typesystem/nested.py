"""The types that hold other types: arrays, maps, multisets, rows, structured objects, and views of accumulators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from penstock.columns.typesystem.base import DataType
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.types import Row, RowKind


class ArrayType(DataType):
    """A list of values of one type."""

    element_type: DataType

    def __init__(self, element_type: DataType, nullable: bool = True) -> None:
        self._set(element_type=_require_type(element_type, "The element type of an array"))
        super().__init__(nullable)

    def _parameters(self) -> tuple[Any, ...]:
        return (self.element_type,)

    def children(self) -> tuple[DataType, ...]:
        return (self.element_type,)

    def need_conversion(self) -> bool:
        return self.element_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        return obj if not obj or not self.need_conversion() else [self.element_type.to_sql_type(v) for v in obj]

    def from_sql_type(self, obj: Any) -> Any:
        return obj if not obj or not self.need_conversion() else [self.element_type.from_sql_type(v) for v in obj]

    def _text(self, serializable: bool) -> str:
        return f"ARRAY<{_inner(self.element_type, serializable)}>"


class MultisetType(ArrayType):
    """A bag of values of one type: what COLLECT gives."""

    def _text(self, serializable: bool) -> str:
        return f"MULTISET<{_inner(self.element_type, serializable)}>"


class MapType(DataType):
    """Values by key."""

    key_type: DataType
    value_type: DataType

    def __init__(self, key_type: DataType, value_type: DataType, nullable: bool = True) -> None:
        self._set(
            key_type=_require_type(key_type, "The key type of a map"),
            value_type=_require_type(value_type, "The value type of a map"),
        )
        super().__init__(nullable)

    def _parameters(self) -> tuple[Any, ...]:
        return (self.key_type, self.value_type)

    def children(self) -> tuple[DataType, ...]:
        return (self.key_type, self.value_type)

    def need_conversion(self) -> bool:
        return self.key_type.need_conversion() or self.value_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        if not obj or not self.need_conversion():
            return obj
        return {self.key_type.to_sql_type(k): self.value_type.to_sql_type(v) for k, v in obj.items()}

    def from_sql_type(self, obj: Any) -> Any:
        if not obj or not self.need_conversion():
            return obj
        return {self.key_type.from_sql_type(k): self.value_type.from_sql_type(v) for k, v in obj.items()}

    def _text(self, serializable: bool) -> str:
        return f"MAP<{_inner(self.key_type, serializable)}, {_inner(self.value_type, serializable)}>"


class RowField:
    """A named field of a row type."""

    name: str
    data_type: DataType
    description: str

    def __init__(self, name: str, data_type: DataType, description: str | None = None) -> None:
        if not isinstance(name, str):
            raise ProgramError(f"The name of a field must be a text, but is {name!r}")
        self.name = name
        self.data_type = _require_type(data_type, f"The type of field {name!r}")
        self.description = "..." if description is None else description

    def _key(self) -> tuple[Any, ...]:
        return (self.name, self.data_type, self.description)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowField) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"RowField({self.name}, {self.data_type!r}, {self.description})"

    def __str__(self) -> str:
        return f"RowField({self.name}, {self.data_type})"

    def need_conversion(self) -> bool:
        return self.data_type.need_conversion()

    def to_sql_type(self, obj: Any) -> Any:
        return self.data_type.to_sql_type(obj)

    def from_sql_type(self, obj: Any) -> Any:
        return self.data_type.from_sql_type(obj)


class RowType(DataType):
    """A fixed sequence of named fields.

    >>> row = RowType([RowField("f1", ArrayType(RowType()))])
    >>> row.field_names()
    ['f1']
    """

    fields: list[RowField]
    names: list[str]
    _in_use: bool

    def __init__(self, fields: Sequence[RowField] | None = None, nullable: bool = True) -> None:
        members = list(fields or [])
        wrong = [field for field in members if not isinstance(field, RowField)]
        if wrong:
            raise ProgramError(f"The fields of a row type must be RowFields, but one is {wrong[0]!r}")
        self._set(fields=members, names=[field.name for field in members], _in_use=False)
        super().__init__(nullable)

    def add(self, field: RowField | str, data_type: DataType | None = None) -> RowType:
        """Adds a field to this type while it is being made, as PyFlink does; afterwards types do not change."""
        if self._in_use:
            raise ProgramError(f"add({field!r}) comes too late: the row type is in use already. Make another RowType.")
        if isinstance(field, str):
            if data_type is None:
                raise ValueError(f"add({field!r}) needs the type of the field as its second argument.")
            field = RowField(field, data_type)
        self._set(fields=[*self.fields, field], names=[*self.names, field.name])
        return self

    def __hash__(self) -> int:
        self._set(_in_use=True)
        return super().__hash__()

    def _parameters(self) -> tuple[Any, ...]:
        return tuple((field.name, field.data_type) for field in self.fields)

    def children(self) -> tuple[DataType, ...]:
        return tuple(field.data_type for field in self.fields)

    def __iter__(self) -> Iterator[RowField]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    @overload
    def __getitem__(self, key: str | int) -> RowField: ...

    @overload
    def __getitem__(self, key: slice) -> RowType: ...

    def __getitem__(self, key: str | int | slice) -> RowField | RowType:
        if isinstance(key, slice):
            return RowType(self.fields[key])
        if isinstance(key, int):
            return self.fields[key]
        for field in self.fields:
            if field.name == key:
                return field
        raise KeyError(f"No RowField named {key}")

    def __repr__(self) -> str:
        return "RowType({})".format(",".join(map(repr, self.fields)))

    def field_names(self) -> list[str]:
        return list(self.names)

    def field_types(self) -> list[DataType]:
        return [field.data_type for field in self.fields]

    def need_conversion(self) -> bool:
        return True

    def values_of(self, obj: Any) -> list[Any]:
        """The fields of a dict, Row, tuple, list or object, in the order of this type."""
        if isinstance(obj, dict):
            return [obj.get(name) for name in self.names]
        if isinstance(obj, Row):
            named = obj._fields is not None
            return [obj[name] for name in self.names] if named else list(obj._values)
        if isinstance(obj, (tuple, list)):
            return list(obj)
        if hasattr(obj, "__dict__"):
            return [vars(obj).get(name) for name in self.names]
        raise ValueError(f"{obj!r} has no fields: a row is given as Row, tuple, list, dict or object.")

    def to_sql_type(self, obj: Any) -> Any:
        if obj is None:
            return None
        kind = obj.get_row_kind() if isinstance(obj, Row) else RowKind.INSERT
        values = zip(self.fields, self.values_of(obj), strict=False)
        return (kind.value, *(field.to_sql_type(value) for field, value in values))

    def from_sql_type(self, obj: Any) -> Any:
        if obj is None or isinstance(obj, Row):
            return obj
        values = [field.from_sql_type(value) for field, value in zip(self.fields, obj, strict=False)]
        return Row._of(values, list(self.names))

    def _text(self, serializable: bool) -> str:
        return f"ROW<{_fields_text(self.fields, serializable)}>"


class StructuredType(RowType):
    """An object of a class that is known by name only: a row with a name, as OBJECT_OF gives."""

    class_name: str

    def __init__(self, class_name: str, fields: Sequence[RowField] | None = None, nullable: bool = True) -> None:
        self._set(class_name=class_name)
        super().__init__(fields, nullable)

    def _parameters(self) -> tuple[Any, ...]:
        return (self.class_name, *super()._parameters())

    def __repr__(self) -> str:
        return f"StructuredType({self.class_name!r},{','.join(map(repr, self.fields))})"

    def _text(self, serializable: bool) -> str:
        return f"STRUCTURED<'{self.class_name}', {_fields_text(self.fields, serializable)}>"


class ListViewType(DataType):
    """A list in the accumulator of an aggregate function that may be larger than memory."""

    _element_type: DataType

    def __init__(self, element_type: DataType) -> None:
        self._set(_element_type=_require_type(element_type, "The element type of a list view"))
        super().__init__(False)

    def _parameters(self) -> tuple[Any, ...]:
        return (self._element_type,)

    def __repr__(self) -> str:
        return f"ListViewType({self._element_type!r})"

    def to_sql_type(self, obj: Any) -> Any:
        raise _only_in_accumulators("ListViewType")

    def from_sql_type(self, obj: Any) -> Any:
        raise _only_in_accumulators("ListViewType")


class MapViewType(DataType):
    """A map in the accumulator of an aggregate function that may be larger than memory."""

    _key_type: DataType
    _value_type: DataType

    def __init__(self, key_type: DataType, value_type: DataType) -> None:
        self._set(
            _key_type=_require_type(key_type, "The key type of a map view"),
            _value_type=_require_type(value_type, "The value type of a map view"),
        )
        super().__init__(False)

    def _parameters(self) -> tuple[Any, ...]:
        return (self._key_type, self._value_type)

    def __repr__(self) -> str:
        return f"MapViewType({self._key_type!r}, {self._value_type!r})"

    def to_sql_type(self, obj: Any) -> Any:
        raise _only_in_accumulators("MapViewType")

    def from_sql_type(self, obj: Any) -> Any:
        raise _only_in_accumulators("MapViewType")


class UserDefinedType(DataType):
    """A class of the program that is kept as another type; a subclass says how."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def type_name(cls) -> str:
        return cls.__name__.lower()

    @classmethod
    def sql_type(cls) -> DataType:
        raise NotImplementedError(f"{cls.__name__} must implement sql_type(): the type that its objects are kept as.")

    @classmethod
    def module(cls) -> str:
        raise NotImplementedError(f"{cls.__name__} must implement module(): the name of its Python module.")

    @classmethod
    def java_udt(cls) -> str:
        return ""

    def need_conversion(self) -> bool:
        return True

    def to_sql_type(self, obj: Any) -> Any:
        return None if obj is None else self.sql_type().to_sql_type(self.serialize(obj))

    def from_sql_type(self, obj: Any) -> Any:
        value = self.sql_type().from_sql_type(obj)
        return None if value is None else self.deserialize(value)

    def serialize(self, obj: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must implement serialize(obj).")

    def deserialize(self, datum: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must implement deserialize(datum).")


def quoted(name: str) -> str:
    """A name as SQL writes it for certain."""
    return "`" + name.replace("`", "``") + "`"


def _fields_text(fields: Sequence[RowField], serializable: bool) -> str:
    return ", ".join(f"{quoted(field.name)} {_inner(field.data_type, serializable)}" for field in fields)


def _inner(data_type: DataType, serializable: bool) -> str:
    return data_type.as_serializable_string() if serializable else data_type.as_summary_string()


def _require_type(data_type: Any, what: str) -> DataType:
    if not isinstance(data_type, DataType):
        raise ProgramError(f"{what} must be a DataType such as DataTypes.INT(), but is {data_type!r}")
    return data_type


def _only_in_accumulators(name: str) -> NotSupportedError:
    return NotSupportedError(f"{name} can be used only in the accumulator type of an AggregateFunction.")
