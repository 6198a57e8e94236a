"""An index of keys gives the numbers that a dictionary gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.runtime.key_columns import column_of_keys
from penstock.runtime.key_index import IntegerIndex, index_for

integers = st.lists(st.one_of(st.integers(0, 50), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=40)
pairs = st.lists(st.tuples(st.integers(0, 5), st.text("ab", max_size=2)), min_size=1, max_size=20)


@given(st.one_of(st.lists(integers, max_size=6), st.lists(pairs, max_size=6)))
def test_numbers_are_those_of_the_first_appearance(batches: list[list[Any]]) -> None:
    known: dict[Any, int] = {}
    index = index_for(pa.int64() if batches and isinstance(batches[0][0], int) else pa.struct([]))
    for batch in batches:
        distinct = list(dict.fromkeys(batch))
        found = index.find(column_of_keys(distinct))
        assert found.tolist() == [known.get(key, -1) for key in distinct]
        new = [key for key in distinct if key not in known]
        if new:
            index.add(column_of_keys(new))
        known.update((key, len(known)) for key in new)
    assert len(index) == len(known) and index.keys() == list(known)


@pytest.mark.parametrize("step", [1, 2**54, -3])
def test_many_integers(step: int) -> None:
    index = IntegerIndex()
    for start in range(0, 500, 7):
        index.add(pa.array(np.arange(start, start + 7) * step))
    assert index.find(pa.array(np.arange(504) * step)).tolist() == list(range(504))
    assert index.find(pa.array(np.arange(504, 600) * step)).tolist() == [-1] * 96
