"""How the client shows the rows of a query: TABLEAU, CHANGELOG, or TABLE, which is drawn again while it changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import nullcontext

from penstock.cli.sql.changelog_table import ChangelogTable
from penstock.cli.sql.live_page import LivePage, page_height
from penstock.table.session.table_picture import frame, line, picture, width_by_content, width_by_type
from penstock.table.table_result import TableResult

MODES = ("TABLE", "CHANGELOG", "TABLEAU")
_WIDEST = 30  # column
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
    widths = [0] * len(names)  # grow with what is shown
    with LivePage(lambda: _page(names, widths, table)) if live else nullcontext() as screen:
        for changes in _changes(result):
            with screen.changing() if screen is not None else nullcontext():
                for kind, row in changes:
                    table.apply(kind, row)
    rows = table.rows()
    for text in picture(names, _fitted(names, rows), rows):
        print(text)


def _fitted(names: list[str], rows: Sequence[tuple[str, ...]]) -> list[int]:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    found = [min(_WIDEST, width_by_content(name, texts)) for name, texts in zip(names, columns, strict=True)]
    return [max(width, len(name)) for width, name in zip(found, names, strict=True)]


def _show_changes(result: TableResult, most_rows: int) -> None:
    """The last changes while they come, drawn again; all that were kept when the query has ended."""
    kept: deque[tuple[str, ...]] = deque(maxlen=most_rows)
    names = ["op", *(field.name for field in result._fields)]
    widths = [2, *(width_by_type(field.name, field.data_type) for field in result._fields)]
    count = 0

    def page() -> list[str]:
        shown = list(kept)[-max(1, page_height() - _LINES_AROUND) :]
        lines = [frame(widths), line(names, widths), frame(widths), *(line(row, widths) for row in shown)]
        return [*lines, frame(widths), f"{count} changes; Ctrl-C ends the query"]

    with LivePage(page) as screen:
        for changes in _changes(result):
            with screen.changing():
                kept.extend((kind, *row) for kind, row in changes)
                count += len(changes)
    for text in picture(names, widths, list(kept)):
        print(text)


def _changes(result: TableResult) -> Iterator[list[tuple[str, tuple[str, ...]]]]:
    """As they come together: the halves of an update are in one list."""
    kinds = result._style == "changes"
    for batch in result._batches():
        yield [(row[0], row[1:]) if kinds else ("+I", row) for row in result._texts(batch)]


def _page(names: list[str], widths: list[int], table: ChangelogTable) -> list[str]:
    rows = table.rows()
    shown = rows[-max(1, page_height() - _LINES_AROUND) :]
    widths[:] = map(max, widths, _fitted(names, shown))
    lines = [frame(widths), line(names, widths), frame(widths), *(line(row, widths) for row in shown), frame(widths)]
    return [*lines, f"{len(rows)} rows after {table.changes} changes; Ctrl-C ends the query"]
