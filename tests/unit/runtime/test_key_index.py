"""An index of keys gives the numbers that a dictionary gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.runtime.key_columns import column_of_keys
from penstock.runtime.key_index import IntegerIndex, KeyNumbers, index_for

integers = st.lists(st.one_of(st.integers(0, 50), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=40)
pairs = st.lists(st.tuples(st.integers(0, 5), st.text("ab", max_size=2)), min_size=1, max_size=20)


@given(st.one_of(st.lists(integers, max_size=6), st.lists(pairs, max_size=6)))
def test_numbers_are_those_of_the_first_appearance(batches: list[list[Any]]) -> None:
    known: dict[Any, int] = {}
    index = index_for(column_of_keys(batches[0]).type if batches else pa.int64())
    for batch in batches:
        distinct = list(dict.fromkeys(batch))
        found = index.find(column_of_keys(distinct))
        assert found.tolist() == [known.get(key, -1) for key in distinct]
        new = [key for key in distinct if key not in known]
        if new:
            index.add(column_of_keys(new))
        known.update((key, len(known)) for key in new)
    assert len(index) == len(known) and index.keys() == list(known)


nullable = st.one_of(st.none(), st.integers(0, 4))
triples = st.tuples(nullable, st.one_of(st.none(), st.text("ab", max_size=1)), st.tuples(nullable, nullable))


def _column(keys: list[Any]) -> pa.Array:
    if isinstance(keys[0], tuple):
        fields = [_column(list(part)) for part in zip(*keys, strict=True)]
        return pa.StructArray.from_arrays(fields, [f"f{place}" for place in range(len(fields))])
    return pa.array(keys, pa.string() if any(isinstance(key, str) for key in keys) else pa.int64())


@given(st.one_of(*(st.lists(st.lists(keys, min_size=1, max_size=8), max_size=8) for keys in (nullable, triples))))
def test_nulls_may_turn_up_anywhere(batches: list[list[Any]]) -> None:
    known: dict[Any, int] = {}
    numbers = KeyNumbers()
    for batch in batches:
        for key in batch:
            known.setdefault(key, len(known))
        assert numbers.numbers_of(_column(batch)).tolist() == [known[key] for key in batch]
    assert list(numbers.keys_at(np.arange(len(numbers)))) == list(known)


@pytest.mark.parametrize("step", [1, 2**54, -3])
def test_many_integers(step: int) -> None:
    index = IntegerIndex()
    for start in range(0, 500, 7):
        index.add(pa.array(np.arange(start, start + 7) * step))
    assert index.find(pa.array(np.arange(504) * step)).tolist() == list(range(504))
    assert index.find(pa.array(np.arange(504, 600) * step)).tolist() == [-1] * 96
