"""What map(), flat_map(), aggregate(), flat_aggregate() and join_lateral() of Table mean."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.columns.typed.nodes import InputRef, Invoke, Typed
from penstock.columns.typed.python_call import PythonCall, PythonFunction
from penstock.columns.typesystem.nested import RowField, RowType
from penstock.table.logical import builder
from penstock.table.logical.nodes import Correlation, Field, Relation, TableAggregation, unique_names
from penstock.table.logical.scope import RelationScope, single
from penstock.table.logical.table_functions import Versions, lateral, row_types, scanned, versioned
from penstock.table.resolution.python_calls import converted, python_aggregate, python_function
from penstock.table.resolution.resolver import Resolver, field_of
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax import expressions as syntax


def mapped(source: Relation, call: syntax.Expr) -> Relation:
    function, arguments, names = _taken_apart(source, call, ("scalar", "async"), "map()")
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


def lateral_join(source: Relation, call: syntax.Expr, kind: str) -> Relation:
    inner = call.operand if isinstance(call, syntax.Aliased) else call
    versions = getattr(getattr(inner, "function", None), "_versions", None)
    if versions is not None:
        return _versions_join(source, versions, inner, kind)
    function, arguments, names = _taken_apart(source, call, ("table",), "a lateral join")
    scan = scanned(function, arguments)
    given = names or scan.names
    unique = unique_names([*source.names, *given])[len(source.fields) :]
    joined = lateral(source, scan, kind)
    return builder.renamed(joined, [*source.names, *unique])


def _versions_join(source: Relation, versions: Versions, call: syntax.Expr, kind: str) -> Relation:
    """join_lateral(rates(col("ts"))): each row with the version at its time; the predicate behind it is the key."""
    assert isinstance(call, syntax.InlineCall)
    right = versioned(versions, call, Resolver(RelationScope(single(source), None, "join_lateral()", sql=False)))
    joined = builder.joined(source, right, kind, None)
    found = Correlation(joined.fields, source, right, kind)
    return builder.renamed(found, unique_names([*source.names, *right.names]))


def aggregated(source: Relation, keys: Sequence[syntax.Expr], call: syntax.Expr) -> Relation:
    """Keys, and the columns of the ROW that the function gives."""
    function, arguments, names = _taken_apart(source, call, ("aggregate",), "aggregate()")
    below, key_places, places = _prepared(source, keys, arguments)
    references = builder.references(below)
    node = python_aggregate(function, [references[place] for place in places], False, None, None)
    grouped = builder.aggregated(below, key_places, [node])
    *key_columns, row = builder.references(grouped)
    columns = row_types(function.result_type)
    plain = not isinstance(function.result_type, RowType)
    values: list[Typed] = [row] if plain else [field_of(row, name, None) for name, _ in columns]
    given = names or [name for name, _ in columns]
    return builder.project(grouped, [*key_columns, *values], [*grouped.names[:-1], *given])


def flat_aggregated(source: Relation, keys: Sequence[syntax.Expr], call: syntax.Expr) -> Relation:
    function, arguments, names = _taken_apart(source, call, ("table_aggregate",), "flat_aggregate()")
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


def _taken_apart(
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
