"""Java's patterns for dates, `yyyy-MM-dd HH:mm:ss`: writing moments by them and reading texts with them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.kernels.moment_text import last_valid_day
from penstock.columns.kernels.time_zone import zone_of

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_EPOCH = datetime.datetime(1970, 1, 1)
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")


@dataclass(frozen=True)
class LocalMoment:
    """What the wall clock shows, with nanoseconds, and the zone that it hangs in."""

    moment: datetime.datetime
    nanos: int
    zone: str

    @staticmethod
    def of(nanos: int, zone: str = "UTC") -> LocalMoment:
        seconds, rest = divmod(nanos, 1_000_000_000)
        return LocalMoment(_EPOCH + datetime.timedelta(seconds=seconds), rest, zone)


_Writer = Callable[[LocalMoment], str]


@lru_cache(maxsize=256)
def _pieces(pattern: str) -> tuple[tuple[str, str], ...]:
    """Letters with their number as ("y", "yyyy"), and literal text as ("", text)."""
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(pattern):
        match = _TOKEN.match(pattern, position)
        if match is None:
            raise ValueFailure(f"{pattern!r} is no date pattern: a quote is not closed")
        if match.group(1) is not None:
            found.append(("", match.group(1).replace("''", "'") if match.group(1) else "'"))
        elif match.group(2) is not None:
            found.append((match.group(2), match.group()))
        else:
            found.append(("", match.group()))
        position = match.end()
    return tuple(found)


@lru_cache(maxsize=256)
def _writers(pattern: str) -> tuple[_Writer, ...]:
    return tuple(_writer(letter, text, pattern) for letter, text in _pieces(pattern))


_STRFTIME = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}


@lru_cache(maxsize=256)
def strftime_form(pattern: str) -> str | None:
    """The same pattern for whole columns of seconds, or None when it asks for more than plain digits."""
    parts = []
    for letter, text in _pieces(pattern):
        if letter and text not in _STRFTIME:
            return None
        parts.append(_STRFTIME[text] if letter else text.replace("%", "%%"))
    return "".join(parts)


def shown_seconds(form: str) -> int:
    """How long a form of strftime shows the same, in seconds."""
    return next((seconds for sign, seconds in (("%S", 1), ("%M", 60), ("%H", 3600)) if sign in form), 86_400)


def format_moment(moment: LocalMoment, pattern: str) -> str:
    return "".join(write(moment) for write in _writers(pattern))


def _number(read: Callable[[datetime.datetime], int], width: int) -> _Writer:
    return lambda local: str(read(local.moment)).zfill(width)


def _writer(letter: str, text: str, pattern: str) -> _Writer:
    width = len(text)
    if letter == "":
        return lambda local: text
    if letter in "yuY":
        if width == 2:
            return lambda local: f"{_year(local.moment, letter) % 100:02d}"
        return _number(lambda moment: _year(moment, letter), width)
    if letter in "ML" and width >= 3:
        return lambda local: _MONTHS[local.moment.month - 1][: None if width == 4 else 3 if width == 3 else 1]
    if letter == "E":
        return lambda local: _DAYS[local.moment.weekday()][: 3 if width < 4 else None]
    if letter == "a":
        return lambda local: "AM" if local.moment.hour < 12 else "PM"
    if letter == "S":
        return lambda local: f"{local.nanos:09d}"[:width].ljust(width, "0")
    if letter == "Q" and width >= 3:
        return lambda local: f"Q{(local.moment.month + 2) // 3}"
    if letter == "G":
        return lambda local: "AD"
    if letter in "VzZXxO":
        return lambda local: _zone_text(letter, width, local)
    numbers: dict[str, Callable[[datetime.datetime], int]] = {
        "M": lambda moment: moment.month,
        "L": lambda moment: moment.month,
        "d": lambda moment: moment.day,
        "D": lambda moment: moment.timetuple().tm_yday,
        "H": lambda moment: moment.hour,
        "k": lambda moment: moment.hour or 24,
        "h": lambda moment: moment.hour % 12 or 12,
        "K": lambda moment: moment.hour % 12,
        "m": lambda moment: moment.minute,
        "s": lambda moment: moment.second,
        "Q": lambda moment: (moment.month + 2) // 3,
        "q": lambda moment: (moment.month + 2) // 3,
        "w": _week_of_year,
        "W": lambda moment: (moment.day - 1 + moment.replace(day=1).isoweekday() % 7) // 7 + 1,
        "e": lambda moment: moment.isoweekday() % 7 + 1,
        "u": lambda moment: moment.isoweekday(),
        "F": lambda moment: (moment.day - 1) // 7 + 1,
    }
    read = numbers.get(letter)
    if read is None:
        raise ValueFailure(f"{pattern!r} is no date pattern: {letter!r} is not known. Put literal text in quotes.")
    return _number(read, width)


def _year(moment: datetime.datetime, letter: str) -> int:
    return _saturday(moment).year if letter == "Y" else moment.year


def _saturday(moment: datetime.datetime) -> datetime.datetime:
    """The end of the week, whose year it belongs to: the first week of a year has January 1st, in Java's locale."""
    return moment + datetime.timedelta(days=6 - moment.isoweekday() % 7)


def _week_of_year(moment: datetime.datetime) -> int:
    return (_saturday(moment).timetuple().tm_yday - 1) // 7 + 1


def _zone_text(letter: str, width: int, local: LocalMoment) -> str:
    if letter == "V":
        return local.zone
    aware = local.moment.replace(tzinfo=zone_of(local.zone))
    if letter == "z":
        return aware.tzname() or local.zone
    offset = round((aware.utcoffset() or datetime.timedelta()).total_seconds())
    if letter == "X" and offset == 0:
        return "Z"
    sign, minutes = "-" if offset < 0 else "+", abs(offset) // 60
    hours, rest = divmod(minutes, 60)
    if letter in "Xx" and width == 1:
        return f"{sign}{hours:02d}" + (f"{rest:02d}" if rest else "")
    colon = ":" if (letter in "Xx" and width in (3, 5)) or (letter == "Z" and width == 5) else ""
    return f"{sign}{hours:02d}{colon}{rest:02d}"


@lru_cache(maxsize=256)
def _expression(pattern: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    parts, letters = [], []
    pieces = _pieces(pattern)
    for place, (letter, text) in enumerate(pieces):
        if letter == "":
            parts.append(re.escape(text))
            continue
        letters.append(letter if len(text) < 3 or letter not in "ML" else "N")
        # Numbers that touch have fixed widths; others take what is there.
        touching = place + 1 < len(pieces) and pieces[place + 1][0] != ""
        parts.append(f"({_reading(letter, len(text), touching, pattern)})")
    return re.compile("".join(parts)), tuple(letters)


def _reading(letter: str, width: int, touching: bool, pattern: str) -> str:
    if letter in "ML" and width >= 3:
        return "[A-Za-z]+"
    if letter in "Ea":
        return "[A-Za-z]+"
    if letter == "S":
        return rf"\d{{1,{width}}}"
    if letter in "XxZ":
        return r"Z|[+-]\d{2}:?(?:\d{2})?"
    if letter in "Vz":
        return r"[A-Za-z0-9_/+:-]+"
    if letter in "yu":
        return rf"\d{{{width}}}" if touching or width == 2 else r"\d{1,9}"
    if letter in "MLdHhkKmsD":
        return rf"\d{{{width}}}" if touching and width > 1 else r"\d{1,3}" if letter == "D" else r"\d{1,2}"
    raise ValueFailure(f"{pattern!r} cannot be read: {letter!r} says nothing about the moment")


def parse_moment(text: str, pattern: str) -> tuple[int, int | str | None] | None:
    """Nanoseconds on the wall clock, and the offset in seconds or the zone if the text has one; None if unreadable."""
    expression, letters = _expression(pattern)
    match = expression.match(text)
    if match is None or match.end() != len(text):
        return None
    read = _values(letters, match.groups())
    return None if read is None else _assembled(*read)


def parse_leniently(text: str, pattern: str) -> tuple[int, int | str | None] | None:
    """As the older functions of Flink read, with Java's SimpleDateFormat: what follows is not looked at, and a 13th
    month or a 25th hour is the first one of what comes next."""
    expression, letters = _expression(pattern)
    match = expression.match(text.lstrip())
    read = None if match is None else _values(letters, match.groups())
    if read is None:
        return None
    values, afternoon, zone = read
    months = values["y"] * 12 + values["M"] - 1
    try:
        day = datetime.datetime(months // 12, months % 12 + 1, 1) + datetime.timedelta(days=values["d"] - 1)
    except (ValueError, OverflowError):
        return None
    hours = values["H"] + (12 if afternoon else 0)
    seconds = (day - _EPOCH).days * 86_400 + (hours * 60 + values["m"]) * 60 + values["s"]
    return seconds * 1_000_000_000 + values["S"], zone


def _values(
    letters: tuple[str, ...], texts: tuple[str, ...]
) -> tuple[dict[str, int], bool | None, int | str | None] | None:
    """The fields by letter, whether it is afternoon, and the zone; None when a month has an unknown name."""
    values = {"y": 1970, "M": 1, "d": 1, "H": 0, "m": 0, "s": 0, "S": 0}
    afternoon: bool | None = None
    zone: int | str | None = None
    for letter, found in zip(letters, texts, strict=True):
        if letter == "N":
            names = [name.lower() for name in _MONTHS]
            hits = [place for place, name in enumerate(names) if found.lower() in (name, name[:3])]
            if not hits:
                return None
            values["M"] = hits[0] + 1
        elif letter == "a":
            afternoon = found.upper() == "PM"
        elif letter in "XxZ":
            zone = _offset(found)
        elif letter in "Vz":
            zone = found
        elif letter == "S":
            values["S"] = int(found.ljust(9, "0"))
        elif letter in "yu":
            values["y"] = int(found) + (2000 if len(found) == 2 else 0)
        elif letter in "hK":
            values["H"] = int(found) % 12
        elif letter != "E":
            values[letter if letter != "L" else "M"] = int(found)
    return values, afternoon, zone


def _assembled(
    values: dict[str, int], afternoon: bool | None, zone: int | str | None
) -> tuple[int, int | str | None] | None:
    hours = values["H"] + (12 if afternoon else 0)
    fits = 1 <= values["M"] <= 12 and 1 <= values["d"] <= 31 and hours < 24 and values["m"] < 60 and values["s"] < 60
    if not fits:
        return None
    days = last_valid_day(values["y"], values["M"], values["d"])
    seconds = days * 86_400 + (hours * 60 + values["m"]) * 60 + values["s"]
    return seconds * 1_000_000_000 + values["S"], zone


def _offset(text: str) -> int:
    if text == "Z":
        return 0
    digits = text[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if text[0] == "-" else seconds
