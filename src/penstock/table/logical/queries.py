"""From written queries to plans: WITH, SELECT and its clauses, set operations, ORDER BY and LIMIT."""

from __future__ import annotations

from dataclasses import replace

from penstock.columns.typed.nodes import Aggregate, Constant, SortKey, SubqueryTest, SubqueryValue, Typed, walk
from penstock.columns.typesystem import families
from penstock.columns.typesystem.nested import RowType
from penstock.columns.typesystem.scalars import BooleanType, IntType
from penstock.table.logical import builder
from penstock.table.logical.grouping import Groups, GroupWindow, expand, is_group_window
from penstock.table.logical.hints import SelectHints
from penstock.table.logical.nodes import Relation
from penstock.table.logical.outer import bound
from penstock.table.logical.over_windows import over_call
from penstock.table.logical.scope import Namespace, RelationScope, single
from penstock.table.logical.sources import SourceBuilder
from penstock.table.resolution.python_calls import with_functions
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax import queries as written
from penstock.table.syntax.position import Position


class QueryBuilder(SourceBuilder):
    """Names of tables come from a lookup; common table expressions are local to their query."""

    def query(self, query: written.Query, outer: RelationScope | None = None) -> Relation:
        find = getattr(self._tables, "find_function", None)
        if find is not None:
            query = with_functions(query, find)
        match query:
            case written.With(tables, body):
                return self._with(tables, body, outer)
            case written.Select():
                return self._select(query, (), outer)
            case written.SetOperation(kind, keep_all, left, right):
                sides = self.query(left, outer), self.query(right, outer)
                return builder.united(kind, keep_all, *sides, position=query.position)
            case written.ValuesQuery(rows):
                resolver = Resolver(self.scope((), outer, "VALUES"))
                typed = [[resolver.resolve(item) for item in row] for row in rows]
                return builder.values(typed, position=query.position)
            case written.TableQuery(source):
                return self.source(source, outer)[0]
            case written.Ordered():
                return self._ordered(query, outer)
        raise SqlValidationError(f"{type(query).__name__} is no query.", query.position)

    def _with(
        self, tables: tuple[written.CommonTable, ...], body: written.Query, outer: RelationScope | None
    ) -> Relation:
        inner: QueryBuilder = self.with_common_tables({})
        for table in tables:
            relation = inner.query(table.query, outer)
            if table.columns:
                relation = builder.renamed(relation, table.columns, body.position)
            inner = inner.with_common_tables({table.name: relation})
        return inner.query(body, outer)

    def scope(
        self, namespaces: tuple[Namespace, ...], outer: RelationScope | None, clause: str, **hooks: object
    ) -> RelationScope:
        return RelationScope(namespaces, outer, clause, subquery=self._subquery, **hooks)  # type: ignore[arg-type]

    def _subquery(self, expression: syntax.Expr, resolver: Resolver, scope: RelationScope) -> Typed:
        match expression:
            case syntax.ScalarQuery(query):
                plan, around = bound(self.query(query, scope))
                _one_column(plan, 1, expression.position)
                return SubqueryValue(plan.fields[0].data_type.nullable(), plan, around)
            case syntax.ExistsQuery(query):
                plan, around = bound(self.query(query, scope))
                return SubqueryTest(BooleanType(False), plan, outer=around)
            case syntax.InQuery(operands, query, negated):
                test = self._membership(operands, query, "equals", False, resolver, scope, expression.position)
                return resolver.checked("not", [test], expression.position) if negated else test
            case syntax.QuantifiedQuery(operand, comparison, quantifier, query):
                every = quantifier == "ALL"
                return self._membership((operand,), query, comparison, every, resolver, scope, expression.position)
        raise SqlValidationError("This subquery cannot stand here.", expression.position)

    def _membership(
        self,
        operands: tuple[syntax.Expr, ...],
        query: written.Query,
        comparison: str,
        every: bool,
        resolver: Resolver,
        scope: RelationScope,
        position: Position | None,
    ) -> Typed:
        plan, around = bound(self.query(query, scope))
        _one_column(plan, len(operands), position)
        typed = [resolver.resolve(operand) for operand in operands]
        nullable = False
        for node, column in zip(typed, builder.references(plan), strict=True):
            nullable |= resolver.checked(comparison, [node, column], position).data_type.is_nullable
        return SubqueryTest(BooleanType(nullable), plan, tuple(typed), comparison, every, around)

    def _ordered(self, query: written.Ordered, outer: RelationScope | None) -> Relation:
        if isinstance(query.query, written.Select) and query.order_by:
            relation = self._select(query.query, query.order_by, outer)
        else:
            relation = self.query(query.query, outer)
            if query.order_by:
                keys = [self._output_key(item, relation, outer) for item in query.order_by]
                found = [key for key in keys if key is not None]
                if len(found) < len(keys):
                    raise SqlValidationError("ORDER BY here can name only columns of the result.", query.position)
                relation = builder.ordered(relation, found, query.position)
        if query.offset is None and query.limit is None:
            return relation
        offset = 0 if query.offset is None else _whole(query.offset, "OFFSET")
        return builder.limited(relation, offset, None if query.limit is None else _whole(query.limit, "LIMIT"))

    def _output_key(self, item: syntax.Order, relation: Relation, outer: RelationScope | None) -> SortKey | None:
        """A column of the result by its number or name."""
        operand = item.operand
        nulls_first = item.ascending if item.nulls_first is None else item.nulls_first
        columns = builder.references(relation)
        if isinstance(operand, syntax.Literal) and isinstance(operand.value, int):
            if not 1 <= operand.value <= len(columns):
                raise SqlValidationError(
                    f"ORDER BY {operand.value}: there are only {len(columns)} columns.", operand.position
                )
            return SortKey(columns[operand.value - 1], item.ascending, nulls_first)
        if isinstance(operand, syntax.Name) and len(operand.parts) == 1 and operand.parts[0] in relation.names:
            return SortKey(columns[relation.names.index(operand.parts[0])], item.ascending, nulls_first)
        return None

    def _select(
        self, select: written.Select, order_by: tuple[syntax.Order, ...], outer: RelationScope | None
    ) -> Relation:
        relation, namespaces = self._from(select, outer)
        if select.where is not None:
            condition = Resolver(self.scope(namespaces, outer, "WHERE")).boolean(select.where, "WHERE")
            relation = builder.filtered(relation, condition, select.where.position)
        body = _SelectBody(self, select, relation, namespaces, outer)
        return body.build(order_by)

    def _from(self, select: written.Select, outer: RelationScope | None) -> tuple[Relation, tuple[Namespace, ...]]:
        hints = SelectHints(select.hints, select.source)
        if select.source is not None:
            found: tuple[Relation, tuple[Namespace, ...]] = self.with_hints(hints).source(select.source, outer)
            return found
        nothing = builder.values([[Constant(IntType(False), 0)]], ["ZERO"])
        return nothing, ()


class _SelectBody:
    """The items of one SELECT, with or without groups."""

    def __init__(
        self,
        queries: QueryBuilder,
        select: written.Select,
        relation: Relation,
        namespaces: tuple[Namespace, ...],
        outer: RelationScope | None,
    ) -> None:
        self._queries = queries
        self._select = select
        self._relation = relation
        self._namespaces = namespaces
        self._outer = outer
        self._windows = dict(select.windows)
        self._group_window: GroupWindow | None = None

    def build(self, order_by: tuple[syntax.Order, ...]) -> Relation:
        keys, sets = self._group_keys()
        resolver = self._resolver("SELECT")
        items = self._items(resolver)
        having = None if self._select.having is None else resolver.boolean(self._select.having, "HAVING")
        extra = self._sort_expressions(order_by, [name for name, _, _ in items], resolver)
        nodes = [node for _, node, _ in items]
        tested = [*nodes, *([having] if having is not None else []), *(node for node in extra if node is not None)]
        grouped = keys is not None or any(isinstance(part, Aggregate) for node in tested for part in walk(node))
        if grouped:
            nodes, having, extra = self._grouped(keys or [], sets, items, having, extra)
        elif having is not None:
            raise SqlValidationError("HAVING needs GROUP BY or an aggregate function.", self._select.position)
        if having is not None:
            self._relation = builder.filtered(self._relation, having)
        names = [name for name, _, _ in items]
        return self._finished(nodes, names, order_by, extra)

    def _finished(
        self, nodes: list[Typed], names: list[str], order_by: tuple[syntax.Order, ...], extra: list[Typed | None]
    ) -> Relation:
        """Projection, QUALIFY, DISTINCT and ORDER BY, which may use columns that are not selected."""
        for place, node in enumerate(nodes, 1):
            if families.is_null(node.data_type):
                raise SqlValidationError(
                    f"Column {place} is an untyped NULL: write CAST(NULL AS type).", self._select.position
                )
        hidden = [node for node in extra if node is not None]
        if hidden and self._select.distinct:
            raise SqlValidationError(
                "ORDER BY of SELECT DISTINCT can use only selected columns.", self._select.position
            )
        hidden_names = [f"$sort{place}" for place in range(len(hidden))]
        relation = builder.project(self._relation, [*nodes, *hidden], [*names, *hidden_names])
        if self._select.qualify is not None:
            scope = self._queries.scope(single(relation), self._outer, "QUALIFY")
            condition = Resolver(scope).boolean(self._select.qualify, "QUALIFY")
            relation = builder.filtered(relation, condition, self._select.qualify.position)
        if self._select.distinct:
            relation = builder.distinct(relation)
        if not order_by:
            return relation
        keys: list[SortKey] = []
        place = len(nodes)
        for item, carried in zip(order_by, extra, strict=True):
            key = self._queries._output_key(item, relation, self._outer) if carried is None else None
            if key is None:
                column = builder.references(relation)[place]
                nulls = item.ascending if item.nulls_first is None else item.nulls_first
                key, place = SortKey(column, item.ascending, nulls), place + 1
            keys.append(key)
        relation = builder.ordered(relation, keys, self._select.position)
        if not hidden:
            return relation
        return builder.project(relation, builder.references(relation)[: len(nodes)], relation.names[: len(nodes)])

    def _resolver(self, clause: str) -> Resolver:
        scope = self._queries.scope(
            self._namespaces,
            self._outer,
            clause,
            aggregates=True,
            grouped=self._select.group_by is not None,
            windows=lambda over, resolver: over_call(over, resolver, self._windows),
            special=self._special,
        )
        return Resolver(scope)

    def _special(self, call: syntax.Call, resolver: Resolver) -> Typed | None:
        return None if self._group_window is None else self._group_window.property(call)

    def _group_keys(self) -> tuple[list[Typed] | None, list[tuple[int, ...]]]:
        items = self._select.group_by
        if items is None:
            return None, []
        resolver = Resolver(self._queries.scope(self._namespaces, self._outer, "GROUP BY"))
        windows = [item for item in items if is_group_window(item)]
        added: list[Typed] = []
        if windows:
            call = windows[0]
            if len(windows) > 1 or not isinstance(call, syntax.Call):
                raise SqlValidationError("GROUP BY can have only one window.", self._select.position)
            self._group_window = GroupWindow(call, self._relation, resolver)
            self._relation = self._group_window.relation
            added = list(builder.references(self._relation)[self._group_window.width :])
        plain = tuple(item for item in items if not is_group_window(item))
        expressions, sets = expand(plain)
        keys = [self._group_key(expression, resolver) for expression in expressions]
        if added:
            extra = tuple(range(len(keys), len(keys) + len(added)))
            sets = [(*members, *extra) for members in sets]
        return [*keys, *added], sets

    def _group_key(self, expression: syntax.Expr, resolver: Resolver) -> Typed:
        """A column or an expression; an alias of the SELECT list is not known yet, and the message says so."""
        try:
            return resolver.resolve(expression)
        except SqlValidationError as error:
            aliases = [item.names for item in self._select.items if isinstance(item, syntax.Aliased)]
            if isinstance(expression, syntax.Name) and expression.parts in aliases:
                raise SqlValidationError(
                    f"{expression.parts[0]!r} is a name of the SELECT list, which GROUP BY does not see:"
                    " repeat the expression.",
                    expression.position,
                ) from error
            raise

    def _items(self, resolver: Resolver) -> list[tuple[str, Typed, Position | None]]:
        """Names, expressions and places of the selected columns, with * spread out."""
        found: list[tuple[str, Typed, Position | None]] = []
        for item in self._select.items:
            if isinstance(item, syntax.Star):
                found.extend(self._spread(item, resolver))
                continue
            node = resolver.resolve(item)
            found.append((_item_name(item, len(found)), node, item.position))
        return found

    def _spread(self, star: syntax.Star, resolver: Resolver) -> list[tuple[str, Typed, Position | None]]:
        spaces = [space for space in self._namespaces if not star.qualifier or space.called(star.qualifier)]
        if not spaces and (found := _fields_of(star, resolver)):
            return found
        if not spaces:
            what = ".".join((*star.qualifier, "*"))
            known = ", ".join(".".join(space.path) for space in self._namespaces if space.path)
            raise SqlValidationError(
                f"There is no table for {what}.{' There are: ' + known if known else ''}", star.position
            )
        columns = builder.references(self._relation)
        if star.qualifier:  # also what USING shows elsewhere
            spaces = [replace(space, shared=frozenset()) for space in spaces]
        return [(field.name, columns[place], star.position) for space in spaces for place, field in space.shown]

    def _sort_expressions(
        self, order_by: tuple[syntax.Order, ...], names: list[str], resolver: Resolver
    ) -> list[Typed | None]:
        """None for what the result has by name or number, otherwise an expression to be carried along."""
        found: list[Typed | None] = []
        for item in order_by:
            operand = item.operand
            number = isinstance(operand, syntax.Literal) and isinstance(operand.value, int)
            named = isinstance(operand, syntax.Name) and len(operand.parts) == 1 and operand.parts[0] in names
            found.append(None if number or named else resolver.resolve(operand))
        return found

    def _grouped(
        self,
        keys: list[Typed],
        sets: list[tuple[int, ...]],
        items: list[tuple[str, Typed, Position | None]],
        having: Typed | None,
        extra: list[Typed | None],
    ) -> tuple[list[Typed], Typed | None, list[Typed | None]]:
        groups = Groups(self._relation, keys, sets, self._group_window)
        for node in [*(node for _, node, _ in items), having, *extra]:
            if node is not None:
                groups.note(node)
        source = self._select.source
        ttl = None if source is None else SelectHints(self._select.hints, source).state_ttl(source)
        self._relation = groups.relation(ttl)
        nodes = [groups.rewrite(node, position) for _, node, position in items]
        condition = None if having is None else groups.rewrite(having, self._select.position)
        return nodes, condition, [None if node is None else groups.rewrite(node, None) for node in extra]


def _item_name(item: syntax.Expr, place: int) -> str:
    match item:
        case syntax.Aliased(_, names):
            if len(names) != 1:
                raise SqlValidationError("A column has one name.", item.position)
            return names[0]
        case syntax.Name(parts):
            return parts[-1]
        case syntax.FieldOf(syntax.Name() | syntax.FieldOf(), name):
            return name
    return f"EXPR${place}"


def _fields_of(star: syntax.Star, resolver: Resolver) -> list[tuple[str, Typed, Position | None]]:
    """Of a column that is a row: `r.*`."""
    row = syntax.Name(star.qualifier)
    try:
        data_type = resolver.resolve(row).data_type
    except SqlValidationError:
        return []
    names = data_type.field_names() if isinstance(data_type, RowType) else []
    return [(name, resolver.resolve(syntax.FieldOf(row, name)), star.position) for name in names]


def _one_column(plan: Relation, count: int, position: Position | None) -> None:
    if len(plan.fields) != count:
        wanted = "one column" if count == 1 else f"{count} columns"
        raise SqlValidationError(f"The subquery must give {wanted}, but gives {len(plan.fields)}.", position)


def _whole(expression: syntax.Expr, clause: str) -> int:
    if isinstance(expression, syntax.Literal) and isinstance(expression.value, int) and expression.value >= 0:
        return expression.value
    raise SqlValidationError(f"{clause} needs a whole number.", expression.position)
