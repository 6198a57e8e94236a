"""Hints of a SELECT: how long state of its tables is kept, how a table is looked up, and advice on joins.

Advice (BROADCAST and its kin) is checked and then not needed: every join here is by hash, of both sides in state.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.common.option_values import parse_duration
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import queries as written
from penstock.table.syntax.position import Position

_ADVICE = ("BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "MULTI_JOIN")
_KNOWN = ("STATE_TTL", "LOOKUP", *_ADVICE)


class SelectHints:
    """Hints name tables of the FROM behind their SELECT, by alias or last name."""

    def __init__(self, hints: tuple[written.Hint, ...] = (), source: written.TableSource | None = None) -> None:
        self._ttl: dict[str, int] = {}
        self._lookups: dict[str, written.Hint] = {}
        names = list(_names(source)) if source is not None else []
        position = None if source is None else source.position
        for hint in hints:
            for name in self._take(hint, position):
                if name not in names:
                    raise SqlValidationError(
                        f"The hint {hint.name} names {name!r}, but no table of this SELECT is called so."
                        f"{suggestion(name, names)}",
                        position,
                    )

    def _take(self, hint: written.Hint, position: Position | None) -> list[str]:
        """Notes the hint; the tables that it names."""
        if hint.name == "STATE_TTL":
            for name, text in hint.pairs:
                self._ttl[_last(name)] = _millis(text, position)
            return [_last(name) for name, _ in hint.pairs]
        if hint.name == "LOOKUP":
            table = dict(hint.pairs).get("table")
            if table is None:
                raise SqlValidationError("The hint LOOKUP needs the option 'table'.", position)
            self._lookups[_last(table)] = hint
            return [_last(table)]
        if hint.name in _ADVICE:
            return [_last(name) for name in hint.arguments]
        raise SqlValidationError(f"SELECT has no hint {hint.name}.{suggestion(hint.name, _KNOWN)}", position)

    def state_ttl(self, source: written.TableSource) -> int | None:
        """Of a table that stands alone on its side."""
        name = _name(source)
        return None if name is None else self._ttl.get(name)

    def lookup(self, source: written.TableSource) -> written.Hint | None:
        name = _name(source)
        return None if name is None else self._lookups.get(name)


def _millis(text: str, position: Position | None) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise SqlValidationError(f"STATE_TTL: {error}", position) from None


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _name(source: written.TableSource) -> str | None:
    match source:
        case written.AliasedTable(_, name, _):
            return name
        case written.NamedTable(path):
            return path[-1]
    return None


def _names(source: written.TableSource) -> Iterator[str]:
    if isinstance(source, written.Join):
        yield from _names(source.left)
        yield from _names(source.right)
        return
    name = _name(source)
    if name is not None:
        yield name
    if isinstance(source, written.AliasedTable):
        yield from _names(source.source)
