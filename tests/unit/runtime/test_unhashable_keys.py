"""Keys that Python cannot hash become equal values that it can, and look like what they stand for."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from penstock.runtime.keys import stable_hash
from penstock.runtime.unhashable_keys import hashable


@dataclasses.dataclass
class Place:
    street: str
    numbers: list[int]
    note: str = dataclasses.field(default="", compare=False)


@dataclasses.dataclass(slots=True)
class Point:
    x: int


KEYS: list[Any] = [
    [1, [2]],
    {"a": {1}},
    {1, 2},
    bytearray(b"ab"),
    (1, [2]),
    Place("high", [1, 2]),
    Point(3),
    [Place("low", [])],
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_stand_in_is_equal_hashable_stable_and_prints_the_same(key: Any) -> None:
    made = hashable(key)
    assert made == key and key == made
    assert {made: 1}[hashable(key)] == 1
    assert stable_hash(made) == stable_hash(hashable(key))
    assert repr(made) == repr(key) and str(made) == str(key)
    again = pickle.loads(pickle.dumps(made))
    assert again == made and hash(again) == hash(made)


def test_a_stand_in_of_a_data_class_is_one_of_it() -> None:
    made = hashable(Place("high", [1], note="x"))
    assert isinstance(made, Place) and made.note == "x"
    assert made == hashable(Place("high", [1], note="y"))
    assert made != hashable(Place("high", [2]))
    assert made != ("high", [1])
