"""Columns of usual texts are read as one text after the other is."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from penstock.columns.kernels.casting import cast
from penstock.columns.kernels.datum import Session
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.kernels.usual_texts import read_usual
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes

TEXT = DataTypes.STRING()
NUMBERS = ["0", "7", "-7", "+7", "007", "127", "128", "-129", "32768", "2147483648", "9" * 18, "9" * 19, "0x1F", " 5"]
NUMBERS += ["", "1.9", "1e3", "٣", "5_0", "-", "nan"]
MOMENTS = ["2024-02-29 13:14:15", "2024-02-29 13:14:15.1", "2024-02-29 13:14:15.123", "2024-02-29 13:14:15.123456"]
MOMENTS += ["2023-02-30 00:00:00", "2024-01-01", "2024-01-01T00:00:00", "2024-1-1 1:2:3", "1000-01-01 00:00:00", "x"]
MOMENTS += [
    "2024-01-01 10:11",
    "2024-01-01 10",
    "2024-01-01 10:11:12.",
    "2024-01-01 10:11+01:00",
    "2024-01-01 10:11:12+01",
]
MOMENTS += [
    "2024-01-01 24:00:00",
    "2024-01-01 10:11:12+01",
    "2024-01-01 00:00:00Z",
    "0001-01-01 00:00:00",
    "12024-01-01 00:00:00",
]


def outcome(texts: list[Any], target: DataType) -> Any:
    try:
        return cast(pa.array(texts, pa.string()), TEXT, target, Session("UTC")).to_pylist()
    except ValueFailure:
        return "refused"


@pytest.mark.parametrize("kind", ["TINYINT", "SMALLINT", "INT", "BIGINT"])
def test_numbers(kind: str) -> None:
    check(getattr(DataTypes, kind)(), NUMBERS)


@pytest.mark.parametrize("precision", [0, 1, 3, 6])
def test_moments(precision: int) -> None:
    check(DataTypes.TIMESTAMP(precision), MOMENTS)


def test_moments_with_a_character_changed() -> None:
    rng = random.Random(2)
    changed = []
    for _ in range(400):
        text = list(rng.choice(MOMENTS[:4]))
        place = rng.randrange(len(text))
        text[place : place + rng.randrange(2)] = rng.choice(("", "T", "Z", "+", "-", ":", ".", " ", "0", "9", "é"))
        changed.append("".join(text))
    check(DataTypes.TIMESTAMP(3), changed)


def check(target: DataType, texts: list[str]) -> None:
    """A text says the same in any company, and alone as a scalar, which is never read as a column."""
    alone: dict[Any, Any] = {None: [None]}
    for text in texts:
        try:
            alone[text] = [cast(pa.scalar(text), TEXT, target, Session("UTC")).as_py()]
        except ValueFailure:
            alone[text] = "refused"
        assert outcome([text], target) == alone[text], text
    readable = [text for text in alone if alone[text] != "refused"]
    rng = random.Random(1)
    for _ in range(40):
        chosen = rng.choices(readable, k=rng.randrange(1, 5))
        assert outcome(chosen, target) == [alone[text][0] for text in chosen]


def test_what_is_usual() -> None:
    assert read_usual(pa.array(["1", None, "-20"]), DataTypes.INT()).to_pylist() == [1, None, -20]
    assert read_usual(pa.array(["2024-02-29 13:14:15.12"]), DataTypes.TIMESTAMP(3)) is not None
    assert read_usual(pa.array([None, None], pa.string()), DataTypes.BIGINT()).to_pylist() == [None, None]
    assert read_usual(pa.array(["1", "0x1F"]), DataTypes.INT()) is None
    assert read_usual(pa.array(["1.5"]), DataTypes.DOUBLE()) is None
