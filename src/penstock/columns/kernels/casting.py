"""CAST: values of one type become values of another, with Java's rules for numbers and Flink's text forms."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels import decimal_columns
from penstock.columns.kernels.cast_to_text import texts_of
from penstock.columns.kernels.datum import (
    Datum,
    Session,
    as_array,
    as_numpy,
    cast_storage,
    constant,
    from_numpy,
    from_plain,
    plain_values,
)
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.kernels.moment_text import date_of, local_nanos_of, nanos_of_day
from penstock.columns.kernels.time_columns import cut_to_precision, finest, from_local, local_ticks, rescaled, unit
from penstock.columns.kernels.time_zone import to_instant
from penstock.columns.kernels.usual_texts import read_usual
from penstock.columns.typesystem import decimals, families, scalars
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType, IntegralType
from penstock.columns.typesystem.intervals import YearMonthIntervalType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType


def cast(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool = False) -> Datum:
    """The values as the target type; with safe, null in place of a failure."""
    if source.same_but_nullability(target):
        return datum
    if families.is_null(source):
        nulls = pa.nulls(len(as_array(datum, 1)), to_arrow_type(target))
        return nulls[0] if isinstance(datum, pa.Scalar) else nulls
    for applies, convert in _RULES:
        if applies(source, target):
            return convert(datum, source, target, session, safe)
    raise ValueFailure(f"There is no cast from {source.as_summary_string()} to {target.as_summary_string()}")


_Convert = Callable[[Datum, DataType, DataType, Session, bool], Datum]


def _to_text(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    texts = texts_of(datum, source, session.zone)
    return with_text_length(texts, target)


def with_text_length(texts: Datum, target: DataType) -> Datum:
    """Cut to the length of the type; CHAR is filled up with spaces."""
    if isinstance(target, scalars.CharType):
        return pc.utf8_rpad(pc.utf8_slice_codeunits(texts, 0, target.length), target.length)
    if isinstance(target, scalars.VarCharType) and target.length != scalars.MAX_LENGTH:
        return pc.utf8_slice_codeunits(texts, 0, target.length)
    return texts


def _number_to_number(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    arrow_type = to_arrow_type(target)
    if isinstance(target, scalars.DecimalType):
        return _number_to_decimal(datum, source, target)
    if isinstance(source, scalars.DecimalType):
        if isinstance(target, IntegralType):
            return _decimal_to_integer(datum, arrow_type)
        return cast_storage(decimal_columns.as_doubles(datum), arrow_type)
    if families.is_floating(source) and isinstance(target, IntegralType):
        return _floating_to_integer(datum, arrow_type)
    return cast_storage(datum, arrow_type)


def _number_to_decimal(datum: Datum, source: DataType, target: scalars.DecimalType) -> Datum:
    if not families.is_floating(source):
        return decimal_columns.rescale(datum, target)
    single = isinstance(source, scalars.FloatType)
    values = [
        None if value is None else decimals.fit(Decimal(str(np.float32(value)) if single else repr(value)), target)
        for value in as_array(datum, 1).to_pylist()
    ]
    found = pa.array(values, to_arrow_type(target))
    return found[0] if isinstance(datum, pa.Scalar) else found


def _decimal_to_integer(datum: Datum, arrow_type: pa.DataType) -> Datum:
    """Cut off after the point, then the lowest bits, as Java's longValue()."""
    width = int(arrow_type.bit_width)
    half, full = 2 ** (width - 1), 2**width
    values = [
        None if value is None else (decimal_columns.whole_part(value) + half) % full - half
        for value in as_array(datum, 1).to_pylist()
    ]
    found = pa.array(values, arrow_type)
    return found[0] if isinstance(datum, pa.Scalar) else found


def _floating_to_integer(datum: Datum, arrow_type: pa.DataType) -> Datum:
    """Java's: NaN is 0, what is too large is the largest; bytes and shorts are cut from an int."""
    values, valid = as_numpy(datum)
    wide = values.astype(np.float64)
    top = 63 if arrow_type.bit_width == 64 else 31
    limit = float(2**top)
    cut = np.trunc(np.nan_to_num(wide, nan=0.0, posinf=limit, neginf=-limit))
    whole = np.clip(cut, -limit, np.nextafter(limit, 0)).astype(np.int64)
    whole = np.where(cut >= limit, 2**top - 1, whole)
    found = cast_storage(from_numpy(whole, valid, pa.int64()), arrow_type)
    return found[0] if isinstance(datum, pa.Scalar) else found


def _boolean_to_number(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    ones = pc.cast(datum, pa.int32())
    return _number_to_number(ones, scalars.IntType(), target, session, safe)


def _number_to_boolean(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    if isinstance(source, scalars.DecimalType):
        datum = decimal_columns.as_doubles(datum)
    return pc.not_equal(datum, pa.scalar(0, datum.type))


def _each_text(read: Callable[[str, DataType, Session], Any]) -> _Convert:
    """Other than usual texts are read once each; one that cannot be read fails, or is null under TRY_CAST."""

    def convert(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
        def value_of(text: str | None) -> Any:
            if text is None:
                return None
            try:
                return read(text, target, session)
            except ValueFailure:
                if safe:
                    return None
                raise

        if isinstance(datum, pa.Scalar):
            return constant(value_of(datum.as_py()), target)
        usual = read_usual(datum, target)
        if usual is not None:
            return usual
        encoded = pc.dictionary_encode(datum)
        known = from_plain([value_of(text) for text in encoded.dictionary.to_pylist()], target)
        return known.take(encoded.indices)

    return convert


def _text_to_number(text: str, target: DataType, session: Session) -> Any:
    stripped = text.strip()
    if isinstance(target, IntegralType):
        return _whole_number(stripped, text, target)
    if isinstance(target, scalars.DecimalType):
        return _decimal_number(stripped, text, target)
    if stripped[-1:] in tuple("dDfF") and stripped[-2:-1] in tuple("0123456789."):
        stripped = stripped[:-1]  # as Java writes literals
    try:
        if "_" in stripped:
            raise ValueError
        return float(
            stripped.replace("Infinity", "inf") if "inf" not in stripped.lower()[:4] else _java_infinity(stripped)
        )
    except ValueError:
        raise _unreadable(text, target) from None


def _java_infinity(text: str) -> str:
    """Java knows only `Infinity` and `NaN` in exactly this spelling."""
    if text.lstrip("+-") == "Infinity":
        return text.replace("Infinity", "inf")
    raise ValueError(text)


def _whole_number(stripped: str, text: str, target: IntegralType) -> int:
    """A fraction is cut off, an exponent is not understood."""
    body = stripped[1:] if stripped[:1] in ("+", "-") else stripped
    whole, _, fraction = body.partition(".")
    if not body or not (whole + fraction).isdigit() or not (whole + fraction).isascii():
        raise _unreadable(text, target)
    value = int(whole or "0") * (-1 if stripped[0] == "-" else 1)
    if not -(2 ** (target.WIDTH - 1)) <= value < 2 ** (target.WIDTH - 1):
        raise ValueFailure(f"Cannot parse {text!r} as {target.as_summary_string()}: it is out of range")
    return value


def _decimal_number(stripped: str, text: str, target: scalars.DecimalType) -> Decimal:
    try:
        if "_" in stripped:
            raise InvalidOperation
        value = decimals.fit(Decimal(stripped), target)
    except InvalidOperation:
        raise _unreadable(text, target) from None
    if value is None:
        raise ValueFailure(f"Cannot parse {text!r} as {target.as_summary_string()}: it has too many digits")
    return value


def _unreadable(text: str, target: DataType) -> ValueFailure:
    return ValueFailure(
        f"Cannot parse {text!r} as {target.nullable().as_summary_string()}: TRY_CAST gives NULL instead of failing"
    )


_TRUE = frozenset({"t", "true", "y", "yes", "1"})
_FALSE = frozenset({"f", "false", "n", "no", "0"})


def _text_to_boolean(text: str, target: DataType, session: Session) -> bool:
    lowered = text.lower()  # with its spaces, unlike numbers and moments, as in Flink
    if lowered in _TRUE:
        return True
    if lowered in _FALSE:
        return False
    raise _unreadable(text, target)


def _text_to_moment(text: str, target: DataType, session: Session) -> int:
    if isinstance(target, scalars.DateType):
        return date_of(text)
    want = unit(target)
    assert isinstance(target, (scalars.TimeType, *families.TIMESTAMPS))
    nanos = nanos_of_day(text) if isinstance(target, scalars.TimeType) else local_nanos_of(text)
    ticks = cut_to_precision(rescaled(np.array([nanos]), "ns", want), want, target.precision)
    if isinstance(target, scalars.LocalZonedTimestampType):
        ticks = to_instant(ticks, want, session.zone)
    return int(ticks[0])


def _text_to_text(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    return with_text_length(datum, target)


def _to_bytes(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    binary = pc.cast(datum, pa.binary())
    assert isinstance(target, families.BYTES)
    if target.length == scalars.MAX_LENGTH:
        return binary
    cut = pc.binary_slice(binary, 0, target.length)
    if not isinstance(target, scalars.BinaryType):
        return cut
    filled = [None if value is None else value.ljust(target.length, b"\0") for value in as_array(cut, 1).to_pylist()]
    found = pa.array(filled, pa.binary())
    return found[0] if isinstance(datum, pa.Scalar) else found


def _moment_to_moment(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    want = finest(source, target)
    ticks, valid = local_ticks(datum, source, session.zone, want)
    return from_local(ticks, want, valid, target, session.zone, isinstance(datum, pa.Scalar))


def _interval_to_interval(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    return datum


def _interval_to_number(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    return _number_to_number(pc.cast(datum, pa.int64()), scalars.BigIntType(), target, session, safe)


def _number_to_interval(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    whole = pc.cast(datum, pa.int64())
    return cast_storage(whole, to_arrow_type(target))


def _nested(datum: Datum, source: DataType, target: DataType, session: Session, safe: bool) -> Datum:
    """Under TRY_CAST one part that cannot be converted makes the whole value null."""
    array = as_array(datum, 1)
    try:
        found = _nested_array(array, source, target, session)
    except ValueFailure:
        if not safe:
            raise
        found = pa.concat_arrays(
            [_row_or_null(array[place : place + 1], source, target, session) for place in range(len(array))]
        )
    return found[0] if isinstance(datum, pa.Scalar) else found


def _row_or_null(array: pa.Array, source: DataType, target: DataType, session: Session) -> pa.Array:
    try:
        return _nested_array(pa.concat_arrays([array]), source, target, session)
    except ValueFailure:
        return pa.nulls(1, to_arrow_type(target))


def _nested_array(array: pa.Array, source: DataType, target: DataType, session: Session) -> pa.Array:
    """Inside out: elements first, then the same offsets and nulls."""
    inner = [cast(part, have, want, session) for part, have, want in _parts(array, source, target)]
    mask = pc.is_null(array) if array.null_count else None
    if isinstance(target, ArrayType):
        found = pa.ListArray.from_arrays(_offsets(array), inner[0], type=to_arrow_type(target))
    elif isinstance(target, MapType):
        found = pa.MapArray.from_arrays(_offsets(array), inner[0], inner[1], type=to_arrow_type(target))
    else:
        assert isinstance(target, RowType)
        fields = list(to_arrow_type(target))
        found = pa.StructArray.from_arrays(inner, fields=fields, mask=mask)
    return found


def _offsets(array: pa.Array) -> pa.Array:
    """Offsets with nulls where the list is null, which is how from_arrays is told."""
    if array.null_count == 0:
        return array.offsets
    present = pa.concat_arrays([pc.is_valid(array), pa.array([True])])
    return pc.if_else(present, array.offsets, pa.scalar(None, pa.int32()))


def _parts(array: pa.Array, source: DataType, target: DataType) -> list[tuple[pa.Array, DataType, DataType]]:
    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        return [(array.values, source.element_type, target.element_type)]
    if isinstance(source, MapType) and isinstance(target, MapType):
        return [
            (array.keys, source.key_type, target.key_type),
            (array.items, source.value_type, target.value_type),
        ]
    pairs = zip(source.children(), target.children(), strict=True)
    return [(array.field(place), have, want) for place, (have, want) in enumerate(pairs)]


def _is(*kinds: Callable[[DataType], bool]) -> Callable[[DataType, DataType], bool]:
    first, second = kinds
    return lambda source, target: first(source) and second(target)


def _is_nested(data_type: DataType) -> bool:
    return isinstance(data_type, (ArrayType, MapType, RowType)) and not isinstance(data_type, MultisetType)


def _same_family(source: DataType, target: DataType) -> bool:
    months = isinstance(source, YearMonthIntervalType)
    return (
        families.is_interval(source)
        and families.is_interval(target)
        and months == isinstance(target, YearMonthIntervalType)
    )


_RULES: tuple[tuple[Callable[[DataType, DataType], bool], _Convert], ...] = (
    (_is(families.is_text, families.is_text), _text_to_text),
    (_is(lambda _: True, families.is_text), _to_text),
    (_is(families.is_number, families.is_number), _number_to_number),
    (_is(families.is_boolean, families.is_number), _boolean_to_number),
    (_is(families.is_number, families.is_boolean), _number_to_boolean),
    (_is(families.is_text, families.is_number), _each_text(_text_to_number)),
    (_is(families.is_text, families.is_boolean), _each_text(_text_to_boolean)),
    (_is(families.is_text, families.is_moment), _each_text(_text_to_moment)),
    (_is(families.is_text, families.is_bytes), _to_bytes),
    (_is(families.is_bytes, families.is_bytes), _to_bytes),
    (_is(families.is_moment, families.is_moment), _moment_to_moment),
    (_same_family, _interval_to_interval),
    (_is(families.is_interval, families.is_number), _interval_to_number),
    (_is(families.is_integer, families.is_interval), _number_to_interval),
    (_is(_is_nested, _is_nested), _nested),
)

__all__ = ["cast", "plain_values", "with_text_length"]
