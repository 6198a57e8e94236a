"""Keys in columns are the same keys, with the same hashes and owners, as one by one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common.typeinfo import Types
from penstock.runtime.key_columns import (
    column_of_keys,
    hashes_of,
    integer_column,
    key_column_from,
    keys_of_column,
    largest_integer_key,
    numbered,
    owners_of,
)
from penstock.runtime.keys import KeyOwners, stable_hash

integers = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.sampled_from((-1, 0, -2, 2**61 - 1, 2**61, -(2**61), -(2**63)))
)
texts = st.one_of(st.text(max_size=12), st.text("ab", max_size=90))
tuples = st.one_of(
    st.lists(st.tuples(integers, texts), min_size=1),
    st.lists(st.tuples(texts), min_size=1),
    st.lists(st.tuples(integers, integers, texts), min_size=1),
)
keys_for_columns = st.one_of(st.lists(integers, min_size=1), st.lists(texts, min_size=1), tuples)


def column_of(keys: list[Any]) -> pa.Array:
    column = column_of_keys(keys)
    assert column is not None
    return column


@settings(deadline=None)
@given(keys_for_columns, st.sampled_from(((1, 1), (2, 128), (3, 128), (7, 200))))
def test_many_at_once_and_one_by_one(keys: list[Any], widths: tuple[int, int]) -> None:
    many = keys * 70  # above the number from which texts are hashed together
    one_by_one = KeyOwners(*widths)
    assert hashes_of(column_of(many)).tolist() == [stable_hash(key) for key in many]
    assert owners_of(column_of(many), *widths).tolist() == [one_by_one[key] for key in many]
    assert keys_of_column(column_of(keys)) == keys


def test_many_different_texts_are_hashed_together() -> None:
    texts = [f"{'ü' * (number % 50)}{number}" for number in range(1000)]
    column = column_of(texts)
    assert hashes_of(column).tolist() == [stable_hash(text) for text in texts]
    assert hashes_of(column.slice(17, 500)).tolist() == [stable_hash(text) for text in texts[17:517]]


@settings(deadline=None)
@given(keys_for_columns, st.randoms())
def test_keys_are_numbered_as_they_first_appear(keys: list[Any], random: Any) -> None:
    repeated = keys + random.choices(keys, k=20)
    codes, distinct = numbered(column_of(repeated))
    found = keys_of_column(distinct)
    assert found == list(dict.fromkeys(repeated))
    assert [found[code] for code in codes.tolist()] == repeated


@pytest.mark.parametrize(
    "keys",
    [
        [1, 2**64],
        [1, True],
        [1, 1.0],
        [1, "1"],
        [1.5],
        [None],
        ["\ud800"],
        [(1,), (1, 2)],
        [(1, "a"), (1, 2)],
        [((1,),)],
        [()],
        [],
    ],
)
def test_other_keys_have_no_column(keys: list[Any]) -> None:
    assert column_of_keys(keys) is None


def test_the_column_of_a_field_is_a_key_column_when_its_keys_would_be_the_same() -> None:
    assert key_column_from(pa.array([1, 2], pa.int16())) == pa.array([1, 2], pa.int64())
    assert key_column_from(pa.array(["a"])) == pa.array(["a"])
    for other in (pa.array([1, None]), pa.array([1.5]), pa.array([True]), None):
        assert key_column_from(other) is None


def test_keys_outside_their_declared_type_are_left_to_coercion() -> None:
    largest = largest_integer_key(Types.INT())
    assert largest == 2**31 - 1
    assert integer_column([2**31], largest) is None
    assert integer_column([True], largest) is None
    assert integer_column([7], largest) == pa.array([7])
    assert largest_integer_key(None) == largest_integer_key(Types.LONG()) == 2**63 - 1
    assert largest_integer_key(Types.STRING()) is None
    assert largest_integer_key(Types.BOOLEAN()) is None
