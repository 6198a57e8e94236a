"""What the user asked for, as data: nodes and the streams that lead into them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from penstock.runtime.blueprint import Origin
from penstock.runtime.partitioning import Partitioning


class Chaining(Enum):
    """Whether an operator may share a task with its neighbours."""

    ALWAYS = "always"
    HEAD = "head"
    NEVER = "never"


@dataclass(frozen=True)
class Upstream:
    """One stream that leads into a node: the main or a side output of another node, and how it is exchanged."""

    node: Node
    side_output: str | None = None
    partitioning: Partitioning | None = None

    def exchanged(self, partitioning: Partitioning) -> Upstream:
        return Upstream(self.node, self.side_output, partitioning)


_ids = itertools.count(1)


@dataclass(eq=False)
class Node:
    """An operator, source or sink. `kind` names the operator class; `params` are its plain settings."""

    kind: str
    name: str
    origin: Origin
    inputs: tuple[tuple[Upstream, ...], ...] = ()
    function: Any = None
    params: dict[str, Any] = field(default_factory=dict)
    output_type: Any = None
    side_output_types: dict[str, Any] = field(default_factory=dict)
    parallelism: int | None = None
    max_parallelism: int | None = None
    uid: str | None = None
    uid_is_planned: bool = False  # by what a query computes; a second operator of the same kind gets a number
    description: str | None = None
    slot_sharing_group: str | None = None
    chaining: Chaining = Chaining.ALWAYS
    fixed_parallelism: bool = False
    id: int = field(default_factory=lambda: next(_ids))

    @property
    def upstreams(self) -> list[Upstream]:
        return [upstream for streams in self.inputs for upstream in streams]

    @property
    def is_source(self) -> bool:
        return not self.inputs

    @property
    def is_sink(self) -> bool:
        return bool(self.params.get("sink"))
