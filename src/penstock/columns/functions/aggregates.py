"""Aggregate functions and functions over windows: their types; operators compute them."""

from __future__ import annotations

from penstock.columns.functions import results
from penstock.columns.functions.arguments import ANY, INTEGER, NUMBER, ORDERED, TEXT, anything, takes
from penstock.columns.functions.function import Function, Role, SignatureError, Site
from penstock.columns.typesystem import decimals, families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.columns.typesystem.nested import ArrayType, MultisetType
from penstock.columns.typesystem.scalars import DecimalType

_BIGINT = DataTypes.BIGINT(False)
_DOUBLE = DataTypes.DOUBLE()
_STRING = DataTypes.STRING()
_JSON_TEXT = DataTypes.VARCHAR(2000, False)


def _sum_type(site: Site) -> DataType:
    given = site.types[0]
    return decimals.of_total(given).with_nullability(given.is_nullable) if isinstance(given, DecimalType) else given


def _average_type(site: Site) -> DataType:
    given = site.types[0]
    return decimals.of_average(given).with_nullability(given.is_nullable) if isinstance(given, DecimalType) else given


def _lag_arguments(site: Site) -> tuple[DataType, ...]:
    if not 1 <= len(site.types) <= 3:
        raise SignatureError("it takes (value[, offset[, default]])")
    if len(site.types) > 1 and not families.is_integer(site.types[1]):
        raise SignatureError("the offset must be a whole number")
    return (*site.types[:2], *(site.types[0].with_nullability(one.is_nullable) for one in site.types[2:]))


def _lag_type(site: Site) -> DataType:
    given = site.types[0]
    defaulted = len(site.types) == 3 and not site.types[2].is_nullable
    return given.with_nullability(not defaulted)


def _aggregate(name: str, arguments: object, result: object, *sql: str, role: Role = Role.AGGREGATE) -> Function:
    return Function(name, arguments, result, None, sql or (name.upper(),), role)  # type: ignore[arg-type]


def _over(name: str, arguments: object, result: object) -> Function:
    return _aggregate(name, arguments, result, role=Role.OVER)


AGGREGATES: tuple[Function, ...] = (
    _aggregate("count", anything(0), lambda site: _BIGINT),
    _aggregate("sum", takes(NUMBER), _sum_type),
    _aggregate("sum0", takes(NUMBER), lambda site: _sum_type(site).not_null(), "$SUM0"),
    _aggregate("avg", takes(NUMBER), _average_type),
    _aggregate("max", takes(ORDERED), results.like()),
    _aggregate("min", takes(ORDERED), results.like()),
    _aggregate("stddevPop", takes(NUMBER), _average_type, "STDDEV_POP"),
    _aggregate("stddevSamp", takes(NUMBER), _average_type, "STDDEV_SAMP", "STDDEV"),
    _aggregate("varPop", takes(NUMBER), _average_type, "VAR_POP"),
    _aggregate("varSamp", takes(NUMBER), _average_type, "VAR_SAMP", "VARIANCE"),
    _aggregate("collect", takes(ANY), lambda site: MultisetType(site.types[0], False)),
    _aggregate("ARRAY_AGG", takes(ANY), results.as_array),
    _aggregate(
        "listAgg",
        takes(TEXT, TEXT, optional=1),
        lambda site: DataTypes.STRING(not site.sql or site.types[0].is_nullable),
        "LISTAGG",
    ),
    _aggregate("first_value", anything(1, 2), results.like()),
    _aggregate("last_value", anything(1, 2), results.like()),
    _aggregate(
        "PERCENTILE",
        anything(2, 3),
        lambda site: ArrayType(DataTypes.DOUBLE()) if isinstance(site.types[1], ArrayType) else _DOUBLE,
    ),
    _aggregate("approxCountDistinct", takes(ANY), lambda site: _BIGINT, "APPROX_COUNT_DISTINCT"),
    _aggregate("singleValue", takes(ANY), results.nullable_like(), "SINGLE_VALUE"),
    _aggregate("JSON_OBJECTAGG", anything(2, 2), lambda site: _JSON_TEXT),
    _aggregate("JSON_ARRAYAGG", takes(ANY), lambda site: _JSON_TEXT),
)

OVER_FUNCTIONS: tuple[Function, ...] = (
    _over("row_number", takes(), lambda site: _BIGINT),
    _over("rank", takes(), lambda site: _BIGINT),
    _over("dense_rank", takes(), lambda site: _BIGINT),
    _over("ntile", takes(INTEGER), lambda site: _BIGINT),
    _over("percent_rank", takes(), lambda site: _DOUBLE.not_null()),
    _over("cume_dist", takes(), lambda site: _DOUBLE.not_null()),
    _over("lag", _lag_arguments, _lag_type),
    _over("lead", _lag_arguments, _lag_type),
    _over("nth_value", takes(ANY, INTEGER), results.nullable_like()),
)

GROUPING: tuple[Function, ...] = (
    _aggregate("grouping", takes(ANY), lambda site: _BIGINT),
    _aggregate("grouping_id", takes(ANY, repeated=True), lambda site: _BIGINT),
    _aggregate("group_id", takes(), lambda site: _BIGINT),
)
