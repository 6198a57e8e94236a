"""The values of options as text: durations, sizes, lists and maps."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_DURATION = re.compile(r"\s*(\d+)\s*([a-zµ]*)\s*", re.IGNORECASE)
_DURATION_MILLIS = {
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), 1.0),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000.0),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000.0),
    **dict.fromkeys(("d", "day", "days"), 86_400_000.0),
    **dict.fromkeys(("µs", "micro", "micros", "microsecond", "microseconds"), 1e-3),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1e-6),
}
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(b|bytes|k|kb|kib|m|mb|mib|g|gb|gib|t|tb|tib)?\s*", re.IGNORECASE)


def parse_duration(text: str) -> int:
    """Milliseconds of a text such as '5 s', '200ms', '1 min'; a bare number is milliseconds."""
    match = _DURATION.fullmatch(text)
    if match is None or match[2].lower() not in _DURATION_MILLIS:
        raise ValueError("write a number and a unit, such as '200 ms', '5 s' or '1 min'")
    return int(int(match[1]) * _DURATION_MILLIS[match[2].lower()])


def parse_boolean(text: str) -> bool:
    lowered = text.strip().lower()
    if lowered not in ("true", "false"):
        raise ValueError("write true or false")
    return lowered == "true"


def parse_list(text: str | None) -> list[str]:
    """'a;b', or '[a, "b c"]' in YAML's way."""
    stripped = (text or "").strip()
    if stripped.startswith("[") and stripped.endswith("]"):
        found = re.findall(r"""\s*(?:"([^"]*)"|'([^']*)'|([^,\s][^,]*))\s*(?:,|$)""", stripped[1:-1])
        return [double or single or bare.strip() for double, single, bare in found]
    return [part.strip() for part in stripped.split(";") if part.strip()]


def parse_map(text: str) -> dict[str, str]:
    """'a:1,b:2', or '{a: 1, b: 2}' in YAML's way."""
    stripped = text.strip().removeprefix("{").removesuffix("}")
    entries = {}
    for part in filter(None, (part.strip() for part in stripped.split(","))):
        key, separator, value = part.partition(":")
        if not separator:
            raise ValueError("write key:value pairs with commas between them")
        entries[key.strip().strip("'\"")] = value.strip().strip("'\"")
    return entries


_UNITS = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def _parse_memory(text: str) -> str:
    bytes_of(text)
    return text.strip()


def bytes_of(text: str) -> int:
    """The bytes of a size such as 512m or 2 gb."""
    match = _MEMORY.fullmatch(text)
    if not match:
        raise ValueError("write a size such as 512m or 2 gb")
    return int(float(match[1]) * (1 << _UNITS[(match[2] or "")[:1].lower()]))


PARSERS: dict[str, Callable[[str], Any]] = {
    "int": int, "float": float, "bool": parse_boolean, "string": str, "duration": parse_duration,
    "memory": _parse_memory, "list": parse_list, "map": parse_map,
}  # fmt: skip
