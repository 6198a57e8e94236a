"""Runs one statement with PyFlink's API, ours or Flink's own, and writes down what it gives as lines of text."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Printed = Callable[[Callable[[], None]], str]  # calls, and returns what was printed meanwhile
HERE = Path(__file__).parent
QUERY = re.compile(r"\s*(SELECT|WITH|VALUES|\(|FROM)\b", re.IGNORECASE)
INSERT = re.compile(r"\s*INSERT INTO (out_\w+)", re.IGNORECASE)
SET = re.compile(r"\s*SET '(.*?)' = '(.*)'", re.IGNORECASE)  # Flink leaves that to its client
CHANGE = re.compile(r"[+-][IUD] ")


def read(path: Path) -> list[tuple[str, str, list[str]]]:
    """(level, statement, lines) of each statement of a file; the levels are those of test_recorded.py."""
    found = []
    for part in re.split(r"^##SQL", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, *lines = part.rstrip("\n").split("\n")
        level, _, statement = head.partition(" ")
        found.append((level, statement, lines))
    return found


def write(path: Path, recorded: Sequence[tuple[str, str, list[str]]]) -> None:
    lines = [line for level, statement, given in recorded for line in (f"##SQL{level} {statement}", *given)]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def run(session: Any, statement: str, out: Path, printed: Printed, mode_detail: Any) -> list[str]:
    """What a statement gives: types, changelog mode and changes of a query, rows of a sink, or what is printed."""
    text = statement.replace("{dir}", str(HERE / "data")).replace("{out}", str(out))
    if QUERY.match(text):
        return _query(session, text, printed, mode_detail)
    option = SET.match(text)
    if option:
        session.get_config().set(option[1], option[2])
        return []
    sink = INSERT.match(text)
    if sink:
        shutil.rmtree(out / sink[1], ignore_errors=True)
        session.execute_sql(text).wait()
        return _written(out / sink[1])
    shown = printed(session.execute_sql(text).print)
    if str(out) in shown:  # whose length is that of the picture
        shown = re.sub("-{3,}", "---", re.sub(" {3,}", "   ", shown.replace(str(out), "{out}")))
    return shown.rstrip("\n").split("\n")


def _query(session: Any, text: str, printed: Printed, mode_detail: Any) -> list[str]:
    columns = " ".join(printed(session.sql_query(text).print_schema).split())
    plan = session.explain_sql(text, mode_detail)
    mode = re.search(r"== Optimized (?:Physical|Execution) Plan ==\n.*?changelogMode=\[([A-Z,]*)\]", plan)
    with session.execute_sql(text).collect() as rows:
        changes = [f"{_KINDS[str(row.get_row_kind())]} {_shown(tuple(row))}" for row in rows]
    return [f"types: {columns}", f"mode: {mode[1] if mode else ''}", *changes]


def _shown(value: Any) -> str:
    """repr(), but maps and multisets in the order of their keys, and PyFlink's bytearray as bytes."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{_shown(key)}: {_shown(one)}" for key, one in value.items())) + "}"
    if type(value) in (list, tuple):
        inside = ", ".join(map(_shown, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)" if len(value) == 1 else f"({inside})"
    return repr(bytes(value) if isinstance(value, bytearray) else value)


_KINDS = {
    **{kind: kind for kind in ("+I", "-U", "+U", "-D")},
    "RowKind.INSERT": "+I",
    "RowKind.UPDATE_BEFORE": "-U",
    "RowKind.UPDATE_AFTER": "+U",
    "RowKind.DELETE": "-D",
}


def _written(directory: Path) -> list[str]:
    lines = []
    for path in sorted(directory.rglob("*")):
        if path.is_file() and path.name.startswith("part-"):
            for line in path.read_text("utf-8").splitlines():
                change = json.loads(line)
                row = change["before"] if change["op"] == "d" else change["after"]
                lines.append(f"{'-D' if change['op'] == 'd' else '+I'} {tuple(row.values())!r}")
    return lines


def table_of(lines: Sequence[str]) -> Counter[str]:
    """What changes add up to; a row that is taken back must be there."""
    table: Counter[str] = Counter()
    for line in lines:
        if CHANGE.match(line):
            table[line[3:]] += 1 if line[0] == "+" else -1
            assert table[line[3:]] >= 0, f"a row was taken back that was not there: {line}"
    return +table


def agrees(level: str, expected: Sequence[str], given: Sequence[str]) -> bool:
    """As the level says: in order, the same changes, or the same table."""
    if not level or not any(CHANGE.match(line) for line in expected):
        return list(expected) == list(given)
    heads = [[line for line in lines if not CHANGE.match(line)] for lines in (expected, given)]
    if level == "*":
        heads = [[line for line in lines if not line.startswith("mode:")] for lines in heads]
    same = level != "~" or Counter(expected) == Counter(given)
    return heads[0] == heads[1] and same and table_of(given) == table_of(expected)
