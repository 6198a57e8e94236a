"""The columns of generated tables, a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import from_plain
from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.arrow_mapping import to_arrow_type, unit_of
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.option_values import parse_boolean, parse_duration
from penstock.table.logical.nodes import Field
from penstock.table.sql.errors import suggestion

BLOCK = 8_192
_PER_MILLI = {"s": 0.001, "ms": 1, "us": 1_000, "ns": 1_000_000}
_OPTIONS = ("kind", "min", "max", "max-past", "length", "var-len", "start", "end", "null-rate")
_RANGES: dict[type[DataType], tuple[int, int]] = {
    scalars.TinyIntType: (-(2**7), 2**7 - 1),
    scalars.SmallIntType: (-(2**15), 2**15 - 1),
    scalars.IntType: (-(2**31), 2**31 - 1),
    scalars.BigIntType: (-(2**63), 2**63 - 1),
}


@dataclass(frozen=True)
class Generator:
    """One column; `rows` is where a sequence ends."""

    data_type: DataType
    settings: tuple[tuple[str, str], ...]
    rows: int | None = None

    def block(self, number: int, seed: tuple[int, int], began: int, rate: int) -> pa.Array:
        """The rows from number * BLOCK on."""
        given = dict(self.settings)
        if given.get("kind") == "sequence":
            start = int(given["start"]) + number * BLOCK
            return _numbers(np.arange(start, start + BLOCK), self.data_type)
        generator = np.random.default_rng([*seed, number])
        column = _random(self.data_type, given, generator, number, began, rate)
        rate_of_nulls = float(given.get("null-rate", 0))
        if rate_of_nulls <= 0:
            return column
        keep = pa.array(generator.random(BLOCK) >= rate_of_nulls)
        return pc.if_else(keep, column, pa.scalar(None, column.type))


def generator_of(field: Field, given: dict[str, str], table: str) -> Generator:
    for key in given:
        if key not in _OPTIONS and not key.startswith("element."):
            raise ProgramError(f"'fields.{field.name}.{key}' of {table} is not known.{suggestion(key, _OPTIONS)}")
    kind = given.get("kind", "random")
    if kind not in ("random", "sequence"):
        raise ProgramError(f"'fields.{field.name}.kind' of {table} is '{kind}', but can be random or sequence.")
    if kind == "random":
        _supported(field, table)
        return Generator(field.data_type, tuple(given.items()))
    if "start" not in given or "end" not in given:
        raise ProgramError(f"The sequence {field.name!r} of {table} needs 'fields.{field.name}.start' and '.end'.")
    if not isinstance(field.data_type, (*_RANGES, scalars.VarCharType, scalars.FloatType, scalars.DoubleType)):
        raise NotSupportedError(f"A sequence cannot be {field.data_type.as_summary_string()} (column {field.name!r}).")
    return Generator(field.data_type, tuple(given.items()), int(given["end"]) - int(given["start"]) + 1)


def _supported(field: Field, table: str) -> None:
    kind = field.data_type
    kinds = (*_RANGES, *_MAKERS, ArrayType)
    if not isinstance(kind, kinds):
        raise NotSupportedError(
            f"datagen cannot make {kind.as_summary_string()} for the column {field.name!r} of {table}."
        )


def _numbers(values: Any, data_type: DataType) -> pa.Array:
    return pa.array(values).cast(to_arrow_type(data_type))


def _random(
    data_type: DataType, given: dict[str, str], generator: np.random.Generator, number: int, began: int, rate: int
) -> pa.Array:
    if type(data_type) in _RANGES:
        low, high = _RANGES[type(data_type)]
        low, high = int(given.get("min", low)), int(given.get("max", high))
        return _numbers(generator.integers(low, high, BLOCK, endpoint=True), data_type)
    if isinstance(data_type, ArrayType):
        size = int(given.get("length", 3))
        inner = {key.removeprefix("element."): value for key, value in given.items() if key.startswith("element.")}
        parts = [_random(data_type.element_type, inner, generator, number, began, rate) for _ in range(size)]
        rows = zip(*(part.to_pylist() for part in parts), strict=True) if size else [()] * BLOCK
        return pa.array([list(row) for row in rows], to_arrow_type(data_type))
    if isinstance(data_type, (scalars.TimestampType, scalars.LocalZonedTimestampType)):
        return _moments(data_type, given, generator, number, began, rate)
    return _MAKERS[type(data_type)](data_type, given, generator)


def _moments(
    data_type: Any, given: dict[str, str], generator: np.random.Generator, number: int, began: int, rate: int
) -> pa.Array:
    """The moment at which the row is due, less a random part of `max-past`."""
    due = began + (np.arange(number * BLOCK, (number + 1) * BLOCK) * 1000) // rate
    past = parse_duration(given.get("max-past", "0 ms"))
    millis = due - (generator.integers(0, past, BLOCK, endpoint=True) if past else 0)
    ticks = (millis * _PER_MILLI[unit_of(data_type.precision)]).astype(np.int64)
    return pa.array(ticks).cast(to_arrow_type(data_type))


def _texts(data_type: Any, given: dict[str, str], generator: np.random.Generator) -> pa.Array:
    declared = data_type.length if data_type.length != scalars.MAX_LENGTH else 100
    size = int(given.get("length", declared))
    digits = generator.bytes((size + 1) // 2 * BLOCK).hex()
    width = (size + 1) // 2 * 2
    texts = [digits[start : start + size] for start in range(0, width * BLOCK, width)]
    if parse_boolean(given.get("var-len", "false")):
        texts = [text[:cut] for text, cut in zip(texts, generator.integers(1, size + 1, BLOCK), strict=True)]
    return pa.array(texts, pa.string())


def _bytes(data_type: Any, given: dict[str, str], generator: np.random.Generator) -> pa.Array:
    size = int(given.get("length", data_type.length if data_type.length != scalars.MAX_LENGTH else 100))
    raw = generator.bytes(size * BLOCK)
    return pa.array([raw[start * size : (start + 1) * size] for start in range(BLOCK)], pa.binary())


def _floats(data_type: DataType, given: dict[str, str], generator: np.random.Generator) -> pa.Array:
    low, high = float(given.get("min", 0)), float(given.get("max", 3.4e38))
    return _numbers(generator.random(BLOCK) * (high - low) + low, data_type)


def _decimals(data_type: Any, given: dict[str, str], generator: np.random.Generator) -> pa.Array:
    limit = Decimal(10) ** (data_type.precision - data_type.scale) - 1
    low, high = Decimal(given.get("min", "0")), Decimal(given.get("max", str(limit)))
    step = Decimal(1).scaleb(-data_type.scale)
    values = [(low + (high - low) * Decimal(share)).quantize(step) for share in generator.random(BLOCK).tolist()]
    return from_plain(values, data_type)


def _booleans(data_type: DataType, given: dict[str, str], generator: np.random.Generator) -> pa.Array:
    return pa.array(generator.random(BLOCK) < 0.5)


def _dates(data_type: DataType, given: dict[str, str], generator: np.random.Generator) -> pa.Array:
    return from_plain(generator.integers(0, 20_000, BLOCK).tolist(), data_type)


def _times(data_type: Any, given: dict[str, str], generator: np.random.Generator) -> pa.Array:
    ticks = (generator.integers(0, 86_400_000, BLOCK) * _PER_MILLI[unit_of(data_type.precision)]).astype(np.int64)
    return from_plain(ticks.tolist(), data_type)


_MAKERS: dict[type[DataType], Callable[..., pa.Array]] = {
    scalars.CharType: _texts,
    scalars.VarCharType: _texts,
    scalars.BinaryType: _bytes,
    scalars.VarBinaryType: _bytes,
    scalars.FloatType: _floats,
    scalars.DoubleType: _floats,
    scalars.DecimalType: _decimals,
    scalars.BooleanType: _booleans,
    scalars.DateType: _dates,
    scalars.TimeType: _times,
    scalars.TimestampType: _moments,
    scalars.LocalZonedTimestampType: _moments,
}
