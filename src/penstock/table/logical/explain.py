"""A plan as text: one line for each node, inputs below it."""

from __future__ import annotations

from collections.abc import Callable

from penstock.columns.typed.nodes import InputRef, Typed
from penstock.columns.typed.rendering import rendered, rendered_key
from penstock.table.logical import nodes as plan


def explain(relation: plan.Relation, note: Callable[[plan.Relation], str] = lambda _: "") -> str:
    """The tree; note adds what is known of a node, as its changelog mode."""
    return "\n".join(_lines(relation, note))


def _lines(relation: plan.Relation, note: Callable[[plan.Relation], str]) -> list[str]:
    lines = [line_of(relation, note(relation))]
    inputs = relation.inputs()
    for place, source in enumerate(inputs):
        last = place == len(inputs) - 1
        below = _lines(source, note)
        lines.append(("+- " if last else ":- ") + below[0])
        lines.extend(("   " if last else ":  ") + line for line in below[1:])
    return lines


def line_of(node: plan.Relation, note: str = "") -> str:
    parts = [*_details(node), *([note] if note else [])]
    name = type(node).__name__
    return f"{_NAMES.get(name, name)}({', '.join(parts)})"


_NAMES = {
    "JoinRelation": "Join",
    "SetRelation": "SetOperation",
    "WindowAssignment": "Window",
    "Correlation": "Correlate",
}


def _details(node: plan.Relation) -> list[str]:
    match node:
        case plan.Scan():
            return [f"table=[{'.'.join(node.path)}]", f"fields=[{', '.join(node.names)}]"]
        case plan.Values():
            rows = ", ".join(f"({', '.join(map(rendered, row))})" for row in node.rows[:5])
            return [f"tuples=[{rows}{', ..' if len(node.rows) > 5 else ''}]"]
        case plan.Project():
            return [f"select=[{_selected(node.expressions, node.names)}]"]
        case plan.Filter():
            return [f"where=[{rendered(node.condition)}]"]
        case plan.Aggregation():
            return _aggregation(node)
        case plan.OverAggregation():
            return [f"select=[{_selected(node.calls, node.names[len(node.source.fields) :])}]"]
        case plan.WindowAssignment():
            amounts = [f"size={node.size}ms"] + ([f"slide={node.slide}ms"] if node.slide else [])
            offset = [f"offset={node.offset}ms"] if node.offset else []
            keys = [f"partition=[{_named(node.source, node.partition_by)}]"] if node.partition_by else []
            return [f"{node.kind}({', '.join([node.source.names[node.time_column], *amounts, *offset])})", *keys]
        case plan.JoinRelation() | plan.Correlation():
            condition = [f"where=[{rendered(node.condition)}]"] if node.condition is not None else []
            return [f"type={node.kind}", *condition]
        case plan.Snapshot():
            return [f"period=[{rendered(node.period)}]"]
        case plan.TemporalJoin():
            kind = "rowtime" if node.event_time else "proctime"
            condition = [f"where=[{rendered(node.condition)}]"] if node.condition is not None else []
            return [f"type={node.kind}", f"asOf=[{node.left.names[node.time_column]} {kind}]", *condition]
        case plan.LookupJoin():
            condition = [f"where=[{rendered(node.condition)}]"] if node.condition is not None else []
            return [f"table=[{'.'.join(node.table.path)}]", f"type={node.kind}", *condition]
        case plan.ToChangelog():
            return [f"op=[{node.names[0]}]", f"codes=[{', '.join(map(str, node.codes))}]"]
        case plan.FromChangelog():
            shown = ", ".join(f"{code}={kind}" for code, kind in node.codes)
            return [f"op=[{node.source.names[node.column]}]", f"codes=[{shown}]"]
        case plan.RowWindowAggregation():
            return [f"rows={node.size}", f"every={node.slide}", *_grouped(node)]
        case plan.TableAggregation():
            called = f"{node.function.name}({_named(node.source, node.arguments)})"
            return [f"groupBy=[{_named(node.source, node.keys)}]", f"select=[{called}]"]
        case plan.TableFunctionScan():
            return [f"invocation=[{node.function.name}({', '.join(map(rendered, node.arguments))})]"]
        case plan.Unnest():
            return [f"operands=[{', '.join(map(rendered, node.operands))}]"]
        case plan.SetRelation():
            return [f"{node.kind}{' ALL' if node.keep_all else ''}"]
        case plan.Sort():
            return [f"orderBy=[{', '.join(map(rendered_key, node.keys))}]"]
        case plan.Limit():
            return [f"offset={node.offset}", f"fetch={node.count}"]
        case plan.Rank():
            keys = [f"partitionBy=[{_named(node.source, node.partition_by)}]"] if not node.limit else []
            order = f"orderBy=[{', '.join(map(rendered_key, node.order_by))}]"
            return [
                *keys,
                order,
                f"rankRange=[rankStart={node.start}, rankEnd={node.end}]",
                f"select=[{', '.join(node.names)}]",
            ]
        case plan.Deduplicate():
            time = node.source.fields[node.time_column].time
            kept = f"keep=[{'LastRow' if node.last else 'FirstRow'}]"
            return [kept, f"key=[{_named(node.source, node.keys)}]", f"order=[{time.value if time else ''}]"]
        case plan.Expand():
            sets = [f"{{{', '.join(node.source.names[node.keys[place]] for place in one)}}}" for one in node.sets]
            return [f"sets=[{', '.join(sets)}]"]
        case plan.SinkMaterialize() if node.conflict != "DEDUPLICATE":
            return [f"key=[{_named(node.source, node.keys)}]", f"conflict=[{node.conflict}]"]
        case plan.ChangelogNormalize() | plan.SinkMaterialize():
            return [f"key=[{_named(node.source, node.keys)}]"]
        case plan.Match():
            return [f"partitionBy=[{_named(node.source, node.partition_by)}]", f"measures=[{', '.join(node.names)}]"]
        case plan.Sink():
            return [f"table=[{'.'.join(node.path)}]", f"fields=[{', '.join(node.names)}]"]
    return []


def _aggregation(node: plan.Aggregation) -> list[str]:
    sets = [f"sets=[{', '.join('{' + _keys(node, one) + '}' for one in node.sets)}]"] if node.sets else []
    *keys, selected = _grouped(node)
    return [*keys, *sets, selected]


def _grouped(node: plan.Aggregation | plan.RowWindowAggregation) -> list[str]:
    keys = _named(node.source, node.keys)
    calls = _selected(node.calls, node.names[len(node.keys) :])
    return [*([f"groupBy=[{keys}]"] if keys else []), f"select=[{', '.join(filter(None, [keys, calls]))}]"]


def _keys(node: plan.Aggregation, members: tuple[int, ...]) -> str:
    return ", ".join(node.source.names[node.keys[place]] for place in members)


def _named(source: plan.Relation, places: tuple[int, ...]) -> str:
    return ", ".join(source.names[place] for place in places)


def _selected(expressions: tuple[Typed, ...], names: tuple[str, ...]) -> str:
    shown = []
    for node, name in zip(expressions, names, strict=True):
        plain = isinstance(node, InputRef) and node.name == name
        shown.append(name if plain else f"{rendered(node)} AS {name}")
    return ", ".join(shown)


def schema_text(relation: plan.Relation) -> str:
    """`(a INT, ts TIMESTAMP(3) *ROWTIME*)`."""
    return f"({', '.join(f'{field.name} {field.shown_type()}' for field in relation.fields)})"
