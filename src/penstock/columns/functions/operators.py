"""Comparison, logic, conditions and conversion."""

from __future__ import annotations

from penstock.columns.functions import results
from penstock.columns.functions.arguments import (
    ANY,
    BOOLEAN,
    ORDERED,
    TEXT,
    anything,
    compared,
    shared,
    takes,
)
from penstock.columns.functions.function import Function, Role, SignatureError, Site
from penstock.columns.kernels import arithmetic, comparison, encodings, strings
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.columns.typesystem.merging import common_type

_BOOLEAN = DataTypes.BOOLEAN()
_STRING = DataTypes.STRING()


def _members(site: Site) -> tuple[DataType, ...]:
    """The value of IN and its members: numbers meet in a common type, texts of moments are read."""
    if len(site.types) < 2:
        raise SignatureError("it takes a value and at least one member")
    value = site.types[0]
    if families.is_moment(value):
        return tuple(value.with_nullability(t.is_nullable) if families.is_text(t) else t for t in site.types)
    target = common_type(site.types)
    if target is None:
        shown = ", ".join(data_type.as_summary_string() for data_type in site.types)
        raise SignatureError(f"the value and the members must have a common type, but they are {shown}")
    return tuple(target.with_nullability(data_type.is_nullable) for data_type in site.types)


def _bounds(site: Site) -> tuple[DataType, ...]:
    if len(site.types) != 3:
        raise SignatureError("it takes a value, a lower and an upper bound")
    return _members(site)


def _if_result(site: Site) -> DataType:
    found = common_type(site.types[1:])
    assert found is not None
    # In the Table API the condition does not count.
    return found.with_nullability(any(one.is_nullable for one in (site.types if site.sql else site.types[1:])))


def _if_arguments(site: Site) -> tuple[DataType, ...]:
    if len(site.types) != 3 or not families.is_boolean(site.types[0]):
        raise SignatureError("it takes (condition, value if true, value if not)")
    return shared(2, skip=1)(site)


COMPARISON: tuple[Function, ...] = (
    Function("equals", compared(True), results.of_fields(_BOOLEAN), comparison.equals),
    Function("notEquals", compared(True), results.of_fields(_BOOLEAN), comparison.not_equals),
    Function("greaterThan", compared(False), results.of(_BOOLEAN), comparison.greater_than),
    Function("greaterThanOrEqual", compared(False), results.of(_BOOLEAN), comparison.greater_or_equal),
    Function("lessThan", compared(False), results.of(_BOOLEAN), comparison.less_than),
    Function("lessThanOrEqual", compared(False), results.of(_BOOLEAN), comparison.less_or_equal),
    Function("isNull", takes(ANY), results.never_null(_BOOLEAN), comparison.is_null),
    Function("isNotNull", takes(ANY), results.never_null(_BOOLEAN), comparison.is_not_null),
    Function("isDistinctFrom", compared(True), results.never_null(_BOOLEAN), comparison.is_distinct),
    Function("isNotDistinctFrom", compared(True), results.never_null(_BOOLEAN), comparison.is_not_distinct),
    Function("between", _bounds, results.of(_BOOLEAN), None, role=Role.LAZY),
    Function("notBetween", _bounds, results.of(_BOOLEAN), None, role=Role.LAZY),
    Function("betweenSymmetric", _bounds, results.of(_BOOLEAN), None, role=Role.LAZY),
    Function("LIKE", takes(TEXT, TEXT, TEXT, optional=1), results.of(_BOOLEAN), strings.like),
    Function("similar", takes(TEXT, TEXT, TEXT, optional=1), results.of(_BOOLEAN), strings.similar),
    Function("in", _members, results.of(_BOOLEAN), comparison.in_list),
)

LOGICAL: tuple[Function, ...] = (
    Function("or", takes(BOOLEAN, BOOLEAN, repeated=True), results.of(_BOOLEAN), None, role=Role.LAZY),
    Function("and", takes(BOOLEAN, BOOLEAN, repeated=True), results.of(_BOOLEAN), None, role=Role.LAZY),
    Function("not", takes(BOOLEAN), results.of(_BOOLEAN), comparison.negation),
    Function("isTrue", takes(BOOLEAN), results.never_null(_BOOLEAN), comparison.is_true),
    Function("isFalse", takes(BOOLEAN), results.never_null(_BOOLEAN), comparison.is_false),
    Function("isNotTrue", takes(BOOLEAN), results.never_null(_BOOLEAN), comparison.is_not_true),
    Function("isNotFalse", takes(BOOLEAN), results.never_null(_BOOLEAN), comparison.is_not_false),
)

CONDITIONAL: tuple[Function, ...] = (
    Function("ifThenElse", _if_arguments, _if_result, None, ("IF",), Role.LAZY),
    Function("COALESCE", shared(1), results.common(all_null=True), None, ("COALESCE",), Role.LAZY),
    Function("IFNULL", shared(2), results.common(all_null=True), None, ("IFNULL",), Role.LAZY),
    Function("nullIf", compared(True), results.nullable_like(0), None, ("NULLIF",), Role.LAZY),
    Function("GREATEST", shared(1, kind=ORDERED), results.common(), arithmetic.greatest, ("GREATEST",)),
    Function("LEAST", shared(1, kind=ORDERED), results.common(), arithmetic.least, ("LEAST",)),
    Function("isAlpha", takes(TEXT), results.never_null(_BOOLEAN), strings.is_alpha, ("IS_ALPHA",)),
    Function("isDecimal", takes(TEXT), results.never_null(_BOOLEAN), strings.is_decimal, ("IS_DECIMAL",)),
    Function("isDigit", takes(TEXT), results.never_null(_BOOLEAN), strings.is_digit, ("IS_DIGIT",)),
    Function("TYPEOF", anything(1, 2), results.maybe(_STRING), encodings.type_name, ("TYPEOF",)),
)
