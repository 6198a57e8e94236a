"""Window table functions TUMBLE, HOP, CUMULATE, SESSION: their arguments and the columns they add."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.columns.typesystem import families
from penstock.columns.typesystem.intervals import DayTimeIntervalType
from penstock.columns.typesystem.scalars import LocalZonedTimestampType, TimestampType
from penstock.table.logical.nodes import Field, Relation, WindowAssignment, unique_names
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax.position import Position

# The parameters of each function by position; OFFSET may be left out.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}


def is_window(name: str) -> bool:
    return name.upper() in PARAMETERS


def arguments_by_name(call: syntax.Call) -> dict[str, syntax.Expr]:
    """DATA, TIMECOL, SIZE and so on, whether they were given by position or by name."""
    names = PARAMETERS[call.function.upper()]
    found: dict[str, syntax.Expr] = {}
    for place, argument in enumerate(call.arguments):
        if isinstance(argument, syntax.Named):
            name, value = argument.name.upper(), argument.value
            if name not in names:
                raise SqlValidationError(
                    f"{call.function} has no parameter {argument.name!r}.{suggestion(name, names)}", argument.position
                )
        elif place < len(names):
            name, value = names[place], argument
        else:
            raise SqlValidationError(f"{call.function} takes {', '.join(names)}.", call.position)
        found[name] = value
    missing = [name for name in names if name not in found and name != "OFFSET"]
    if missing:
        raise SqlValidationError(
            f"{call.function} misses {', '.join(missing)}: it takes {', '.join(names)}.", call.position
        )
    return found


def assign(source: Relation, call: syntax.Call, partition_by: tuple[int, ...]) -> Relation:
    """The source with window_start, window_end and window_time."""
    kind = call.function.upper()
    given = arguments_by_name(call)
    column = _time_column(source, given["TIMECOL"], kind)
    millis = {name: _millis(value, name, kind) for name, value in given.items() if name not in ("DATA", "TIMECOL")}
    size = millis.get("SIZE", millis.get("GAP", 0))
    slide = millis.get("SLIDE", millis.get("STEP"))
    if size <= 0 or (slide is not None and slide <= 0):
        raise SqlValidationError(f"{kind} needs positive intervals.", call.position)
    if kind == "CUMULATE" and slide is not None and size % slide:
        raise SqlValidationError("CUMULATE needs a SIZE that is a multiple of STEP.", call.position)
    offset = millis.get("OFFSET", 0)
    if kind == "TUMBLE" and abs(offset) >= size:  # in HOP and CUMULATE it may be any, as in Flink
        raise SqlValidationError(f"TUMBLE needs an OFFSET below its SIZE, {size} ms, not {offset} ms.", call.position)
    return windowed(source, kind, column, size, slide, offset, partition_by)


def windowed(
    source: Relation,
    kind: str,
    column: int,
    size: int,
    slide: int | None,
    offset: int,
    partition_by: tuple[int, ...] = (),
) -> Relation:
    time = source.fields[column]
    zoned = isinstance(time.data_type, LocalZonedTimestampType)
    stamp = LocalZonedTimestampType(3, False) if zoned else TimestampType(3, False)
    names = unique_names([*source.names, "window_start", "window_end", "window_time"])[-3:]
    added = (
        Field(names[0], TimestampType(3, False)),
        Field(names[1], TimestampType(3, False)),
        Field(names[2], stamp, time.time),
    )
    return WindowAssignment((*source.fields, *added), source, kind, column, size, slide, offset, partition_by)


def with_time_type(relation: Relation, column: int) -> Relation:
    """As group windows have it: their time may be null when the column may, which it is not in window functions."""
    *others, time = relation.fields
    return replace(relation, fields=(*others, Field(time.name, relation.fields[column].data_type, time.time)))


def _time_column(source: Relation, argument: syntax.Expr, kind: str) -> int:
    if not isinstance(argument, syntax.Descriptor) or len(argument.columns) != 1:
        raise SqlValidationError(f"{kind} takes its time column as DESCRIPTOR(column).", argument.position)
    name = argument.columns[0]
    if name not in source.names:
        raise SqlValidationError(f"There is no column {name!r}.{suggestion(name, source.names)}", argument.position)
    place = source.names.index(name)
    check_time(source.fields[place], kind, argument.position)
    return place


def check_time(field: Field, kind: str, position: Position | None) -> None:
    if not families.is_timestamp(field.data_type) or field.time is None:
        raise SqlValidationError(
            f"{kind} needs a time attribute, but {field.name!r} is {field.shown_type()}:"
            " declare it with WATERMARK FOR, or as PROCTIME().",
            position,
        )


def _millis(value: syntax.Expr, name: str, kind: str) -> int:
    if isinstance(value, syntax.Literal) and isinstance(value.data_type, DayTimeIntervalType):
        found: Any = value.value
        return int(found)
    raise SqlValidationError(
        f"{name} of {kind} must be an interval of days or less, as INTERVAL '1' HOUR.", value.position
    )
