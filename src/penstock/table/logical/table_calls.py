"""What the methods of Table mean: the same resolution and the same nodes as SQL, from fluent expressions."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.columns.typed.nodes import Aggregate, SubqueryTest, Typed, walk
from penstock.columns.typesystem.nested import RowType
from penstock.columns.typesystem.scalars import BooleanType
from penstock.table.logical import builder
from penstock.table.logical.column_names import names_of, of_groups
from penstock.table.logical.grouping import Groups
from penstock.table.logical.nodes import Relation
from penstock.table.logical.scope import Namespace, RelationScope, side_by_side, single
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import expressions as syntax


def _resolver(
    namespaces: tuple[Namespace, ...], clause: str, aggregates: bool = False, grouped: bool = True
) -> Resolver:
    scope = RelationScope(namespaces, None, clause, False, _in_table, aggregates, grouped)
    return Resolver(scope)


def _in_table(expression: syntax.Expr, resolver: Resolver, scope: RelationScope) -> Typed:
    assert isinstance(expression, syntax.InTable)
    plan: Relation = expression.table._relation
    if len(plan.fields) != 1:
        raise SqlValidationError(f"in_() takes a table of one column, but this one has {', '.join(plan.names)}.")
    operand = resolver.resolve(expression.operand)
    same = resolver.checked("equals", [operand, builder.references(plan)[0]], expression.position)
    return SubqueryTest(BooleanType(same.data_type.is_nullable), plan, (operand,), "equals")


def select(source: Relation, expressions: Sequence[syntax.Expr], keys: Sequence[syntax.Expr] | None = None) -> Relation:
    """`table.select(..)`, or with keys `table.group_by(..).select(..)`; aggregates without keys make one group."""
    resolver = _resolver(single(source), "select()", aggregates=True, grouped=keys is not None)
    spread = spread_columns(expressions, source)
    nodes = [resolver.resolve(expression) for expression in spread]
    names = names_of(spread, of_groups)
    grouped = keys is not None or any(isinstance(part, Aggregate) for node in nodes for part in walk(node))
    if not grouped:
        return builder.project(source, nodes, names)
    typed_keys = [_resolver(single(source), "group_by()").resolve(key) for key in keys or ()]
    groups = Groups(source, typed_keys, [tuple(range(len(typed_keys)))], None)
    for node in nodes:
        groups.note(node)
    relation = groups.relation()
    return builder.project(relation, [groups.rewrite(node, None) for node in nodes], names)


def where(source: Relation, condition: syntax.Expr) -> Relation:
    return builder.filtered(source, _resolver(single(source), "where()").boolean(condition, "where()"))


def add_columns(source: Relation, expressions: Sequence[syntax.Expr], replace: bool = False) -> Relation:
    """New columns after the old ones; with replace, one of an old name takes its place."""
    resolver = _resolver(single(source), "add_columns()")
    nodes, names = list(builder.references(source)), list(source.names)
    for expression, name in zip(expressions, names_of(expressions, first=len(names)), strict=True):
        node = resolver.resolve(expression)
        if name not in names:
            nodes.append(node)
            names.append(name)
        elif replace:
            nodes[names.index(name)] = node
        else:
            raise SqlValidationError(
                f"There is a column {name!r} already: give another alias, or use add_or_replace_columns()."
            )
    return builder.project(source, nodes, names)


def drop_columns(source: Relation, expressions: Sequence[syntax.Expr]) -> Relation:
    gone = {_column_name(expression, source) for expression in expressions}
    kept = [node for node, name in zip(builder.references(source), source.names, strict=True) if name not in gone]
    return builder.project(source, kept, [name for name in source.names if name not in gone])


def rename_columns(source: Relation, expressions: Sequence[syntax.Expr]) -> Relation:
    """`col("a").alias("b")` for each column that gets another name."""
    names = list(source.names)
    for expression in expressions:
        if not isinstance(expression, syntax.Aliased):
            raise SqlValidationError("rename_columns() takes columns with their new names: col('a').alias('b').")
        names[names.index(_column_name(expression.operand, source))] = expression.names[0]
    return builder.project(source, builder.references(source), names)


def join(left: Relation, right: Relation, condition: syntax.Expr | None, kind: str = "INNER") -> Relation:
    shared = [name for name in left.names if name in right.names]
    if shared:
        raise SqlValidationError(
            f"Both tables have columns {', '.join(map(repr, shared))}: rename them before the join, since the Table API"
            " has no table names to tell them apart."
        )
    spaces = side_by_side(single(left), single(right))
    test = None if condition is None else _resolver(spaces, "join()").boolean(condition, "join()")
    return builder.joined(left, right, kind, test)


def order_by(source: Relation, expressions: Sequence[syntax.Expr]) -> Relation:
    resolver = _resolver(single(source), "order_by()")
    orders = [item if isinstance(item, syntax.Order) else syntax.Order(item, nulls_first=False) for item in expressions]
    return builder.ordered(source, [resolver.sort_key(order) for order in orders])


def spread_columns(expressions: Sequence[syntax.Expr], source: Relation) -> list[syntax.Expr]:
    """*, flatten, with_columns(..) and without_columns(..) become the columns that they stand for."""
    found: list[syntax.Expr] = []
    for expression in expressions:
        if isinstance(expression, syntax.Star) or expression == syntax.Name(("*",)):
            found.extend(syntax.Name((name,)) for name in source.names)
        elif isinstance(expression, syntax.Call) and expression.function in ("withColumns", "withoutColumns"):
            chosen = [name for part in expression.arguments for name in _range(part, source)]
            keep = expression.function == "withColumns"
            names = chosen if keep else [name for name in source.names if name not in chosen]
            found.extend(syntax.Name((name,)) for name in names)
        elif isinstance(expression, syntax.Call) and expression.function == "flatten":
            found.extend(_flattened(expression.arguments[0], source))
        else:
            found.append(expression)
    return found


def _flattened(row: syntax.Expr, source: Relation) -> list[syntax.Expr]:
    """The fields of a row; any other value is itself."""
    data_type = _resolver(single(source), "flatten").resolve(row).data_type
    return [syntax.FieldOf(row, field.name) for field in data_type] if isinstance(data_type, RowType) else [row]


def with_named_keys(source: Relation, keys: Sequence[syntax.Expr]) -> tuple[Relation, list[syntax.Expr]]:
    """`group_by((col("a") + 1).alias("k"))`: keys that have names are columns of the grouped table."""
    named = [key for key in keys if isinstance(key, syntax.Aliased)]
    if named:
        source = add_columns(source, named)
    return source, [syntax.Name((key.names[0],)) if isinstance(key, syntax.Aliased) else key for key in keys]


def _range(expression: syntax.Expr, source: Relation) -> list[str]:
    if not (isinstance(expression, syntax.Call) and expression.function == "rangeTo"):
        return [_column_name(expression, source)]
    first, last = (_place(bound, source) for bound in expression.arguments)
    return list(source.names[first : last + 1])


def _place(bound: syntax.Expr, source: Relation) -> int:
    if isinstance(bound, syntax.Literal) and isinstance(bound.value, int):
        if not 1 <= bound.value <= len(source.names):
            raise SqlValidationError(f"There is no column number {bound.value}: there are {len(source.names)}.")
        return bound.value - 1
    return source.names.index(_column_name(bound, source))


def _column_name(expression: syntax.Expr, source: Relation) -> str:
    if isinstance(expression, syntax.Literal) and isinstance(expression.value, int):
        return source.names[_place(expression, source)]
    if not isinstance(expression, syntax.Name) or len(expression.parts) != 1:
        raise SqlValidationError("Here only columns can stand: col('name').")
    name = expression.parts[0]
    if name not in source.names:
        raise SqlValidationError(f"There is no column {name!r}.{suggestion(name, source.names)}")
    return name
