"""Lists as Flink's configuration writes them: `a;b`, or YAML's `[a, "b c", 3]` and lines that begin with a dash."""

from __future__ import annotations

import re
from typing import Any

_FLOW_ITEM = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^,]*?))\s*(?:,|$)""")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None}


def yaml_list(text: str | None) -> list[Any]:
    """As PyFlink reads a list: scalars of a YAML list have types, parts between semicolons are text as they are."""
    if not text:
        return []
    stripped = text.strip()
    if stripped.startswith("[") and stripped.endswith("]"):
        return _flow_items(stripped[1:-1])
    lines = [line.strip() for line in stripped.splitlines() if line.strip()]
    if all(line.startswith("- ") for line in lines):
        return [_scalar(*_unquoted(line[2:].strip())) for line in lines]
    return text.split(";")


def _flow_items(inside: str) -> list[Any]:
    items: list[Any] = []
    position = 0
    while position < len(inside):
        found = _FLOW_ITEM.match(inside, position)
        assert found is not None  # everything up to a comma matches
        quoted = found[1] if found[1] is not None else found[2]
        if quoted is not None or found[3]:
            items.append(_scalar(quoted if quoted is not None else found[3], quoted is not None))
        position = max(found.end(), position + 1)
    return items


def _unquoted(text: str) -> tuple[str, bool]:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return (text[1:-1], True) if quoted else (text, False)


def _scalar(text: str, quoted: bool) -> Any:
    if quoted:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
