"""Functions with Java's regular expressions, on Python's: what the two write differently is translated."""

from __future__ import annotations

import re
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import Datum, Invocation, is_constant, per_value

_CLASSES = {
    "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9", "Upper": "A-Z", "Lower": "a-z", "Punct": r"!-/:-@\[-`{-~",
    "Space": r"\s", "XDigit": "0-9a-fA-F", "Blank": r" \t", "ASCII": r"\x00-\x7f", "L": "a-zA-Z", "N": "0-9",
}  # fmt: skip


@lru_cache(maxsize=1024)
def java_regex(pattern: str) -> re.Pattern[str] | None:
    """The same expression for Python, or None when it is none; \\d, \\w and \\s mean ASCII as in Java."""
    translated = re.sub(r"\(\?<([A-Za-z]\w*)>", r"(?P<\1>", pattern)
    translated = re.sub(r"\\p\{(\w+)\}", lambda m: f"[{_CLASSES.get(m.group(1), m.group(1))}]", translated)
    translated = re.sub(r"\\([zZ])", r"\\Z", translated)
    try:
        return re.compile(translated, re.ASCII)
    except re.error:
        return None


def _replace(text: str, pattern: str, replacement: str) -> str | None:
    """$1 is text, not a group: Flink quotes the replacement."""
    found = java_regex(pattern)
    return None if found is None else found.sub(lambda _: replacement, text)


regexp_replace = per_value(_replace)


def _extract(text: str, pattern: str, index: int = 0) -> str | None:
    found = java_regex(pattern)
    match = None if found is None else found.search(text)
    if match is None or not 0 <= index <= (match.re.groups):
        return None
    return match.group(index)


def regexp_extract(call: Invocation) -> Datum:
    """Constant patterns go to RE2 where it understands them."""
    texts, *rest = call.arguments
    known = all(is_constant(argument) and argument.is_valid for argument in rest)
    if known and not is_constant(texts):
        pattern, index = rest[0].as_py(), rest[1].as_py() if len(rest) > 1 else 0
        named = _with_one_group(pattern, index)
        if named is not None:
            try:
                return pc.struct_field(pc.extract_regex(texts, pattern=named), 0)
            except pa.ArrowInvalid:
                pass  # RE2 knows no look-around: Python does
    return per_value(_extract)(call)


@lru_cache(maxsize=256)
def _with_one_group(pattern: str, index: int) -> str | None:
    """The pattern with the wanted group named and all others not capturing; None when that cannot be told simply."""
    if java_regex(pattern) is None or re.search(r"\\[0-9pPQEkG]|\(\?|\[\^?\]|&&", pattern):
        return None
    if index == 0:
        return f"(?P<x>{re.sub(_OPENING, lambda m: m.group() if len(m.group()) > 1 else '(?:', pattern)})"
    count = 0

    def renamed(match: re.Match[str]) -> str:
        nonlocal count
        if match.group() != "(":
            return match.group()
        count += 1
        return "(?P<x>" if count == index else "(?:"

    named = re.sub(_OPENING, renamed, pattern)
    return named if 1 <= index <= count else None


# Escaped characters and sets in brackets are passed over, so that only parentheses that open groups are left.
_OPENING = re.compile(r"\\.|\[(?:[^\]\\]|\\.)*\]|\(")


def _extract_all(text: str, pattern: str, index: int = 1) -> list[str | None] | None:
    found = java_regex(pattern)
    if found is None or not 0 <= index <= found.groups:
        return None
    return [match.group(index) for match in found.finditer(text)]


regexp_extract_all = per_value(_extract_all)


def _count(text: str, pattern: str) -> int | None:
    found = java_regex(pattern)
    return None if found is None else sum(1 for _ in found.finditer(text))


regexp_count = per_value(_count)


def _place(text: str, pattern: str) -> int | None:
    found = java_regex(pattern)
    if found is None:
        return None
    match = found.search(text)
    return 0 if match is None else match.start() + 1


regexp_instr = per_value(_place)


def _first(text: str, pattern: str) -> str | None:
    found = java_regex(pattern)
    match = None if found is None else found.search(text)
    return None if match is None else match.group()


regexp_substr = per_value(_first)


def _matches(text: str, pattern: str) -> bool:
    found = java_regex(pattern) if pattern else None
    return found is not None and found.search(text) is not None


def regexp(call: Invocation) -> Datum:
    pattern = call.arguments[1]
    if is_constant(pattern) and pattern.is_valid and pattern.as_py() and not is_constant(call.arguments[0]):
        try:
            return pc.match_substring_regex(call.arguments[0], pattern.as_py())
        except pa.ArrowInvalid:
            pass  # RE2 knows no look-around: Python does
    return per_value(_matches)(call)
