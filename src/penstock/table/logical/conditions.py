"""Conditions taken apart and put together: conjunctions, and columns that lie elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from penstock.columns.typed.nodes import InputRef, Invoke, SubqueryTest, SubqueryValue, Typed, columns_of, walk
from penstock.columns.typesystem.scalars import BooleanType


def conjuncts(condition: Typed | None) -> list[Typed]:
    """The conditions that all must hold."""
    if condition is None:
        return []
    if isinstance(condition, Invoke) and condition.function == "and":
        return [part for argument in condition.arguments for part in conjuncts(argument)]
    return [condition]


def all_of(conditions: Sequence[Typed]) -> Typed | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return call("and", *conditions)


def call(function: str, *arguments: Typed) -> Typed:
    """A function that gives a truth value."""
    return Invoke(BooleanType(any(one.data_type.is_nullable for one in arguments)), function, arguments)


def replaced(node: Typed, replacement: Callable[[Typed], Typed | None]) -> Typed:
    """The expression with other nodes in place of some."""
    found = replacement(node)
    if found is not None:
        return found
    return node.with_children(tuple(replaced(child, replacement) for child in node.children()))


def moved(node: Typed, places: Mapping[int, int]) -> Typed:
    """The expression over an input in which columns lie at other places."""
    return replaced(node, lambda part: replace(part, index=places[part.index]) if isinstance(part, InputRef) else None)


def only_of(node: Typed, start: int, end: int) -> bool:
    """Whether an expression reads columns of a range, and no others."""
    found = columns_of(node)
    return bool(found) and all(start <= column < end for column in found)


def has_subquery(node: Typed) -> bool:
    return any(isinstance(part, (SubqueryTest, SubqueryValue)) for part in walk(node))
