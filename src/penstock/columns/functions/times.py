"""Functions of dates, times, timestamps and intervals."""

from __future__ import annotations

from penstock.columns.functions import results
from penstock.columns.functions.arguments import (
    ANY,
    INTEGER,
    MOMENT,
    MOMENT_OR_INTERVAL,
    MOMENT_OR_TEXT,
    NUMBER,
    NUMBER_OR_TEXT,
    TEXT,
    takes,
)
from penstock.columns.functions.function import Function, Role, SignatureError, Site
from penstock.columns.functions.mathematics import MILLISECONDS, MONTHS, _whole_type
from penstock.columns.kernels import arithmetic, calendar, time_functions
from penstock.columns.kernels.datum import Datum, Invocation, Kernel
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.columns.typesystem.intervals import YearMonthIntervalType
from penstock.columns.typesystem.scalars import DateType

_STRING = DataTypes.STRING()
_BIGINT = DataTypes.BIGINT()
_LTZ = DataTypes.TIMESTAMP_LTZ(3)


def _rounding(numbers: Kernel, moments: Kernel) -> Kernel:
    """FLOOR and CEIL: of a number, or with TO of a moment."""
    return lambda call: moments(call) if call.option("unit") else numbers(call)


def _rounding_arguments(site: Site) -> tuple[DataType, ...]:
    if site.option("unit"):
        return takes(MOMENT)(site)
    if any(families.is_moment(data_type) for data_type in site.types):
        raise SignatureError("a moment is rounded to a unit: write FLOOR(moment TO HOUR)")
    return takes(NUMBER)(site)


def _rounding_type(site: Site) -> DataType:
    return site.types[0] if site.option("unit") else _whole_type(site)


def _part(name: str, unit: str, *sql: str) -> Function:
    """YEAR(d), short for EXTRACT(YEAR FROM d)."""

    def kernel(call: Invocation) -> Datum:
        options = (("unit", unit),)
        return calendar.extract(
            Invocation(call.arguments, call.types, call.result_type, call.rows, call.session, options)
        )

    return Function(name, takes(MOMENT_OR_INTERVAL), results.of(_BIGINT), kernel, sql or (name.upper(),))


def _add_type(site: Site) -> DataType:
    """TIMESTAMPADD of less than a day to a date gives a timestamp."""
    moment = site.types[1]
    small = site.option("unit") in ("HOUR", "MINUTE", "SECOND")
    return DataTypes.TIMESTAMP(6) if isinstance(moment, DateType) and small else moment


def _between_type(site: Site) -> DataType:
    return MONTHS if isinstance(site.option("type"), YearMonthIntervalType) else MILLISECONDS


def _overlap_arguments(site: Site) -> tuple[DataType, ...]:
    found = takes(MOMENT, MOMENT_OR_INTERVAL, MOMENT, MOMENT_OR_INTERVAL)(site)
    if type(found[0]) is not type(found[2]):
        raise SignatureError("both spans must begin with the same kind of moment")
    return found


_NOW = time_functions.current_instant
_HERE = time_functions.current_local

TEMPORAL: tuple[Function, ...] = (
    Function("localTime", takes(), results.never_null(DataTypes.TIME()), _HERE, ("LOCALTIME",), deterministic=False),
    Function(
        "localTimestamp",
        takes(),
        results.never_null(DataTypes.TIMESTAMP(3)),
        _HERE,
        ("LOCALTIMESTAMP",),
        deterministic=False,
    ),
    Function(
        "currentTime", takes(), results.never_null(DataTypes.TIME()), _HERE, ("CURRENT_TIME",), deterministic=False
    ),
    Function(
        "currentDate", takes(), results.never_null(DataTypes.DATE()), _HERE, ("CURRENT_DATE",), deterministic=False
    ),
    Function("currentTimestamp", takes(), results.never_null(_LTZ), _NOW, ("CURRENT_TIMESTAMP",), deterministic=False),
    Function("now", takes(), results.never_null(_LTZ), _NOW, ("NOW",), deterministic=False),
    Function(
        "currentRowTimestamp", takes(), results.never_null(_LTZ), _NOW, ("CURRENT_ROW_TIMESTAMP",), deterministic=False
    ),
    Function("proctime", takes(), results.never_null(_LTZ), _NOW, ("PROCTIME",), deterministic=False),
    Function("extract", takes(MOMENT_OR_INTERVAL), results.of(_BIGINT), calendar.extract),
    _part("year", "YEAR"),
    _part("quarter", "QUARTER"),
    _part("month", "MONTH"),
    _part("week", "WEEK"),
    _part("dayOfYear", "DOY", "DAYOFYEAR"),
    _part("dayOfMonth", "DAY", "DAYOFMONTH"),
    _part("dayOfWeek", "DOW", "DAYOFWEEK"),
    _part("hour", "HOUR"),
    _part("minute", "MINUTE"),
    _part("second", "SECOND"),
    Function(
        "floor",
        _rounding_arguments,
        results.computed(_rounding_type),
        _rounding(arithmetic.round_down, calendar.floor_to),
        ("FLOOR",),
    ),
    Function(
        "ceil",
        _rounding_arguments,
        results.computed(_rounding_type),
        _rounding(arithmetic.round_up, calendar.ceil_to),
        ("CEIL", "CEILING"),
    ),
    Function(
        "timestampAdd", takes(INTEGER, MOMENT), results.computed(_add_type), calendar.timestamp_add, ("TIMESTAMPADD",)
    ),
    Function(
        "timestampDiff", takes(MOMENT, MOMENT), results.of(DataTypes.INT()), calendar.timestamp_diff, ("TIMESTAMPDIFF",)
    ),
    Function("intervalBetween", takes(MOMENT, MOMENT), results.computed(_between_type), calendar.interval_between),
    Function("temporalOverlaps", _overlap_arguments, results.of(DataTypes.BOOLEAN()), time_functions.overlaps),
    Function(
        "dateFormat",
        takes(MOMENT_OR_TEXT, TEXT),
        results.maybe_in_sql(_STRING),
        time_functions.date_format,
        ("DATE_FORMAT",),
    ),
    Function(
        "toDate",
        takes(TEXT, TEXT, optional=1),
        results.maybe_in_sql(DataTypes.DATE()),
        time_functions.to_date,
        ("TO_DATE",),
    ),
    Function(
        "toTimestamp",
        takes(TEXT, TEXT, optional=1),
        results.maybe_in_sql(DataTypes.TIMESTAMP(3)),
        time_functions.to_timestamp,
        ("TO_TIMESTAMP",),
    ),
    Function(
        "TO_TIMESTAMP_LTZ",
        takes(NUMBER_OR_TEXT, ANY, TEXT, optional=2),
        results.maybe(_LTZ),
        time_functions.to_timestamp_ltz,
        ("TO_TIMESTAMP_LTZ",),
    ),
    Function(
        "unixTimestamp",
        takes(TEXT, TEXT, optional=2),
        lambda site: _BIGINT.with_nullability(not site.sql or site.any_nullable),
        time_functions.unix_timestamp,
        ("UNIX_TIMESTAMP",),
    ),
    Function(
        "fromUnixtime",
        takes(INTEGER, TEXT, optional=1),
        results.maybe_in_sql(_STRING),
        time_functions.from_unixtime,
        ("FROM_UNIXTIME",),
    ),
    Function("convertTz", takes(TEXT, TEXT, TEXT), results.maybe(_STRING), time_functions.convert_tz, ("CONVERT_TZ",)),
    Function(
        "CURRENT_WATERMARK",
        takes(MOMENT),
        results.nullable_like(),
        time_functions.current_watermark,
        ("CURRENT_WATERMARK",),
        deterministic=False,
    ),
    Function(
        "SOURCE_WATERMARK",
        takes(),
        results.maybe(_LTZ),
        None,
        ("SOURCE_WATERMARK",),
        Role.PLAN,
        missing="only in the WATERMARK clause of a table whose source makes watermarks",
    ),
)
