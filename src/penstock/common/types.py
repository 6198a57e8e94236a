"""Rows: the records of typed streams whose fields have names or only positions."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any, cast

from penstock.common.errors import NotSupportedError

__all__ = ["Row", "RowKind"]


class RowKind(Enum):
    """What a row means in a changelog: an insertion, one half of an update, or a deletion."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return _KIND_TEXT[self.value]

    def to_j_row_kind(self) -> Any:
        raise NotSupportedError(
            "RowKind.to_j_row_kind() has nothing to return: Penstock runs without Flink's Java classes."
            " Use the RowKind itself, or its value."
        )


_KIND_TEXT = ("+I", "-U", "+U", "-D")
_INSERT = RowKind.INSERT


class Row:
    """A record with a fixed number of fields, by position or by name, and a :class:`RowKind`.

    >>> Row("tea", 2)
    <Row('tea', 2)>
    >>> order = Row(item="tea", count=2)
    >>> order.item, order["count"], order[0]
    ('tea', 2, 'tea')

    A row of names is also a factory of rows that have these names:

    >>> Order = Row("item", "count")
    >>> Order("tea", 2)
    Row(item='tea', count=2)

    Fields are changed with ``row[0] = ...`` or ``row["count"] = ...``; attributes are read-only.
    """

    __slots__ = ("_fields", "_row_kind", "_values")

    _values: Sequence[Any]
    _fields: list[str] | None
    _row_kind: RowKind

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError("A Row takes either positional values or named ones, not both at once.")
        if kwargs:
            self._values = list(kwargs.values())
            self._fields = list(kwargs)
        else:
            self._values = list(args)
            self._fields = None
        self._row_kind = _INSERT

    @staticmethod
    def _of(values: Sequence[Any], fields: list[str] | None = None, kind: RowKind = _INSERT) -> Row:
        """The constructor of hot paths: nothing is checked or copied; rows may share one list of names."""
        row = _new(Row)
        row._values = values
        row._fields = fields
        row._row_kind = kind
        return row

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """Creates a row of the given kind, for example ``Row.of_kind(RowKind.DELETE, "tea", 2)``."""
        row = Row(*args, **kwargs)
        row.set_row_kind(row_kind)
        return row

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The fields by name; with ``recursive`` also rows inside fields, lists and dicts become dicts."""
        if self._fields is None:
            raise TypeError("A Row without field names cannot become a dict; give names with set_field_names().")
        if not recursive:
            return dict(zip(self._fields, self._values, strict=False))
        return {name: _rows_to_dicts(value) for name, value in zip(self._fields, self._values, strict=False)}

    def get_row_kind(self) -> RowKind:
        return self._row_kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        if not isinstance(row_kind, RowKind):
            raise TypeError(f"The kind of a Row is a RowKind such as RowKind.DELETE, not {row_kind!r}.")
        self._row_kind = row_kind

    def set_field_names(self, field_names: list[str]) -> None:
        """Gives the values of this row names, in the order of the positions."""
        self._fields = list(field_names)

    def get_fields_by_names(self, names: list[str]) -> list[Any]:
        """The values of the named fields in the order asked for; all values if this row has no names."""
        if self._fields is None:
            return list(self._values)
        return [self._values[self._position(name)] for name in names]

    def _position(self, name: str) -> int:
        try:
            return cast(list[str], self._fields).index(name)
        except ValueError:
            raise ValueError(f"The row has no field {name!r}; its fields are {self._fields}.") from None

    def _is_retract_msg(self) -> bool:
        return self._row_kind is RowKind.UPDATE_BEFORE or self._row_kind is RowKind.DELETE

    def _is_accumulate_msg(self) -> bool:
        return self._row_kind is RowKind.UPDATE_AFTER or self._row_kind is _INSERT

    def __contains__(self, item: Any) -> bool:
        return item in (self._values if self._fields is None else self._fields)

    def __call__(self, *args: Any) -> Row:
        """Creates a row whose field names are the values of this one."""
        if len(args) > len(self._values):
            raise ValueError(f"The row factory {self!r} has {len(self._values)} fields, but got {len(args)}: {args}.")
        return Row._of(list(args), list(self._values))

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, int):
            return self._values[item]
        if isinstance(item, slice):
            return list(self._values[item])
        return self._values[self._named_position(item)]

    def __setitem__(self, key: Any, value: Any) -> None:
        position = key if isinstance(key, (int, slice)) else self._named_position(key)
        if not isinstance(self._values, list):
            self._values = list(self._values)
        self._values[position] = value

    def _named_position(self, name: str) -> int:
        if self._fields is None:
            raise KeyError(f"The row has no field names, so there is no field {name!r}; use a position.")
        return self._position(name)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            fields = self._fields
            if fields is not None and name in fields:
                position = fields.index(name)
                if position < len(self._values):
                    return self._values[position]
        raise AttributeError(name)

    def __reduce__(self) -> tuple[Callable[..., Row], tuple[Any, ...]]:
        return _reduce(self)

    def __copy__(self) -> Row:
        return Row._of(list(self._values), self._fields, self._row_kind)

    def __repr__(self) -> str:
        if self._fields is None:
            return "<Row({})>".format(", ".join(map(repr, self._values)))
        pairs = zip(self._fields, self._values, strict=False)
        return "Row({})".format(", ".join(f"{name}={value!r}" for name, value in pairs))

    def __eq__(self, other: object) -> bool:
        if type(other) is not Row:
            return False
        if self._row_kind is not other._row_kind:
            return False
        if self._fields == other._fields:
            mine, theirs = self._values, other._values
            return mine == theirs if type(mine) is type(theirs) else list(mine) == list(theirs)
        if self._fields is None or other._fields is None:
            return False
        return self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        # Named rows are equal whatever the order of their fields, so the hash must not see it either.
        if self._fields is None:
            return hash(tuple(self._values))
        return hash(frozenset(zip(self._fields, self._values, strict=False)))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


_new = Row.__new__


def _reduce(row: Row) -> tuple[Callable[..., Row], tuple[Any, ...]]:
    if row._row_kind is _INSERT:
        if row._fields is None:
            return _restore_positional, (row._values,)
        return _restore_named, (row._values, row._fields)
    return _restore_changed, (row._values, row._fields, row._row_kind.value)


# The pickler finds this entry without asking the row for its __reduce_ex__: a third less time for each row.
copyreg.pickle(Row, _reduce)


def _restore_positional(values: Sequence[Any]) -> Row:
    row = _new(Row)
    row._values = values
    row._fields = None
    row._row_kind = _INSERT
    return row


def _restore_named(values: Sequence[Any], fields: list[str]) -> Row:
    row = _new(Row)
    row._values = values
    row._fields = fields
    row._row_kind = _INSERT
    return row


def _restore_changed(values: Sequence[Any], fields: list[str] | None, kind: int) -> Row:
    return Row._of(values, fields, RowKind(kind))


def _rows_to_dicts(value: Any) -> Any:
    if isinstance(value, Row):
        return value.as_dict(recursive=True)
    if isinstance(value, list):
        return [_rows_to_dicts(element) for element in value]
    if isinstance(value, dict):
        return {key: _rows_to_dicts(element) for key, element in value.items()}
    return value
