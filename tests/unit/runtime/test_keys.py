"""One stable rule for keys: equal keys have one owner, today and next year."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import subprocess
import sys
import uuid
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row
from penstock.common.time import Instant
from penstock.runtime.keys import (
    DeclaredKeys,
    KeyOwners,
    UnstableKeyError,
    key_group_of,
    owner_of_key_group,
    stable_hash,
)


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Name(enum.StrEnum):
    LOW = "low"


@dataclass(frozen=True)
class Point:
    x: int
    y: int


@dataclass(eq=False)
class ByIdentity:
    x: int


class Pair(NamedTuple):
    a: int
    b: str


# Where state and files of jobs lie depends on these numbers: they must never change.
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (0, 0x0),
        (1, 0xB456BCFC34C2CB2C),
        (-1, 0x3A8593886C55A02B),
        (10**30, 0xCF10631E90FAFB5A),
        (1.5, 0x4360FDB35F491CCF),
        ("", 0x0),
        ("penstock", 0xC7A831E9B9A3669D),
        ("ü", 0x3ADE3653F5E45E32),
        (b"penstock", 0xC7A831E9B9A3669D),
        (None, 0x9E3779B97F4A7C15),
        ((1, "a"), 0xCCB3D813BF5AFD3C),
        (Row("a", 1), 0xAFB73DBE18CB3F2E),
        (datetime.date(2024, 2, 29), 0xA0497331BEE25AA2),
        (Instant(1, 5), 0x7248048DF383A631),
        (uuid.UUID(int=7), 0x740729CBE468D1DD),
        (Colour.RED, 0x6DDF19C81551F42),
        (Point(1, 2), 0x84428D10E61E5648),
    ],
    ids=repr,
)
def test_known_values(key: Any, expected: int) -> None:
    assert stable_hash(key) == expected


EQUAL: list[tuple[Any, Any]] = [
    (1, 1.0),
    (1, True),
    (1, decimal.Decimal(1)),
    (1, fractions.Fraction(1)),
    (1, np.int64(1)),
    (1, Level.LOW),
    ("low", Name.LOW),
    (datetime.datetime(2024, 1, 1), pd.Timestamp(2024, 1, 1)),
    (datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC), pd.Timestamp(2024, 1, 1, 1, tz="Europe/Berlin")),
    (0.5, np.float64(0.5)),
    (0.0, -0.0),
    ("a", np.str_("a")),
    ((1, "a"), Pair(1, "a")),
    ((1, 2.0), (True, 2)),
    (frozenset("ab"), frozenset("ba")),
    (Row("a", 1), Row("a", 1)),
    (Point(1, 2), Point(1, 2)),
    (Instant(1, 500_000_000), Instant.of_epoch_milli(1_500)),
    (datetime.timedelta(days=1), datetime.timedelta(hours=24)),
    (
        datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC),
        datetime.datetime(2024, 1, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
    ),
    (datetime.time(12, 30), datetime.time(12, 30, 0, 0)),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_keys_have_equal_hashes(one: Any, other: Any) -> None:
    assert one == other
    assert stable_hash(one) == stable_hash(other)


@pytest.mark.parametrize(
    "key",
    [
        object(),
        float("nan"),
        (1, float("nan")),
        ByIdentity(1),
        lambda: None,
        np.float64("nan"),
    ],
    ids=lambda key: type(key).__name__,
)
def test_what_cannot_be_a_key_is_refused(key: Any) -> None:
    with pytest.raises(UnstableKeyError):
        stable_hash(key)


@pytest.mark.parametrize("key", [[1], {"a": 1}, {1}, bytearray(b"a")], ids=lambda key: type(key).__name__)
def test_keys_that_can_change_are_refused(key: Any) -> None:
    with pytest.raises(TypeError):
        KeyOwners(2, 128)[key]


def test_the_same_in_a_process_with_another_hash_seed() -> None:
    program = (
        "from penstock.runtime.keys import stable_hash; import datetime\n"
        "print(stable_hash(('a', b'b', 1.5, None, frozenset('xyz'), datetime.datetime(2024, 1, 1))))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1


@given(st.integers(1, 64), st.integers(64, 1024))
def test_key_groups_are_owned_in_contiguous_ranges_and_all_used(parallelism: int, max_parallelism: int) -> None:
    owners = [owner_of_key_group(group, parallelism, max_parallelism) for group in range(max_parallelism)]
    assert owners == sorted(owners)
    assert set(owners) == set(range(parallelism))


@pytest.mark.parametrize("keys", [range(100_000), [f"user-{i}" for i in range(100_000)]], ids=["numbers", "text"])
def test_keys_spread_evenly(keys: Any) -> None:
    counts = [0] * 128
    for key in keys:
        counts[key_group_of(key, 128)] += 1
    assert max(counts) < 1.3 * 100_000 / 128


def test_owners_are_remembered_and_right() -> None:
    owners = KeyOwners(4, 128)
    for _ in range(2):
        assert owners["a"] == owner_of_key_group(key_group_of("a", 128), 4, 128)


def test_declared_keys_are_coerced_once() -> None:
    calls: list[Any] = []

    def coerce(key: Any) -> Any:
        calls.append(key)
        return int(key)

    keys = DeclaredKeys(coerce)
    assert [keys["7"], keys["7"]] == [7, 7]
    assert calls == ["7"]
