"""Bitmaps in the portable form of Roaring bitmaps, compared with another implementation of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.columns.kernels import bitmaps
from penstock.columns.kernels.failure import ValueFailure

SETS = st.sets(st.one_of(st.integers(0, 9), st.integers(0, 2**32 - 1), st.integers(65_500, 66_000)))
DENSE = set(range(10, 10_000)) | {2**32 - 1}


@given(SETS)
@settings(max_examples=60)
def test_members_come_back(members: set[int]) -> None:
    assert bitmaps.members_of(bitmaps.packed(list(members))).tolist() == sorted(members)


@pytest.mark.parametrize("members", [set(), {1, 2, 3}, DENSE, set(range(0, 300_000, 3))])
def test_bytes_are_those_of_others(members: set[int]) -> None:
    roaring = pytest.importorskip("pyroaring")
    other = roaring.BitMap(members, optimize=False)
    assert bitmaps.packed(list(members)) == other.serialize()
    other.run_optimize()
    assert bitmaps.members_of(other.serialize()).tolist() == sorted(members)
    assert bitmaps.from_bytes(other.serialize()) == bitmaps.packed(list(members))


@given(SETS, SETS)
@settings(max_examples=40)
def test_operations_are_those_of_sets(one: set[int], other: set[int]) -> None:
    ours, theirs = bitmaps.packed(list(one)), bitmaps.packed(list(other))
    for function, expected in (
        (bitmaps.both, one & other),
        (bitmaps.either, one | other),
        (bitmaps.one_of, one ^ other),
        (bitmaps.without, one - other),
    ):
        assert function(ours, theirs) == bitmaps.packed(list(expected))


def test_numbers_below_zero_are_the_largest() -> None:
    bitmap = bitmaps.built([5, -1, None, 1, 5])
    assert bitmaps.to_array(bitmap) == [1, 5, -1]
    assert bitmaps.to_text(bitmap) == "{1,5,4294967295}"
    assert bitmaps.cardinality(bitmap) == 3


@pytest.mark.parametrize("data", [b"", b"abc", b"\0" * 8, np.array([12346, 9], "<u4").tobytes()])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueFailure, match="no bitmap"):
        bitmaps.members_of(data)
