"""Parts of texts of a whole column are those of each text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.columns.kernels.datum import Invocation
from penstock.columns.kernels.strings import replace, split_index
from penstock.columns.typesystem.data_types import DataTypes

TEXTS = st.lists(st.one_of(st.none(), st.text("a/é&", max_size=8)), min_size=1, max_size=8)
TEXT, NUMBER = DataTypes.STRING(), DataTypes.INT()


def sliced(texts: list[Any]) -> pa.Array:
    return pa.array(["/x/", *texts, "y/"], pa.string()).slice(1, len(texts))


@settings(max_examples=500, deadline=None)
@given(TEXTS, st.sampled_from(("/", "é", "a/", "&")), st.lists(st.integers(0, 4), min_size=1, max_size=3))
def test_split_index(texts: list[Any], separator: str, places: list[int]) -> None:
    column = sliced(texts)
    for place in places:
        call = Invocation([column, pa.scalar(separator), pa.scalar(place)], [TEXT, TEXT, NUMBER], TEXT, len(texts))
        found = split_index(call)
        found.validate(full=True)
        expected = [text.split(separator) if text else [] for text in texts]
        assert found.to_pylist() == [parts[place] if place < len(parts) else None for parts in expected]


def test_columns_of_nothing() -> None:
    for texts in ([], [None, None], ["", ""], ["a", "b"]):
        call = Invocation([pa.array(texts, pa.string()), pa.scalar("/"), pa.scalar(1)], [TEXT, TEXT, NUMBER], TEXT, 2)
        assert split_index(call).to_pylist() == [None] * len(texts)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.sampled_from(("", "a", "/", "é&", "aa")), st.sampled_from(("", "x", "aa")))
def test_replace(texts: list[Any], search: str, replacement: str) -> None:
    call = Invocation([sliced(texts), pa.scalar(search), pa.scalar(replacement)], [TEXT] * 3, TEXT, len(texts))
    expected = [None if text is None else text.replace(search, replacement) for text in texts]
    assert replace(call).to_pylist() == expected
