"""Which columns an expression sees: those of the tables in FROM, by their aliases, and those of queries around."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from penstock.columns.typed.nodes import Aggregate, InputRef, OuterRef, Typed
from penstock.table.logical.builder import result_type
from penstock.table.logical.nodes import Field, Fields, Relation
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax.position import Position


@dataclass(frozen=True)
class Namespace:
    """A table in FROM: how it may be called, and where its columns begin."""

    path: tuple[str, ...]
    start: int
    fields: Fields
    shared: frozenset[str] = (
        frozenset()
    )  # columns that USING shows once, before the tables; by the table's name they stay

    @property
    def shown(self) -> list[tuple[int, Field]]:
        """Where its columns are, without those that USING shows elsewhere."""
        return [(self.start + place, field) for place, field in enumerate(self.fields) if field.name not in self.shared]

    def called(self, qualifier: tuple[str, ...]) -> bool:
        return len(qualifier) <= len(self.path) and self.path[-len(qualifier) :] == qualifier


class RelationScope:
    """Columns of a relation. What only some places allow is asked of hooks, which refuse by default."""

    def __init__(
        self,
        namespaces: tuple[Namespace, ...],
        outer: RelationScope | None = None,
        clause: str = "this clause",
        sql: bool = True,
        subquery: Callable[[syntax.Expr, Resolver, RelationScope], Typed] | None = None,
        aggregates: bool = False,
        grouped: bool = True,
        windows: Callable[[syntax.Over, Resolver], Typed] | None = None,
        special: Callable[[syntax.Call, Resolver], Typed | None] | None = None,
    ) -> None:
        self.namespaces = namespaces
        self.outer = outer
        self.sql = sql
        self._clause = clause
        self._subquery = subquery
        self._aggregates = aggregates
        self._grouped = grouped
        self._windows = windows
        self._special = special

    @property
    def fields(self) -> Fields:
        return tuple(field for namespace in self.namespaces for field in namespace.fields)

    def column(self, parts: tuple[str, ...], position: Position | None) -> tuple[Typed, tuple[str, ...]]:
        found = self._find(parts, position)
        if found is not None:
            index, field, rest = found
            return InputRef(field.data_type, index, field.name, field.time), rest
        scope, level = self.outer, 1
        while scope is not None:
            found = scope._find(parts, position)
            if found is not None:
                index, field, rest = found
                return OuterRef(field.data_type, index, field.name, field.time, level), rest
            scope, level = scope.outer, level + 1
        raise self._missing(parts, position)

    def _find(self, parts: tuple[str, ...], position: Position | None) -> tuple[int, Field, tuple[str, ...]] | None:
        for length in range(len(parts) - 1, 0, -1):
            hits = [space for space in self.namespaces if space.path and space.called(parts[:length])]
            if hits:
                field = self._in_namespace(hits[0], parts[length], position)
                return (*field, parts[length + 1 :])
        matches = [column for space in self.namespaces for column in space.shown if column[1].name == parts[0]]
        if len(matches) > 1:
            owners = [".".join(s.path) for s in self.namespaces if any(f.name == parts[0] for f in s.fields)]
            raise SqlValidationError(
                f"Column {parts[0]!r} is ambiguous: it is in {' and in '.join(owners) or 'several tables'}."
                " Write the table in front of it.",
                position,
            )
        return (*matches[0], parts[1:]) if matches else None

    def _in_namespace(self, space: Namespace, name: str, position: Position | None) -> tuple[int, Field]:
        for place, field in enumerate(space.fields):
            if field.name == name:
                return space.start + place, field
        names = [field.name for field in space.fields]
        raise SqlValidationError(
            f"There is no column {name!r} in {'.'.join(space.path)}.{suggestion(name, names)}", position
        )

    def _missing(self, parts: tuple[str, ...], position: Position | None) -> SqlValidationError:
        names = [field.name for field in self.fields]
        tables = [".".join(space.path) for space in self.namespaces if space.path]
        what = ".".join(parts)
        if len(parts) > 1:
            return SqlValidationError(
                f"There is no table or column {parts[0]!r} for {what!r}.{suggestion(parts[0], tables + names)}",
                position,
            )
        return SqlValidationError(f"There is no column {what!r}.{suggestion(what, names)}", position)

    def aggregate(self, call: Aggregate, position: Position | None) -> Typed:
        if not self._aggregates:
            raise SqlValidationError(
                f"{call.function.upper()} is an aggregate function and cannot stand in {self._clause}.", position
            )
        return replace(call, data_type=result_type(call, self._grouped))

    def over(self, call: syntax.Over, resolver: Resolver) -> Typed:
        if self._windows is None:
            raise SqlValidationError(f"OVER cannot stand in {self._clause}.", call.position)
        return self._windows(call, resolver)

    def subquery(self, expression: syntax.Expr, resolver: Resolver) -> Typed:
        if self._subquery is None:
            raise SqlValidationError(f"A subquery cannot stand in {self._clause}.", expression.position)
        return self._subquery(expression, resolver, self)

    def special(self, call: syntax.Call, resolver: Resolver) -> Typed | None:
        return None if self._special is None else self._special(call, resolver)


def single(relation: Relation, path: tuple[str, ...] = ()) -> tuple[Namespace, ...]:
    """The only namespace of a relation under a name."""
    return (Namespace(path, 0, relation.fields),)


def side_by_side(left: tuple[Namespace, ...], right: tuple[Namespace, ...]) -> tuple[Namespace, ...]:
    return (*left, *moved_by(right, sum(len(space.fields) for space in left)))


def moved_by(spaces: tuple[Namespace, ...], offset: int) -> tuple[Namespace, ...]:
    return tuple(replace(space, start=space.start + offset) for space in spaces)
