"""What map(), flat_map(), aggregate(), flat_aggregate() and join_lateral() of Table mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.columns.typed.nodes import InputRef, Invoke, Typed
from penstock.columns.typed.python_call import PythonCall, PythonFunction
from penstock.columns.typesystem.nested import RowField, RowType
from penstock.table.logical import builder
from penstock.table.logical.nodes import Correlation, Field, Relation, TableAggregation, unique_names
from penstock.table.logical.scope import RelationScope, single
from penstock.table.logical.table_functions import lateral, row_types, scanned, versioned
from penstock.table.resolution.python_calls import converted, python_aggregate, python_function
from penstock.table.resolution.resolver import Resolver, field_of
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax import expressions as syntax


def mapped(source: Relation, call: syntax.Expr) -> Relation:
    function, arguments, names = taken_apart(source, call, ("scalar", "async"), "map()")
    result = PythonCall(function.result_type, function, arguments)
    columns = row_types(function.result_type)
    if len(columns) == 1 and not isinstance(function.result_type, RowType):
        return builder.project(source, [result], names or ["_c0"])
    held = builder.project(source, [result], ["$row"])
    row = builder.references(held)[0]
    return builder.project(held, [field_of(row, name, None) for name, _ in columns], names or [n for n, _ in columns])


def flat_mapped(source: Relation, call: syntax.Expr) -> Relation:
    joined = lateral_join(source, call, "INNER")
    made = builder.references(joined)[len(source.fields) :]
    return builder.project(joined, made, joined.names[len(source.fields) :])


def lateral_join(source: Relation, call: syntax.Expr, kind: str, predicate: syntax.Expr | None = None) -> Relation:
    """Each row with those that a function gives for it; the predicate sees both, under their final names."""
    joined, names = _correlated(source, call, kind)
    renamed = builder.renamed(joined, names)
    if predicate is None:
        return renamed
    resolver = Resolver(RelationScope(single(renamed), None, "a lateral join", sql=False))
    return builder.renamed(replace(joined, condition=resolver.boolean(predicate, "a lateral join")), names)


def _correlated(source: Relation, call: syntax.Expr, kind: str) -> tuple[Correlation, list[str]]:
    inner = call.operand if isinstance(call, syntax.Aliased) else call
    versions = getattr(getattr(inner, "function", None), "_versions", None)
    if versions is not None and isinstance(inner, syntax.InlineCall):
        scope = RelationScope(single(source), None, "a lateral join", sql=False)
        right: Relation = versioned(versions, inner, Resolver(scope))
        names = list(call.names) if isinstance(call, syntax.Aliased) else []
        joined = Correlation(builder.joined(source, right, kind, None).fields, source, right, kind)
    else:
        function, arguments, names = taken_apart(source, call, ("table",), "a lateral join")
        scan = scanned(function, arguments)
        right, joined = scan, lateral(source, scan, kind)
    return joined, unique_names([*source.names, *(names or right.names)])


def aggregated(source: Relation, keys: Sequence[syntax.Expr], call: syntax.Expr) -> Relation:
    """Keys, and the columns of the ROW that the function gives."""
    function, arguments, names = taken_apart(source, call, ("aggregate",), "aggregate()")
    below, key_places, places = _prepared(source, keys, arguments)
    references = builder.references(below)
    node = python_aggregate(function, [references[place] for place in places], False, None, None)
    grouped = builder.aggregated(below, key_places, [node])
    *key_columns, row = builder.references(grouped)
    values, given = row_columns(function, row, names)
    return builder.project(grouped, [*key_columns, *values], [*grouped.names[:-1], *given])


def row_columns(function: PythonFunction, row: Typed, names: list[str]) -> tuple[list[Typed], list[str]]:
    """What a function gives as columns: the fields of a ROW, or the value."""
    columns = row_types(function.result_type)
    plain = not isinstance(function.result_type, RowType)
    values: list[Typed] = [row] if plain else [field_of(row, name, None) for name, _ in columns]
    return values, names or [name for name, _ in columns]


def flat_aggregated(source: Relation, keys: Sequence[syntax.Expr], call: syntax.Expr) -> Relation:
    function, arguments, names = taken_apart(source, call, ("table_aggregate",), "flat_aggregate()")
    below, key_places, places = _prepared(source, keys, arguments)
    columns = row_types(function.result_type)
    given = names or [name for name, _ in columns]
    fields = [
        *(Field(below.names[place], below.fields[place].data_type) for place in key_places),
        *(Field(name, kind) for name, (_, kind) in zip(given, columns, strict=True)),
    ]
    return TableAggregation(tuple(fields), below, tuple(key_places), function, tuple(places))


def _prepared(
    source: Relation, keys: Sequence[syntax.Expr], arguments: Sequence[Typed]
) -> tuple[Relation, list[int], list[int]]:
    """Keys and arguments as columns."""
    resolver = Resolver(RelationScope(single(source), None, "group_by()", sql=False))
    typed = [resolver.resolve(key) for key in keys]
    wanted = list(dict.fromkeys([*typed, *arguments]))
    names = [
        one.name if isinstance(one, InputRef) else _key_name(keys, typed, one, place)
        for place, one in enumerate(wanted)
    ]
    below = builder.project(source, wanted, names)
    return below, [wanted.index(key) for key in typed], [wanted.index(one) for one in arguments]


def _key_name(keys: Sequence[syntax.Expr], typed: list[Typed], one: Typed, place: int) -> str:
    written = keys[typed.index(one)] if one in typed else None
    return written.names[0] if isinstance(written, syntax.Aliased) else f"$f{place}"


def taken_apart(
    source: Relation, call: syntax.Expr, kinds: Sequence[str], what: str
) -> tuple[PythonFunction, tuple[Typed, ...], list[str]]:
    """The function, its arguments over the source, and the names that its result was given."""
    names: list[str] = []
    if isinstance(call, syntax.Aliased):
        names, call = list(call.names), call.operand
    if not isinstance(call, syntax.InlineCall):
        raise SqlValidationError(f"{what} takes a Python function that was declared with udf() or its kin.")
    function = python_function(call.function, None)
    if function.kind not in kinds:
        raise SqlValidationError(f"{what} takes another kind of function: {function.name} is {function.kind}.")
    resolver = Resolver(RelationScope(single(source), None, what, sql=False))
    arguments: Sequence[Typed] = [resolver.resolve(argument) for argument in call.arguments]
    if function.takes_row and not arguments:
        row_type = RowType([RowField(field.name, field.data_type) for field in source.fields], False)
        arguments = [Invoke(row_type, "row", tuple(builder.references(source)))]
    return function, converted(function, arguments, None), names
