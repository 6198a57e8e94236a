"""Functions of texts; positions count from 1 and characters are code points."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import Datum, Invocation, Kernel, as_array, is_constant, per_value
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.kernels.text_parts import part_of_texts
from penstock.columns.typesystem.scalars import MAX_LENGTH, IntType, VarCharType


def upper(call: Invocation) -> Datum:
    return _cased(call, pc.ascii_upper, str.upper)


def lower(call: Invocation) -> Datum:
    return _cased(call, pc.ascii_lower, str.lower)


def _cased(call: Invocation, plain: Callable[[Datum], Datum], change: Callable[[str], str]) -> Datum:
    """Python and Java write an upper-case sharp s as SS; Arrow does not."""
    texts = call.arguments[0]
    if pc.all(pc.string_is_ascii(as_array(texts, 1)), skip_nulls=True).as_py() in (True, None):
        return plain(texts)
    return per_value(change)(call)


def length(call: Invocation) -> Datum:
    return pc.cast(pc.utf8_length(call.arguments[0]), pa.int32())


def reverse(call: Invocation) -> Datum:
    return pc.utf8_reverse(call.arguments[0])


def concat(call: Invocation) -> Datum:
    """Null when any part is null."""
    return _joined(call.arguments, "", "emit_null")


def concat_ws(call: Invocation) -> Datum:
    """Null parts are left out; a null separator gives null."""
    separator, *parts = call.arguments
    return pc.binary_join_element_wise(*parts, separator, null_handling="skip")


def _joined(parts: Any, separator: str, nulls: str) -> Datum:
    return pc.binary_join_element_wise(*parts, separator, null_handling=nulls)


def substring(call: Invocation) -> Datum:
    """From the end for a negative start, "" if that is before the text; 0 is taken as 1; null for a negative length."""
    bounds = call.arguments[1:]
    if all(is_constant(bound) and bound.is_valid for bound in bounds):
        return _constant_substring(call.arguments[0], *(bound.as_py() for bound in bounds))
    return per_value(_substring)(call)


def _constant_substring(texts: Datum, start: int, count: int | None = None) -> Datum:
    if count is not None and count < 0:
        nulls = pa.nulls(len(as_array(texts, 1)), pa.string())
        return nulls[0] if is_constant(texts) else nulls
    if start < 0:
        return per_value(_substring)(_text_call(texts, start, count))
    first = max(start - 1, 0)
    if count is None:
        return pc.utf8_slice_codeunits(texts, first)
    return pc.utf8_slice_codeunits(texts, first, first + count) if count else pc.utf8_slice_codeunits(texts, 0, 0)


def _text_call(texts: Datum, start: int, count: int | None) -> Invocation:
    numbers = [start] if count is None else [start, count]
    text = VarCharType(MAX_LENGTH)
    arguments = [texts, *(pa.scalar(number, pa.int32()) for number in numbers)]
    return Invocation(arguments, [text, *[IntType()] * len(numbers)], text, len(as_array(texts, 1)))


def _substring(text: str, start: int, count: int | None = None) -> str | None:
    if count is not None and count < 0:
        return None
    first = len(text) + start if start < 0 else max(start - 1, 0)
    if first < 0:
        return ""
    return text[first:] if count is None else text[first : first + count]


def _left(text: str, count: int) -> str:
    return text[: max(count, 0)]


def _right(text: str, count: int) -> str:
    return text[-count:] if count > 0 else ""


left, right = per_value(_left), per_value(_right)


def _position(needle: str, text: str, start: int = 1) -> int:
    return text.find(needle, max(start - 1, 0)) + 1


position = per_value(_position)


def _locate(needle: str, text: str, start: int = 1) -> int:
    return text.find(needle, max(start - 1, 0)) + 1


locate = per_value(_locate)


def _instr(text: str, needle: str, start: int = 1, occurrence: int = 1) -> int:
    """The place of an occurrence, searching backwards from the end for a negative start."""
    if start >= 0:
        place = max(start - 1, 0) - 1
        for _ in range(occurrence):
            place = text.find(needle, place + 1)
            if place < 0:
                return 0
        return place + 1
    place = len(text) + start + 1
    for _ in range(occurrence):
        place = text.rfind(needle, 0, place - 1 + len(needle)) if place > 0 else -1
        if place < 0:
            return 0
    return place + 1


instr = per_value(_instr)


def trim(call: Invocation) -> Datum:
    """Removes characters of a set from one or both ends."""
    side = call.option("side", "BOTH")
    strip = {"BOTH": str.strip, "LEADING": str.lstrip, "TRAILING": str.rstrip}[side]
    return per_value(lambda text, characters=" ": strip(text, characters))(call)


def trimming(strip: Callable[[str, str], str]) -> Kernel:
    return per_value(lambda text, characters=" ": strip(text, characters))


def _repeat(text: str, count: int) -> str:
    return text * max(count, 0)


repeat = per_value(_repeat)


def _replace(text: str, search: str, replacement: str) -> str:
    return text.replace(search, replacement)


def replace(call: Invocation) -> Datum:
    texts, search, replacement = call.arguments
    constants = is_constant(search) and is_constant(replacement) and search.is_valid and replacement.is_valid
    if constants and search.as_py() and not is_constant(texts):
        return pc.replace_substring(texts, search.as_py(), replacement.as_py())
    return per_value(_replace)(call)


def _translate(text: str, characters: str | None, replacements: str | None) -> str | None:
    if text is None or replacements is None or not characters:
        return text
    table: dict[str, str] = {}
    for place, character in enumerate(characters):
        table.setdefault(character, replacements[place : place + 1])
    return "".join(table.get(character, character) for character in text)


translate = per_value(_translate)


def _overlay(text: str, piece: str, start: int, count: int | None = None) -> str:
    if start <= 0 or start > len(text):
        return text
    width = len(piece) if count is None else count
    # As in Flink, nothing follows the piece where nothing is replaced.
    return text[: start - 1] + piece + (text[start - 1 + width :] if width > 0 else "")


overlay = per_value(_overlay)


def _initcap(text: str) -> str:
    """Words are runs of ASCII letters and digits, as in Flink."""
    return re.sub(r"[A-Za-z0-9]+", lambda match: match.group()[0].upper() + match.group()[1:].lower(), text)


initcap = per_value(_initcap)


def _pad(text: str, width: int, fill: str, at_front: bool) -> str | None:
    if width < 0:
        return None
    if width <= len(text):
        return text[:width]
    if not fill:
        return None
    missing = (fill * (width // len(fill) + 1))[: width - len(text)]
    return missing + text if at_front else text + missing


lpad = per_value(lambda text, width, fill: _pad(text, width, fill, True))
rpad = per_value(lambda text, width, fill: _pad(text, width, fill, False))


def _split_index(text: str, separator: Any, index: int) -> str | None:
    """An empty text has no parts; the separator may be the number of a character."""
    if isinstance(separator, int):
        separator = chr(separator) if 0 < separator <= 0xFFFF else ""
    if index < 0 or not separator or not text:
        return None
    parts = text.split(separator)
    return parts[index] if index < len(parts) else None


def split_index(call: Invocation) -> Datum:
    texts, separator, index = call.arguments
    simple = is_constant(separator) and is_constant(index) and separator.is_valid and index.is_valid
    if simple and not is_constant(texts) and pa.types.is_string(separator.type) and index.as_py() >= 0:
        character = separator.as_py().encode()
        if len(character) == 1:
            return part_of_texts(texts, character, index.as_py())
        if character:
            return _element_or_null(texts, pc.split_pattern(texts, separator.as_py()), index.as_py())
    return per_value(_split_index)(call)


def _element_or_null(texts: Datum, parts: pa.Array, index: int) -> pa.Array:
    long_enough = pc.and_(pc.greater(pc.list_value_length(parts), index), pc.greater(pc.binary_length(texts), 0))
    enough = pc.fill_null(long_enough, False)
    if pc.all(enough).as_py():
        return pc.list_element(parts, index)
    shown = pc.list_element(parts.filter(enough), index)
    places = pc.subtract(pc.cumulative_sum(pc.cast(enough, pa.int64())), 1)
    return shown.take(pc.if_else(enough, places, pa.scalar(None, pa.int64())))


def _split(text: str, separator: str) -> list[str]:
    if text == "":
        return []
    return list(text) if separator == "" else text.split(separator)


split = per_value(_split)


def _str_to_map(text: str, between: str = ",", inside: str = "=") -> dict[str, str | None]:
    """Both delimiters are regular expressions; a part without the second one has no value."""
    found: dict[str, str | None] = {}
    if not text:
        return found
    for part in re.split(between, text):
        pieces = re.split(inside, part, maxsplit=1)
        found[pieces[0]] = pieces[1] if len(pieces) > 1 else None
    return found


str_to_map = per_value(_str_to_map)


def _elt(index: int, *values: Any) -> Any:
    return values[index - 1] if index is not None and 1 <= index <= len(values) else None


elt = per_value(_elt, nulls=True)
starts_with = per_value(lambda text, start: text.startswith(start))
ends_with = per_value(lambda text, end: text.endswith(end))


def _is_decimal(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?[dDfF]?", text.strip()) is not None


is_alpha = per_value(lambda text: bool(text) and text.isalpha(), nulls=True)
is_digit = per_value(lambda text: bool(text) and text.isdigit(), nulls=True)
is_decimal = per_value(lambda text: text is not None and _is_decimal(text), nulls=True)


def like(call: Invocation) -> Datum:
    pattern = call.arguments[1]
    if len(call.arguments) == 2 and is_constant(pattern) and pattern.is_valid:
        return pc.match_like(call.arguments[0], pattern.as_py()) if "\\" not in pattern.as_py() else _like(call)
    return _like(call)


def _like(call: Invocation) -> Datum:
    return per_value(lambda text, pattern, escape=None: _like_regex(pattern, escape).fullmatch(text) is not None)(call)


@lru_cache(maxsize=512)
def _like_regex(pattern: str, escape: str | None) -> re.Pattern[str]:
    parts, place = [], 0
    while place < len(pattern):
        character = pattern[place]
        if escape and character == escape:
            place += 1
            if place == len(pattern):
                raise ValueFailure(f"The pattern {pattern!r} ends with its escape character")
            parts.append(re.escape(pattern[place]))
        else:
            parts.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
        place += 1
    return re.compile("".join(parts), re.DOTALL)


def _similar(text: str, pattern: str, escape: str | None = None) -> bool:
    return _similar_regex(pattern, escape).fullmatch(text) is not None


@lru_cache(maxsize=512)
def _similar_regex(pattern: str, escape: str | None) -> re.Pattern[str]:
    r"""% and _ as in LIKE; | * + ? { } ( ) [ ] as in regular expressions; . ^ $ \ are plain."""
    parts, place, in_set = [], 0, False
    while place < len(pattern):
        character = pattern[place]
        if escape and character == escape and place + 1 < len(pattern):
            place += 1
            parts.append(re.escape(pattern[place]))
        elif character in "[]":
            in_set = character == "["
            parts.append(character)
        elif in_set:
            parts.append(character)
        elif character in ".^$\\":
            parts.append("\\" + character)
        else:
            parts.append({"%": ".*", "_": "."}.get(character, character))
        place += 1
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error as error:
        raise ValueFailure(f"{pattern!r} is no pattern of SIMILAR TO: {error}") from None


similar = per_value(_similar)
