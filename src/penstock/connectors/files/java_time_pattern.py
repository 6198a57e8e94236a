"""Java's date-time patterns such as yyyy-MM-dd--HH, as far as directory names need them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from penstock.common.errors import NotSupportedError

Part = Callable[[datetime], str]

_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z'])")
_FORBIDDEN = "[]{}#"
_NUMBERS: dict[str, Callable[[datetime], int]] = {
    "y": lambda moment: moment.year,
    "u": lambda moment: moment.year,
    "M": lambda moment: moment.month,
    "L": lambda moment: moment.month,
    "d": lambda moment: moment.day,
    "D": lambda moment: moment.timetuple().tm_yday,
    "H": lambda moment: moment.hour,
    "k": lambda moment: moment.hour or 24,
    "K": lambda moment: moment.hour % 12,
    "h": lambda moment: moment.hour % 12 or 12,
    "m": lambda moment: moment.minute,
    "s": lambda moment: moment.second,
}
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def parse_pattern(pattern: str) -> list[Part]:
    """The parts of a pattern, each a function from a moment to its text."""
    parts: list[Part] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None or match[0] in _FORBIDDEN:
            raise ValueError(f"The date-time pattern {pattern!r} is wrong at position {position}.")
        position = match.end()
        if match[2]:
            parts.append(_field(pattern, match[2], len(match[0])))
        elif match[3]:
            parts.append(_literal(match[3]))
        else:
            parts.append(_literal(match[1].replace("''", "'") or "'"))
    return parts


def _literal(text: str) -> Part:
    return lambda moment: text


def _field(pattern: str, letter: str, count: int) -> Part:
    if letter in "ML" and count >= 3:
        return lambda moment: _name(_MONTHS[moment.month - 1], count)
    if letter == "E":
        return lambda moment: _name(_DAYS[moment.weekday()], max(3, count))
    if letter == "a":
        return lambda moment: "AM" if moment.hour < 12 else "PM"
    if letter == "S":
        return lambda moment: f"{moment.microsecond * 1_000:09d}".ljust(count, "0")[:count]
    if letter not in _NUMBERS:
        raise NotSupportedError(
            f"The letter {letter!r} of the date-time pattern {pattern!r} is not supported;"
            f" supported are {', '.join(sorted([*_NUMBERS, 'E', 'a', 'S']))}, and text between single quotes."
        )
    number = _NUMBERS[letter]
    if letter in "yu" and count == 2:
        return lambda moment: f"{moment.year % 100:02d}"
    return lambda moment: f"{number(moment):0{count}d}"


def _name(name: str, count: int) -> str:
    return name[:3] if count == 3 else name if count == 4 else name[0]
