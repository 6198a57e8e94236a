"""How the client shows the rows of a query: TABLEAU, CHANGELOG, or TABLE, which is drawn again while it changes."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator

from penstock.cli.sql.changelog_table import ChangelogTable
from penstock.table.session.table_picture import frame, line, picture, width_by_content, width_by_type
from penstock.table.table_result import TableResult

MODES = ("TABLE", "CHANGELOG", "TABLEAU")
_REDRAW_SECONDS = 0.25
_LINES_AROUND = 6  # frame, title and prompt


def show(result: TableResult, mode: str, most_rows: int, live: bool) -> None:
    """Prints the result; Ctrl-C ends a query that runs on."""
    try:
        if result.get_job_client() is None or result._style == "raw":
            result.print()
        elif mode == "TABLE":
            _show_table(result, most_rows, live)
        elif mode == "CHANGELOG" and live:
            _show_changes(result, most_rows)
        else:
            result.print()
    except KeyboardInterrupt:
        client = result.get_job_client()
        if client is not None:
            client.cancel().result()
        print("Query terminated, its job was cancelled.")


def _show_table(result: TableResult, most_rows: int, live: bool) -> None:
    table = ChangelogTable(most_rows)
    names = [field.name for field in result._fields]
    screen = _Screen() if live else None
    widths = [width_by_type(field.name, field.data_type) for field in result._fields]
    for kind, row in _changes(result):
        table.apply(kind, row)
        if screen is not None:
            screen.draw(lambda: _page(names, widths, table, screen.height()))  # noqa: B023 (called at once)
    if screen is not None:
        screen.clear()
    rows = table.rows()
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    fitted = [min(30, width_by_content(name, texts)) for name, texts in zip(names, columns, strict=True)]
    fitted = [max(width, len(name)) for width, name in zip(fitted, names, strict=True)]
    for text in picture(names, fitted, rows):
        print(text)


def _show_changes(result: TableResult, most_rows: int) -> None:
    """The last changes while they come, drawn again; all that were kept when the query has ended."""
    changes: deque[tuple[str, ...]] = deque(maxlen=most_rows)
    names = ["op", *(field.name for field in result._fields)]
    widths = [2, *(width_by_type(field.name, field.data_type) for field in result._fields)]
    screen, count = _Screen(), 0

    def page() -> list[str]:
        shown = list(changes)[-max(1, screen.height() - _LINES_AROUND) :]
        lines = [frame(widths), line(names, widths), frame(widths), *(line(row, widths) for row in shown)]
        return [*lines, frame(widths), f"{count} changes; Ctrl-C ends the query"]

    for kind, row in _changes(result):
        changes.append((kind, *row))
        count += 1
        screen.draw(page)
    screen.clear()
    for text in picture(names, widths, list(changes)):
        print(text)


def _changes(result: TableResult) -> Iterator[tuple[str, tuple[str, ...]]]:
    kinds = result._style == "changes"
    for batch in result._batches():
        for row in result._texts(batch):
            yield (row[0], row[1:]) if kinds else ("+I", row)


def _page(names: list[str], widths: list[int], table: ChangelogTable, height: int) -> list[str]:
    rows = table.rows()
    shown = rows[-max(1, height - _LINES_AROUND) :]
    lines = [frame(widths), line(names, widths), frame(widths), *(line(row, widths) for row in shown), frame(widths)]
    return [*lines, f"{len(rows)} rows after {table.changes} changes; Ctrl-C ends the query"]


class _Screen:
    """Draws over what it drew before."""

    def __init__(self) -> None:
        self._drawn = 0
        self._next = 0.0

    def height(self) -> int:
        import shutil

        return shutil.get_terminal_size().lines

    def draw(self, page: object) -> None:
        now = time.monotonic()
        if now < self._next or not callable(page):
            return
        self._next = now + _REDRAW_SECONDS
        lines = page()
        self.clear()
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
        self._drawn = len(lines)

    def clear(self) -> None:
        if self._drawn:
            sys.stdout.write(f"\x1b[{self._drawn}F\x1b[J")
        self._drawn = 0
