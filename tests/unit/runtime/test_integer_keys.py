"""Integer keys have the same owners whether they are looked at together or one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common.typeinfo import Types
from penstock.runtime.integer_keys import largest_integer_key, owners_of_integers
from penstock.runtime.keys import KeyOwners

LARGEST = largest_integer_key(None)
assert LARGEST is not None


@given(st.lists(st.integers(-LARGEST, LARGEST), min_size=1), st.sampled_from(((1, 1), (2, 128), (3, 128), (7, 200))))
def test_many_at_once_and_one_by_one(keys: list[int], widths: tuple[int, int]) -> None:
    one_by_one = KeyOwners(*widths)
    together = owners_of_integers([-1, 0, *keys], LARGEST or 0, *widths)
    assert together is not None
    assert together.tolist() == [one_by_one[key] for key in [-1, 0, *keys]]


@pytest.mark.parametrize("key", [2**61, -(2**63), 2**64, True, 1.0, "1", None])
def test_other_keys_are_left_to_the_general_rule(key: Any) -> None:
    assert owners_of_integers([1, key], LARGEST or 0, 2, 128) is None


def test_keys_outside_their_declared_type_are_left_to_coercion() -> None:
    largest = largest_integer_key(Types.INT())
    assert largest == 2**31 - 1
    assert owners_of_integers([2**31], largest, 2, 128) is None
    assert largest_integer_key(Types.STRING()) is None
    assert largest_integer_key(Types.BOOLEAN()) is None
