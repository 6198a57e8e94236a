"""Which expressions may be computed once for all the places where they are written."""

from __future__ import annotations

from functools import lru_cache

from penstock.columns.functions.registry import builtin
from penstock.columns.typed.nodes import Invoke, Typed, walk
from penstock.columns.typed.python_call import PythonCall


@lru_cache(maxsize=4096)
def is_deterministic(node: Typed) -> bool:
    """Not if anything in it, such as RAND(), may say something else when it is asked again."""
    return all(says_always_the_same(part) for part in walk(node))


def says_always_the_same(node: Typed) -> bool:
    """The node itself, whatever is below it."""
    if isinstance(node, Invoke):
        function = builtin(node.function)
        return function is None or function.deterministic
    return not isinstance(node, PythonCall) or node.function.deterministic
