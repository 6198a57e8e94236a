"""The lines of whole columns are those that each row has by itself."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.table.formats.base import FormatOptions
from penstock.table.formats.registry import FORMATS
from penstock.table.logical.nodes import Field

_PLAIN = {"write-bigdecimal-in-scientific-notation": "false"}
_CHARACTERS = st.sampled_from("ab-z\"', \n\\é€;|")
TEXTS = st.one_of(
    st.none(), st.text(_CHARACTERS, max_size=30), st.text("abc", max_size=24), st.text("abcé", min_size=24)
)


def lines(column: pa.Array, data_type: DataType, options: dict[str, str]) -> list[str]:
    encoder = FORMATS["csv"].encoder_of((Field("x", data_type),), FormatOptions("csv", "t", options))
    return [line.decode() for line in encoder.encode([column], None, len(column))]


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=5), st.sampled_from('",ü'), st.sampled_from(",;|"))
def test_texts_are_quoted_one_by_one(texts: list[Any], quote: str, separator: str) -> None:
    quote = '"' if quote == separator else quote
    last = max(quote, separator, "\n")

    def written(text: str | None) -> str:
        if text is None:
            return ""
        if len(text) <= 24 and not any(character <= last for character in text):
            return text
        return quote + text.replace(quote, quote * 2) + quote

    options = {"quote-character": quote, "field-delimiter": separator}
    column = pa.array(["?", *texts, "?"], pa.string()).slice(1, len(texts))
    assert lines(column, DataTypes.STRING(), options) == [written(text) for text in texts]


NUMBERS = st.one_of(
    st.integers(-(10**18) + 1, 10**18 - 1), st.integers(-10_000, 10_000).map(lambda number: number * 10)
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(NUMBERS, NUMBERS, st.none()), min_size=1, max_size=8), st.integers(0, 7), st.booleans())
def test_decimals_lose_their_zeros_one_by_one(digits: list[int | None], scale: int, plain: bool) -> None:
    exact = Context(prec=40)
    values = [None if number is None else Decimal(number).scaleb(-scale, exact) for number in digits]

    def written(value: Decimal | None) -> str:
        if value is None:
            return ""
        short = exact.normalize(value)
        return format(short, "f") if plain else str(short)

    found = lines(pa.array(values, pa.decimal128(18, scale)), DataTypes.DECIMAL(18, scale), _PLAIN if plain else {})
    assert found == [written(value) for value in values]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-(10**13), 10**13), st.integers(1, 90)), min_size=1, max_size=40), st.booleans())
def test_moments_in_runs(runs: list[tuple[int, int]], with_null: bool) -> None:
    ticks: list[int | None] = [tick for tick, length in runs for _ in range(length)]
    ticks += [None] if with_null else []
    for data_type in (DataTypes.TIMESTAMP(3), DataTypes.TIMESTAMP_LTZ(3)):
        column = pa.array([0, *ticks], pa.int64()).cast(to_arrow_type(data_type)).slice(1)
        alone = {tick: lines(pa.array([tick], column.type), data_type, {})[0] for tick in set(ticks)}
        assert lines(column, data_type, {}) == [alone[tick] for tick in ticks]


ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
        TEXTS,
        st.one_of(st.none(), st.integers(0, 10**12)),
        st.text("abc", max_size=24),
        st.text("ab,", min_size=25, max_size=30),
        st.booleans(),
    ),
    min_size=1,
    max_size=5,
)
TYPES = (
    DataTypes.BIGINT(),
    DataTypes.STRING(),
    DataTypes.TIMESTAMP(3),
    DataTypes.STRING(),
    DataTypes.STRING(),
    DataTypes.BOOLEAN(),
)


@settings(max_examples=300, deadline=None)
@given(
    ROWS,
    st.lists(st.sampled_from(range(len(TYPES))), min_size=1, max_size=4),
    st.sampled_from(({}, {"null-literal": "n,a"}, {"quote-character": "'"}, {"disable-quote-character": "true"})),
    st.sampled_from(",;\t|"),
)
def test_the_block_of_a_batch_is_the_lines_of_its_rows(
    rows: list[tuple[Any, ...]], places: list[int], options: dict[str, str], separator: str
) -> None:
    """Whoever writes them: Arrow where it can, else a join of the columns."""
    fields = tuple(Field(f"c{number}", TYPES[place]) for number, place in enumerate(places))
    given_options = FormatOptions("csv", "t", {**options, "field-delimiter": separator})
    encoder = FORMATS["csv"].encoder_of(fields, given_options)
    columns = [pa.array([row[place] for row in rows]).cast(to_arrow_type(TYPES[place])) for place in places]
    one_by_one = [encoder.encode([c.slice(number, 1) for c in columns], None, 1)[0] for number in range(len(rows))]
    assert bytes(encoder.block(columns, None, len(rows))) == b"".join(line + b"\n" for line in one_by_one)
