"""GROUPING SETS, ROLLUP and CUBE: each row once for each set, and then one grouping with the set as a key."""

from __future__ import annotations

from dataclasses import replace

from penstock.columns.typed.nodes import Aggregate, Constant, InputRef, Invoke, Typed
from penstock.columns.typesystem.scalars import BigIntType, BooleanType
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.nodes import Field, unique_names
from penstock.table.sql.errors import SqlValidationError

_BIGINT = BigIntType(False)
_OF_THE_SET = ("grouping", "grouping_id", "group_id")


def grouping_sets(node: plan.Relation) -> plan.Relation | None:
    if not isinstance(node, plan.Aggregation):
        return None
    marks = [call for call in node.calls if call.function in _OF_THE_SET]
    if not node.sets and not marks:
        return None
    if not node.sets:  # one set of all keys
        node = replace(node, sets=(tuple(range(len(node.keys))),))
    width = len(node.source.fields)
    copies = [replace(node.source.fields[key], data_type=node.fields[place].data_type, time=None)
              for place, key in enumerate(node.keys)]  # fmt: skip
    names = unique_names([*node.source.names, *(copy.name for copy in copies), "$e"])[width:]
    numbers = _numbers(node)
    added = (*(replace(copy, name=name) for copy, name in zip(copies, names, strict=False)), Field("$e", _BIGINT))
    expanded = plan.Expand((*node.source.fields, *added), node.source, node.keys, node.sets, numbers)
    keys = tuple(range(width, width + len(added)))
    computed = [call for call in node.calls if call.function not in _OF_THE_SET]
    below = replace(builder.aggregated(expanded, keys, computed), state_ttl=node.state_ttl)
    return plan.Project(node.fields, below, tuple(_results(node, below, computed, numbers)))


def _numbers(node: plan.Aggregation) -> tuple[int, ...]:
    """A bit for each key that a set lacks, the first key highest; above them how often the set has come before."""
    found, seen = [], {}  # type: ignore[var-annotated]
    for members in node.sets:
        bits = 0
        for place in range(len(node.keys)):
            bits = bits << 1 | (place not in members)
        repeated = seen[bits] = seen.get(bits, -1) + 1
        found.append(bits | repeated << len(node.keys))
    return tuple(found)


def _results(
    node: plan.Aggregation, below: plan.Relation, computed: list[Aggregate], numbers: tuple[int, ...]
) -> list[Typed]:
    columns = builder.references(below)
    keys, set_number, values = columns[: len(node.keys)], columns[len(node.keys)], columns[len(node.keys) + 1 :]
    found: list[Typed] = list(keys)
    for call in node.calls:
        if call.function in _OF_THE_SET:
            found.append(_mark(call, node, set_number, numbers))
        else:
            found.append(values[computed.index(call)])
    return found


def _mark(call: Aggregate, node: plan.Aggregation, set_number: Typed, numbers: tuple[int, ...]) -> Typed:
    """What GROUPING and its kin say, which is a constant for each set."""
    width = len(node.keys)
    if any(isinstance(one, InputRef) and one.index not in node.keys for one in call.arguments):
        raise SqlValidationError(f"{call.function.upper()} takes columns of GROUP BY.", node.position)
    places = [node.keys.index(one.index) for one in call.arguments if isinstance(one, InputRef)]
    cases: list[Typed] = []
    for number in dict.fromkeys(numbers):
        value = number >> width
        if call.function != "group_id":
            value = 0
            for place in places:
                value = value << 1 | (number >> (width - 1 - place) & 1)
        test = Invoke(BooleanType(False), "equals", (set_number, Constant(_BIGINT, number)))
        cases += [test, Constant(call.data_type, value)]
    return Invoke(call.data_type, "case", (*cases[:-2], cases[-1])) if len(cases) > 2 else cases[-1]
