"""JSON paths: `$.a[0].b`, `$..b`, `$.a[?(@.b > 2)]`, strict (also without a prefix) or lax."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from penstock.columns.kernels.failure import ValueFailure

_Step = Callable[[list[Any]], list[Any]]


class PathMissing(Exception):
    """A strict path leads nowhere."""


@dataclass(frozen=True)
class JsonPath:
    """definite: it leads to one place at most; otherwise the result is the list of all that is found."""

    lax: bool
    definite: bool
    steps: tuple[Callable[[list[Any]], list[Any]], ...]

    def find(self, document: Any) -> Any:
        """What the path leads to; raises PathMissing when it leads nowhere, in lax mode as well."""
        nodes = [document]
        for step in self.steps:
            nodes = step(nodes)
        if self.definite:
            if not nodes:
                raise PathMissing
            return nodes[0]
        return nodes


@lru_cache(maxsize=512)
def compile_path(text: str) -> JsonPath:
    stripped = text.strip()
    lax = stripped.lower().startswith("lax ")
    if lax or stripped.lower().startswith("strict "):
        stripped = stripped.split(" ", 1)[1].strip()
    if not stripped.startswith("$"):
        raise ValueFailure(f"{text!r} is no JSON path: it must begin with $")
    steps, definite = _steps(stripped[1:], text)
    return JsonPath(lax, definite, tuple(steps))


_PIECE = re.compile(
    r"\.\.(?P<deep>\*|[\w$-]+)"
    r"|\.(?P<name>\*|[\w$-]+)"
    r"|\[\s*(?P<quoted>'(?:[^'\\]|\\.)*'(?:\s*,\s*'(?:[^'\\]|\\.)*')*|\"(?:[^\"\\]|\\.)*\")\s*\]"
    r"|\[\s*\?\s*\((?P<filter>.*?)\)\s*\]"
    r"|\[\s*(?P<index>-?\d+(?:\s*,\s*-?\d+)*)\s*\]"
    r"|\[\s*(?P<slice>-?\d*\s*:\s*-?\d*)\s*\]"
    r"|(?P<all>\[\s*\*\s*\])"
    r"|\.(?P<function>length)\(\)"
)


def _steps(rest: str, text: str) -> tuple[list[_Step], bool]:
    steps: list[_Step] = []
    definite = True
    position = 0
    while position < len(rest):
        match = _PIECE.match(rest, position)
        if match is None:
            raise ValueFailure(f"{text!r} is no JSON path: cannot read {rest[position:]!r}")
        kind = match.lastgroup
        value = match.group(kind) if kind else ""
        step, single = _step(kind or "", value)
        steps.append(step)
        definite = definite and single
        position = match.end()
    return steps, definite


def _step(kind: str, value: str) -> tuple[_Step, bool]:
    if kind == "deep":
        return (lambda nodes: [found for node in nodes for found in _descendants(node, value)]), False
    if kind == "all" or value == "*":
        return (lambda nodes: [child for node in nodes for child in _children(node)]), False
    if kind == "name":
        return (lambda nodes: _members(nodes, [value])), True
    if kind == "quoted":
        names = [name[1:-1] for name in re.findall(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", value)]
        return (lambda nodes: _members(nodes, names)), len(names) == 1
    if kind == "index":
        places = [int(place) for place in value.split(",")]
        return (lambda nodes: _elements(nodes, places)), len(places) == 1
    if kind == "slice":
        start, _, stop = value.partition(":")
        bounds = slice(int(start) if start.strip() else None, int(stop) if stop.strip() else None)
        return (lambda nodes: [item for node in nodes if isinstance(node, list) for item in node[bounds]]), False
    return _filter(value), False


def _members(nodes: list[Any], names: list[str]) -> list[Any]:
    return [node[name] for node in nodes if isinstance(node, dict) for name in names if name in node]


def _elements(nodes: list[Any], places: list[int]) -> list[Any]:
    return [
        node[place] for node in nodes if isinstance(node, list) for place in places if -len(node) <= place < len(node)
    ]


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return list(node) if isinstance(node, list) else []


def _descendants(node: Any, name: str) -> list[Any]:
    found = []
    if isinstance(node, dict) and name in node:
        found.append(node[name])
    elif name == "*":
        found.extend(_children(node))
    for child in _children(node):
        found.extend(_descendants(child, name))
    return found


_COMPARISON = re.compile(r"\s*@((?:\.[\w$-]+|\[\d+\])*)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?))?\s*$")


def _filter(text: str) -> _Step:
    alternatives = [[_condition(part) for part in re.split(r"&&", side)] for side in re.split(r"\|\|", text)]

    def keep(node: Any) -> bool:
        return any(all(test(node) for test in tests) for tests in alternatives)

    return lambda nodes: [item for node in nodes for item in _children(node) if keep(item)]


def _condition(text: str) -> Callable[[Any], bool]:
    match = _COMPARISON.match(text)
    if match is None:
        raise ValueFailure(f"The JSON path filter {text!r} is not understood: compare @.field with a constant")
    path, sign, right = match.groups()
    steps, _ = _steps(path, text)
    wanted = json.loads(right.replace("'", '"')) if right is not None else None

    def test(node: Any) -> bool:
        nodes = [node]
        for step in steps:
            nodes = step(nodes)
        if not nodes:
            return False
        return True if sign is None else _compare(nodes[0], sign, wanted)

    return test


def _compare(left: Any, sign: str, right: Any) -> bool:
    try:
        return {
            "==": lambda: bool(left == right),
            "!=": lambda: bool(left != right),
            "<": lambda: bool(left < right),
            "<=": lambda: bool(left <= right),
            ">": lambda: bool(left > right),
            ">=": lambda: bool(left >= right),
        }[sign]()
    except TypeError:
        return False
