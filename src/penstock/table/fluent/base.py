"""What all groups of methods build on: an expression holds a written one, and calls make new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from penstock.table.fluent.literals import node_of
from penstock.table.syntax.expressions import Call, Expr

if TYPE_CHECKING:
    from penstock.table.expression import Expression

T = TypeVar("T")


class Fluent(Generic[T]):
    """Immutable; every method returns another expression."""

    _node: Expr

    def __init__(self, j_expr_or_property_name: Any) -> None:
        self._node = node_of(j_expr_or_property_name)

    def _make(self, node: Expr) -> Expression[Any]:
        # The groups of methods are used only together, as Expression.
        return cast("Expression[Any]", type(self)(node))

    def _call(self, function: str, *arguments: Any, **options: Any) -> Expression[Any]:
        """A call with this expression as the first argument; arguments that are None are left out at the end."""
        given = list(arguments)
        while given and given[-1] is None:
            given.pop()
        nodes = (self._node, *(node_of(argument) for argument in given))
        return self._make(Call(function, nodes, options=tuple(options.items())))

    def _call_with_first(self, function: str, first: Any, *rest: Any) -> Expression[Any]:
        """A call in which this expression is the second argument."""
        return self._make(Call(function, (node_of(first), self._node, *(node_of(item) for item in rest))))
