"""Values of fastavro as rows, and back."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from penstock.common.typeinfo import MapTypeInfo, RowTypeInfo, TimestampTypeInfo, TypeInformation, _ElementsTypeInfo
from penstock.common.types import Row
from penstock.formats.row_types import field_values

Converter = Callable[[Any], Any]


def row_of_record(type_info: TypeInformation) -> Converter | None:
    """From what fastavro gives; None when nothing has to be changed. Moments are the time of day in UTC."""
    if isinstance(type_info, RowTypeInfo):
        names = type_info.get_field_names()
        fields = [row_of_record(field) or _same for field in type_info.get_field_types()]
        return _unless_none(
            lambda record: Row._of([field(record[n]) for n, field in zip(names, fields, strict=True)], names)
        )
    return _inside(type_info, row_of_record) or (
        _unless_none(_without_zone) if isinstance(type_info, TimestampTypeInfo) else None
    )


def record_of_row(type_info: TypeInformation) -> Converter | None:
    """To what fastavro takes."""
    if isinstance(type_info, RowTypeInfo):
        names = type_info.get_field_names()
        fields = [record_of_row(field) or _same for field in type_info.get_field_types()]
        return _unless_none(
            lambda row: {n: f(value) for n, f, value in zip(names, fields, field_values(row, names), strict=True)}
        )
    return _inside(type_info, record_of_row) or (
        _unless_none(_in_utc) if isinstance(type_info, TimestampTypeInfo) else None
    )


def _inside(type_info: TypeInformation, of: Callable[[TypeInformation], Converter | None]) -> Converter | None:
    if isinstance(type_info, MapTypeInfo):
        value = of(type_info.value_type)
        return None if value is None else _unless_none(lambda items: {k: value(v) for k, v in items.items()})
    if isinstance(type_info, _ElementsTypeInfo):
        element = of(type_info.element_type)
        return None if element is None else _unless_none(lambda items: [element(item) for item in items])
    return None


def _without_zone(moment: datetime.datetime) -> datetime.datetime:
    return moment.astimezone(datetime.UTC).replace(tzinfo=None)


def _in_utc(moment: datetime.datetime) -> datetime.datetime:
    return moment.replace(tzinfo=datetime.UTC) if moment.tzinfo is None else moment


def _same(value: Any) -> Any:
    return value


def _unless_none(convert: Converter) -> Converter:
    return lambda value: None if value is None else convert(value)
