"""Rules for results: the type that a function gives for the types it was given."""

from __future__ import annotations

from collections.abc import Callable

from penstock.columns.functions.function import ResultRule, Site
from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.merging import common_type
from penstock.columns.typesystem.nested import ArrayType, RowType
from penstock.columns.typesystem.scalars import MAX_LENGTH, CharType, VarCharType


def of(data_type: DataType) -> ResultRule:
    """Null exactly when an argument may be."""
    return lambda site: data_type.with_nullability(site.any_nullable)


def of_fields(data_type: DataType) -> ResultRule:
    """Null when an argument may be, or a field of a row."""
    return lambda site: data_type.with_nullability(any(map(_may_hold_null, site.types)))


def _may_hold_null(data_type: DataType) -> bool:
    if isinstance(data_type, RowType) and not data_type.is_nullable:
        return any(_may_hold_null(kind) for kind in data_type.field_types())
    return data_type.is_nullable


def maybe(data_type: DataType) -> ResultRule:
    return lambda site: data_type.nullable()


def maybe_in_sql(data_type: DataType) -> ResultRule:
    """SQL takes results for nullable that the Table API knows to be null only when an argument is."""
    return lambda site: data_type.with_nullability(site.sql or site.any_nullable)


def never_null(data_type: DataType) -> ResultRule:
    return lambda site: data_type.not_null()


def like(place: int = 0) -> ResultRule:
    """The type of an argument, null when any of them may be."""
    return lambda site: site.types[place].with_nullability(site.any_nullable)


def nullable_like(place: int = 0) -> ResultRule:
    return lambda site: site.types[place].nullable()


def common(skip: int = 0, all_null: bool = False) -> ResultRule:
    """The common type; with all_null it is null only when every argument may be (COALESCE)."""

    def rule(site: Site) -> DataType:
        found = common_type(site.types[skip:]) or scalars.NullType()
        if all_null:
            return found.with_nullability(all(data_type.is_nullable for data_type in site.types[skip:]))
        return found.with_nullability(any(data_type.is_nullable for data_type in site.types))

    return rule


def varying_text(place: int = 0, null_in_sql: bool = False) -> ResultRule:
    """A text of at most the argument's length."""

    def rule(site: Site) -> DataType:
        length = _length(site.types[place])
        return VarCharType(length, (null_in_sql and site.sql) or site.any_nullable)

    return rule


def joined_text(site: Site) -> DataType:
    """`a || b`: as long as both together; CHAR when both are."""
    total = min(sum(_length(data_type) for data_type in site.types), MAX_LENGTH)
    make = CharType if all(isinstance(data_type, CharType) for data_type in site.types) else VarCharType
    return make(total, site.any_nullable)


def _length(data_type: DataType) -> int:
    return data_type.length if isinstance(data_type, (CharType, VarCharType)) else MAX_LENGTH


def element(nullable: bool | None = None) -> ResultRule:
    def rule(site: Site) -> DataType:
        array = site.types[0]
        assert isinstance(array, ArrayType)
        inner = array.element_type
        return inner.with_nullability(site.types[0].is_nullable or inner.is_nullable if nullable is None else nullable)

    return rule


def as_array(site: Site) -> DataType:
    return ArrayType(site.types[0], site.types[0].is_nullable)


def computed(rule: Callable[[Site], DataType]) -> ResultRule:
    """A type that depends on types or literals; null when an argument may be."""
    return lambda site: rule(site).with_nullability(site.any_nullable)
