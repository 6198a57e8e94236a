"""What stands after FROM becomes relations: tables, views, joins, functions, UNNEST, windows, patterns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.columns.typed.nodes import Constant, InputRef, Typed
from penstock.columns.typesystem import families
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType
from penstock.columns.typesystem.scalars import IntType
from penstock.common.errors import NotSupportedError
from penstock.table.logical import builder
from penstock.table.logical.changelog_functions import arguments_of, changelog_function, is_changelog_function
from penstock.table.logical.conditions import moved
from penstock.table.logical.hints import SelectHints
from penstock.table.logical.nodes import Correlation, Field, Match, Project, Relation, Scan, Snapshot, Unnest
from penstock.table.logical.outer import bound
from penstock.table.logical.row_patterns import measure_field, resolved, variables_of
from penstock.table.logical.scope import Namespace, RelationScope, moved_by, side_by_side, single
from penstock.table.logical.table_functions import table_function, versioned
from penstock.table.logical.tables import TableLookup, ViewDefinition
from penstock.table.logical.windows import arguments_by_name, assign, is_window
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax import queries as written

_Found = tuple[Relation, tuple[Namespace, ...]]


class SourceBuilder:
    def __init__(
        self, tables: TableLookup, common: Mapping[str, Relation] | None = None, hints: SelectHints | None = None
    ) -> None:
        self._tables = tables
        self._common = dict(common or {})
        self._hints = hints or SelectHints()

    def with_common_tables(self, more: Mapping[str, Relation]) -> Any:
        return type(self)(self._tables, {**self._common, **more})

    def with_hints(self, hints: SelectHints) -> Any:
        return type(self)(self._tables, self._common, hints)

    def query(self, query: written.Query, outer: RelationScope | None = None) -> Relation:
        raise NotImplementedError

    def scope(self, namespaces: tuple[Namespace, ...], outer: RelationScope | None, clause: str) -> RelationScope:
        raise NotImplementedError

    def source(self, source: written.TableSource, outer: RelationScope | None) -> _Found:
        match source:
            case written.NamedTable():
                return self._named(source, outer)
            case written.AliasedTable(inner, name, columns):
                relation, _ = self.source(inner, outer)
                if columns:
                    relation = builder.renamed(relation, columns, source.position)
                return relation, single(relation, (name,))
            case written.DerivedTable(query):
                relation = self.query(query, outer)
                return relation, single(relation)
            case written.FunctionTable(call):
                relation = self._function(call, outer)
                return relation, single(relation)
            case written.UnnestTable():
                relation = self._unnest(source, outer)
                return relation, single(relation)
            case written.Join():
                return self._join(source, outer)
            case written.MatchRecognize():
                relation = self._match(source, outer)
                return relation, single(relation)
        raise SqlValidationError(f"{type(source).__name__} cannot stand in FROM.", source.position)

    def _named(self, table: written.NamedTable, outer: RelationScope | None) -> _Found:
        if len(table.path) == 1 and table.path[0] in self._common:
            relation = self._common[table.path[0]]
            return relation, single(relation, table.path)
        found = self._tables.find(table.path)
        if found is None:
            name = ".".join(table.path)
            raise SqlValidationError(
                f"There is no table {name!r}.{suggestion(table.path[-1], self._tables.known_names())}", table.position
            )
        if isinstance(found, ViewDefinition):
            relation = self.view_relation(found)
        else:
            relation = Scan(found.fields, table.path, found, table.hints, position=table.position)
        if table.snapshot is not None:
            period = Resolver(self.scope((), outer, "FOR SYSTEM_TIME AS OF")).resolve(table.snapshot)
            if not families.is_timestamp(period.data_type):
                raise SqlValidationError("FOR SYSTEM_TIME AS OF needs a timestamp.", table.snapshot.position)
            relation = Snapshot(relation.fields, relation, period, position=table.position)
        return relation, single(relation, table.path)

    def view_relation(self, view: ViewDefinition) -> Relation:
        relation = view.relation
        if relation is None:
            assert view.query is not None
            relation = type(self)(view.tables or self._tables).query(view.query)
        return builder.renamed(relation, view.columns) if view.columns else relation

    def _join(self, join: written.Join, outer: RelationScope | None) -> _Found:
        left, left_spaces = self.source(join.left, outer)
        kind = "INNER" if join.kind in ("CROSS", "COMMA") else join.kind
        lateral = _depends_on_left(join.right)
        beside = self.scope(left_spaces, outer, "a lateral table") if lateral else outer
        right, right_spaces = self.source(join.right, beside)
        hint = self._hints.lookup(join.right)
        if hint is not None:
            right = _with_lookup_hint(right, hint, join)
        _check_names(left_spaces, right_spaces, join)
        spaces = side_by_side(left_spaces, right_spaces)
        using = join.using or (_shared_names(left_spaces, right_spaces) if join.natural else ())
        condition: Typed | None = None
        if join.condition is not None:
            condition = Resolver(self.scope(spaces, outer, "ON")).boolean(join.condition, "ON")
        elif using:
            condition = self._using(left_spaces, right_spaces, using, join)
        if lateral:
            if kind not in ("INNER", "LEFT"):
                raise SqlValidationError(f"{kind} JOIN cannot be lateral: use INNER or LEFT JOIN.", join.position)
            relation: Relation = _correlated(left, right, kind, condition, join)
        else:
            ttl = self._hints.state_ttl(join.left), self._hints.state_ttl(join.right)
            relation = replace(builder.joined(left, right, kind, condition, join.position), state_ttl=ttl)
        spaces = _refreshed(spaces, relation)
        if not using:
            return relation, spaces
        resolver = Resolver(self.scope((), None, "USING"))
        columns = builder.references(relation)
        shared = []
        for name in using:
            ours, theirs = (
                next(columns[place] for space in side for place, field in space.shown if field.name == name)
                for side in (spaces[: len(left_spaces)], spaces[len(left_spaces) :])
            )
            one = theirs if kind == "RIGHT" else ours
            shared.append(one if kind != "FULL" else resolver.checked("COALESCE", [ours, theirs], join.position))
        return _without_copies(relation, spaces, using, shared)

    def _using(
        self, left: tuple[Namespace, ...], right: tuple[Namespace, ...], names: tuple[str, ...], join: written.Join
    ) -> Typed:
        sides = [RelationScope(left), RelationScope(side_by_side(left, right)[len(left) :])]
        resolver = Resolver(self.scope((), None, "USING"))
        pairs = []
        for name in names:
            if not all(_is_shown(name, side.namespaces) for side in sides):
                raise SqlValidationError(f"USING: there is no column {name!r} on both sides.", join.position)
            equal = [side.column((name,), join.position)[0] for side in sides]
            pairs.append(resolver.checked("equals", equal, join.position))
        return pairs[0] if len(pairs) == 1 else resolver.checked("and", pairs, join.position)

    def _function(self, call: syntax.Call | syntax.InlineCall, outer: RelationScope | None) -> Relation:
        if isinstance(call, syntax.InlineCall):
            versions = getattr(call.function, "_versions", None)
            if versions is not None:
                return versioned(versions, call, Resolver(self.scope((), outer, "LATERAL TABLE")))
            return table_function(call, Resolver(self.scope((), outer, "LATERAL TABLE")))
        if is_window(call.function):
            return self._window(call, outer)
        if is_changelog_function(call.function):
            given = arguments_of(call)
            relation, keys = self._table_argument(call.function, given.get("input"), call, outer)
            return changelog_function(call.function, relation, keys, given, call.position)
        raise NotSupportedError(
            f"Table function {call.function} cannot be called: only TUMBLE, HOP, CUMULATE, SESSION, UNNEST,"
            " TO_CHANGELOG and FROM_CHANGELOG can, and functions of your own."
        )

    def _window(self, call: syntax.Call, outer: RelationScope | None) -> Relation:
        relation, keys = self._table_argument(call.function, arguments_by_name(call)["DATA"], call, outer)
        return assign(relation, call, keys)

    def _table_argument(
        self, function: str, data: syntax.Expr | None, call: syntax.Call, outer: RelationScope | None
    ) -> tuple[Relation, tuple[int, ...]]:
        """A table that is handed to a function, and the columns that it is partitioned by."""
        if not isinstance(data, syntax.TableArgument):
            raise SqlValidationError(
                f"{function} takes a table: write TABLE name.", call.position if data is None else data.position
            )
        relation, spaces = self.source(data.source, outer)
        resolver = Resolver(self.scope(spaces, outer, "PARTITION BY"))
        keys = [resolver.resolve(one) for one in data.partition_by]
        if any(not isinstance(key, InputRef) for key in keys):
            raise SqlValidationError("PARTITION BY of a table argument takes columns.", data.position)
        return relation, tuple(key.index for key in keys if isinstance(key, InputRef))

    def _unnest(self, source: written.UnnestTable, outer: RelationScope | None) -> Relation:
        resolver = Resolver(self.scope((), outer, "UNNEST"))
        operands = tuple(resolver.resolve(operand) for operand in source.operands)
        fields: list[Field] = []
        for node in operands:
            fields.extend(_elements(node, len(fields), source))
        if source.ordinality:
            fields.append(Field("ORDINALITY", IntType(False)))
        return Unnest(tuple(fields), operands, source.ordinality, position=source.position)

    def _match(self, match: written.MatchRecognize, outer: RelationScope | None) -> Relation:
        """Partition and order are resolved; measures get their types where the pattern's semantics are known."""
        relation, spaces = self.source(match.source, outer)
        resolver = Resolver(self.scope(spaces, outer, "MATCH_RECOGNIZE"))
        keys = [resolver.resolve(one) for one in match.partition_by]
        order = tuple(resolver.sort_key(item) for item in match.order_by)
        if not order or not isinstance(order[0].operand, InputRef) or order[0].operand.time is None:
            raise SqlValidationError("MATCH_RECOGNIZE needs ORDER BY a time attribute, ascending.", match.position)
        places = tuple(key.index for key in keys if isinstance(key, InputRef))
        within = None
        if match.within is not None:
            span = resolver.resolve(match.within)
            within = span.value if isinstance(span, Constant) else None
        fields = [relation.fields[place] for place in places]
        if match.rows_per_match != "ONE":
            raise NotSupportedError("MATCH_RECOGNIZE gives ONE ROW PER MATCH; ALL ROWS PER MATCH is not supported.")
        variables = variables_of(match.pattern)
        for node, name in match.measures:
            fields.append(measure_field(resolved(node, relation.fields, variables, "MEASURES"), name))
        return Match(
            tuple(fields), relation, places, order, match.pattern, match.measures, match.defines, match.after_match,
            within, position=match.position,
        )  # fmt: skip


def _with_lookup_hint(right: Relation, hint: written.Hint, join: written.Join) -> Relation:
    if isinstance(right, Project):  # names of an alias
        return replace(right, source=_with_lookup_hint(right.source, hint, join))
    if not isinstance(right, Snapshot):
        raise SqlValidationError("LOOKUP is a hint for a table FOR SYSTEM_TIME AS OF a PROCTIME().", join.position)
    return replace(right, lookup_hint=hint)


def _correlated(left: Relation, right: Relation, kind: str, condition: Typed | None, join: written.Join) -> Relation:
    """What the right takes from queries further out comes with the left as columns, which are gone above."""
    fields = builder.joined(left, right, kind, condition).fields
    right, around = bound(right, [*builder.references(left)])
    width, added = len(left.fields), len(around) - len(left.fields)
    if not added:
        return Correlation(fields, left, right, kind, condition, position=join.position)
    left = builder.project(left, around, [*left.names, *(f"$outer{place}" for place in range(added))])
    if condition is not None:
        places = {place: place + (added if place >= width else 0) for place in range(len(fields))}
        condition = moved(condition, places)
    wide = Correlation(
        builder.joined(left, right, kind, condition).fields, left, right, kind, condition, position=join.position
    )
    columns = builder.references(wide)
    return builder.project(wide, [*columns[:width], *columns[width + added :]], [one.name for one in fields])


def _depends_on_left(source: written.TableSource) -> bool:
    match source:
        case written.AliasedTable(inner, _, _):
            return _depends_on_left(inner)
        case written.DerivedTable(_, lateral) | written.FunctionTable(_, lateral):
            return lateral
        case written.NamedTable():
            return source.snapshot is not None
    return isinstance(source, written.UnnestTable)


def _check_names(left: tuple[Namespace, ...], right: tuple[Namespace, ...], join: written.Join) -> None:
    taken = {space.path[-1] for space in left if space.path}
    again = next((space.path[-1] for space in right if space.path and space.path[-1] in taken), None)
    if again is not None:
        raise SqlValidationError(
            f"Two tables of FROM are called {again!r}: give one of them another name.", join.position
        )


def _is_shown(name: str, spaces: tuple[Namespace, ...]) -> bool:
    return any(field.name == name for space in spaces for _, field in space.shown)


def _shared_names(left: tuple[Namespace, ...], right: tuple[Namespace, ...]) -> tuple[str, ...]:
    return tuple(field.name for space in left for _, field in space.shown if _is_shown(field.name, right))


def _without_copies(
    relation: Relation, spaces: tuple[Namespace, ...], using: tuple[str, ...], shared: list[Typed]
) -> _Found:
    """USING shows the shared columns once, first; by the names of their tables both are still there."""
    columns = [*shared, *builder.references(relation)]
    projected = builder.project(relation, columns, [*using, *relation.names])
    fields = tuple(replace(projected.fields[place], name=name) for place, name in enumerate(using))
    rest = [replace(space, shared=space.shared | set(using)) for space in moved_by(spaces, len(using))]
    return projected, (Namespace((), 0, fields), *rest)


def _refreshed(spaces: tuple[Namespace, ...], relation: Relation) -> tuple[Namespace, ...]:
    """Outer joins change nullability, so that the namespaces see the joined columns under the names that they have."""
    found = []
    for space in spaces:
        joined = relation.fields[space.start : space.start + len(space.fields)]
        fields = tuple(replace(now, name=was.name) for now, was in zip(joined, space.fields, strict=True))
        found.append(replace(space, fields=fields))
    return tuple(found)


def _elements(node: Typed, start: int, source: written.UnnestTable) -> list[Field]:
    data_type = node.data_type
    if isinstance(data_type, MapType):
        return [Field("KEY", data_type.key_type), Field("VALUE", data_type.value_type)]
    if isinstance(data_type, (ArrayType, MultisetType)):
        element = data_type.element_type
        if isinstance(element, RowType):
            return [Field(field.name, field.data_type) for field in element.fields]
        return [Field(f"EXPR${start}", element)]
    raise SqlValidationError(
        f"UNNEST needs an array, a map or a multiset, but this is {data_type.as_summary_string()}.", source.position
    )
