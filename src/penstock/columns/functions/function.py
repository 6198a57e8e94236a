"""A row of the registry: a function's names, rules for its arguments and its result, and its kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from penstock.columns.kernels.datum import Kernel
from penstock.columns.typesystem.base import DataType

MISSING: Any = object()


class Role(Enum):
    SCALAR = "scalar"
    LAZY = "lazy"  # evaluated by the evaluator, which looks at arguments only where they are needed
    AGGREGATE = "aggregate"
    OVER = "over"  # makes sense only over a window of rows
    WINDOW = "window"  # group windows and their properties
    TABLE = "table"
    PLAN = "plan"  # means something to the plan, not to a row


class SignatureError(Exception):
    """Arguments that do not fit; the text says what would."""


@dataclass(frozen=True)
class Site:
    """A call as type inference sees it; a literal is MISSING where the argument is no constant."""

    types: tuple[DataType, ...]
    literals: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    sql: bool = True

    def option(self, name: str, default: Any = None) -> Any:
        return dict(self.options).get(name, default)

    def literal(self, place: int) -> Any:
        return self.literals[place] if place < len(self.literals) else MISSING

    @property
    def any_nullable(self) -> bool:
        return any(data_type.is_nullable for data_type in self.types)


ArgumentRule = Callable[[Site], tuple[DataType, ...]]
ResultRule = Callable[[Site], DataType]


@dataclass(frozen=True)
class Function:
    """name is Flink's own; sql are the names under which SQL calls it; missing says why it does not run."""

    name: str
    arguments: ArgumentRule
    result: ResultRule
    kernel: Kernel | None = None
    sql: tuple[str, ...] = ()
    role: Role = Role.SCALAR
    deterministic: bool = True
    missing: str | None = None
    group: str = ""
