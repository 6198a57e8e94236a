"""Keys that Python cannot hash become equal values that it can, and look like what they stand for."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import pickle
from decimal import Decimal
from typing import Any

import pytest

from penstock.runtime.key_bytes import key_bytes
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


class Kind(enum.Enum):
    ONE = 1


class Name:
    """Has an equality of its own, which makes Python take its hash away."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and self.text.lower() == other.text.lower()

    def __repr__(self) -> str:
        return f"Name({self.text})"


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a: Any) -> None:
        self.a = a

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slots) and self.a == other.a

    def __repr__(self) -> str:
        return "Slots()"


class Plain:
    """Is equal to itself only, so that no two records would have the same key."""

    def __init__(self, n: int) -> None:
        self.n = n


@dataclasses.dataclass(frozen=True)
class Frozen:
    parts: list[int]


KEYS: list[Any] = [
    [1, [2]],
    {"a": {1}},
    {1, 2},
    bytearray(b"ab"),
    (1, [2]),
    Place("high", [1, 2]),
    Point(3),
    [Place("low", [])],
    Frozen([1]),
    Name("a"),
    Slots([1]),
    (Name("a"), "x"),
    {"of": Slots(Name("b"))},
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


def test_objects_of_own_classes_are_one_key_when_they_hold_the_same() -> None:
    assert hashable(Plain(1)) == hashable(Plain(1)) and hashable(Plain(1)) != hashable(Plain(2))
    assert stable_hash(hashable(Plain(1))) == stable_hash(hashable(Plain(1)))
    assert key_bytes(hashable(Plain(1))) == key_bytes(hashable(Plain(1))) != key_bytes(hashable(Plain(2)))
    assert hashable(Name("a")) != hashable(Name("A"))  # pickles differ, so PyFlink has two keys
    assert isinstance(hashable(Name("a")), Name) and type(hashable(Name("a"))).__name__ == "Name"


def test_the_equality_of_a_class_is_asked_about_other_objects() -> None:
    assert hashable(Name("a")) == Name("A") and Name("A") == hashable(Name("a"))
    assert hashable(Name("a")) != "a"


def test_what_is_known_stays_as_it_is() -> None:
    for key in (1, "a", Decimal("1.5"), datetime.date(2026, 1, 1), Kind.ONE, float("nan"), Decimal("NaN")):
        assert hashable(key) is key
