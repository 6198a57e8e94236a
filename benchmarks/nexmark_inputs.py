"""The events of Nexmark, written once: persons, auctions and bids 1 : 3 : 46, ten events a millisecond.

Each table is a directory. Bids are in two files, because a file is read by one subtask; those of one auction are in the
same file, so that their order, which decides between equal prices and times in q9, q18 and q19, is always the same.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

SEED = 20240101
_START = datetime(2024, 1, 1)
_EVENTS_PER_SECOND = 10_000
_STATES = ("az", "ca", "id", "or", "wa", "wy")
_CITIES = ("phoenix", "los angeles", "san francisco", "boise", "portland", "bend", "redmond", "seattle", "kent")
_NAMES = ("peter", "paul", "luke", "john", "saul", "vicky", "kate", "julie", "sarah", "deiter", "walter")
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_FILES = {"person": 1, "auction": 1, "bid": 2}
_AUCTIONS_TOGETHER = 100  # in one file, as one of so many is hot
_SIZE_OF_ROUND, _PERSONS, _AUCTIONS = 50, 1, 3


def write(directory: Path, events: int) -> None:
    """The files of all tables; nothing if they are there already."""
    done = directory / f"events-{events}"
    if done.exists():
        return
    files: dict[tuple[str, int], Any] = {}
    for table, parts in _FILES.items():
        (directory / table).mkdir(parents=True, exist_ok=True)
        for part in range(parts):
            path = directory / table / f"part-{part}.csv"
            files[table, part] = path.open("w", newline="", encoding="utf-8")
    writers = {name: csv.writer(file, lineterminator="\n") for name, file in files.items()}
    for table, row in rows(events):
        part = row[0] // _AUCTIONS_TOGETHER % _FILES[table]
        writers[table, part].writerow(row)
    for file in files.values():
        file.close()
    done.touch()


def rows(events: int) -> Iterator[tuple[str, list[Any]]]:
    chance = random.Random(SEED)
    persons = auctions = 0
    for number in range(events):
        time = _START + timedelta(milliseconds=number * 1_000 // _EVENTS_PER_SECOND)
        kind = number % _SIZE_OF_ROUND
        if kind < _PERSONS:
            yield "person", _person(chance, persons, time)
            persons += 1
        elif kind < _PERSONS + _AUCTIONS:
            yield "auction", _auction(chance, auctions, persons, time)
            auctions += 1
        else:
            yield "bid", _bid(chance, auctions, persons, time)


def _moment(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S.") + f"{time.microsecond // 1_000:03}"


def _text(chance: random.Random, length: int) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=length))


def _person(chance: random.Random, number: int, time: datetime) -> list[Any]:
    name = f"{chance.choice(_NAMES)} {_text(chance, 6)}"
    card = " ".join(f"{chance.randrange(10_000):04}" for _ in range(4))
    place = chance.choice(_CITIES), chance.choice(_STATES)
    return [1000 + number, name, f"{_text(chance, 7)}@{_text(chance, 5)}.com", card, *place, _moment(time), ""]


def _recent(chance: random.Random, count: int, hot: int) -> int:
    """Half of the choices fall on one of every so many of the last, the others on any of the last thousand."""
    last = max(count - 1, 0)
    if chance.random() < 0.5:
        return 1000 + last // hot * hot
    return 1000 + chance.randrange(max(0, last - 1_000), last + 1)


def _auction(chance: random.Random, number: int, persons: int, time: datetime) -> list[Any]:
    price = round(10 ** (chance.random() * 6))
    expires = time + timedelta(milliseconds=chance.randrange(1_000, 20_000))
    about = [1000 + number, _text(chance, 12), _text(chance, 40), price, price + chance.randrange(1, 10_000)]
    return [*about, _moment(time), _moment(expires), _recent(chance, persons, 4), 10 + chance.randrange(5), ""]


def _bid(chance: random.Random, auctions: int, persons: int, time: datetime) -> list[Any]:
    channel = chance.choice(_CHANNELS) if chance.random() < 0.5 else f"channel-{chance.randrange(10_000)}"
    parts = "/".join(_text(chance, 3) for _ in range(3))
    url = f"https://www.nexmark.com/{parts}/item.htm?query=1&channel_id={chance.randrange(1_000_000)}"
    price = round(10 ** (chance.random() * 6) * 100)
    sides = _recent(chance, auctions, 100), _recent(chance, persons, 100)
    return [*sides, price, channel, url, _moment(time), _text(chance, 10)]
