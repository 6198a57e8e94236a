"""Keys as bytes agree with Python's equality."""

from __future__ import annotations

import datetime
import enum
import uuid
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common.types import Row
from penstock.runtime.key_bytes import key_bytes
from penstock.runtime.keys import UnstableKeyError


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1


@dataclass(frozen=True)
class Place:
    x: int
    y: str


_UTC = datetime.UTC
_EAST = datetime.timezone(datetime.timedelta(hours=2))
_KEYS: list[Any] = [
    *(0, 1, -1, -2, 1.0, True, 2**61 - 1, 2**80, float(2**80), 0.5, Decimal("0.5"), Fraction(1, 2), Fraction(1, 3)),
    *(Decimal("0.1"), 0.1, 7, Level.LOW, 1j, 1 + 0j, float("inf"), Decimal("Infinity")),
    *(
        "",
        "a",
        "1",
        b"a",
        b"1",
        None,
        (),
        (1,),
        (1.0,),
        ("1",),
        (("a", 1), "b"),
        ("a", (1, "b")),
        ("a:1", ""),
        ("a", "1"),
    ),
    *(Row(1, 2), Row(1.0, 2), Row(a=1, b=2), Row(b=2, a=1), Row(a=2, b=1), (1, 2)),
    *(datetime.datetime(2026, 1, 1, 12, tzinfo=_UTC), datetime.datetime(2026, 1, 1, 14, tzinfo=_EAST)),
    *(datetime.datetime(2026, 1, 1, 12), datetime.date(2026, 1, 1), datetime.time(12), datetime.timedelta(days=1)),
    *(datetime.timedelta(hours=24), uuid.UUID(int=5), frozenset({1, 2}), frozenset({2.0, 1}), Colour.RED, Colour.BLUE),
    *(Place(1, "a"), Place(1, "b")),
]


def test_equal_keys_and_only_those_have_equal_bytes() -> None:
    for first in _KEYS:
        for second in _KEYS:
            assert (key_bytes(first) == key_bytes(second)) == (first == second), (first, second)


_SIMPLE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
_NESTED = st.recursive(_SIMPLE, lambda inner: st.tuples(inner) | st.tuples(inner, inner), max_leaves=6)


@given(_NESTED, _NESTED)
def test_random_keys(first: Any, second: Any) -> None:
    assert (key_bytes(first) == key_bytes(second)) == (first == second)


@pytest.mark.parametrize("key", [float("nan"), Decimal("NaN"), object()])
def test_what_cannot_be_a_key_is_refused(key: Any) -> None:
    with pytest.raises(UnstableKeyError):
        key_bytes(key)


def test_numbers_of_numpy_are_plain_numbers() -> None:
    assert key_bytes(np.int64(7)) == key_bytes(7)
    assert key_bytes(np.float64(0.5)) == key_bytes(0.5)
    assert key_bytes(np.float32(3)) == key_bytes(3)
