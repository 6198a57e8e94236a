"""What a key has of a pattern: partial matches, and complete ones that wait. Plain tuples, as they are state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from penstock.runtime.cep.shared_buffer import Steps

# A partial match: state, last node, number of its first event, time of its first event, time of its last event. As long
# as it has only one event the node is 0, and that event with its stage is in the tuple: most partial matches never get
# a second one, and these take no room in the shared buffer.
Run = tuple[int, int, int, int, int, tuple[int, Any] | None]
STATE: Final = 0
NODE: Final = 1
START: Final = 2
STARTED: Final = 3
LAST: Final = 4
FIRST: Final = 5

# A complete match that waits because one that began earlier may still come: number of its first event, last node.
Waiting = tuple[int, int]

# What a key has: the next free number for events and nodes, partial matches by their first events, matches that wait.
Held = tuple[int, tuple[Run, ...], tuple[Waiting, ...]]
NOTHING: Held = (1, (), ())

Events = dict[str, list[Any]]
Found = tuple[int, Steps]  # a match: number of its first event, and all of them


class Outcome(NamedTuple):
    """A match, or a partial one that ran out of time."""

    events: Events
    timestamp: int
    timed_out: bool


def order_of(match: Found) -> tuple[Any, ...]:
    """By the first event; then those that took events earlier, and for earlier stages."""
    start, steps = match
    return start, *((number, stage) for stage, number, _ in steps)


def in_order(matches: Iterable[Found]) -> list[Found]:
    """Each match once, though nested loops may lead to it in several ways."""
    by_order = {order_of(match): match for match in matches}
    return [by_order[order] for order in sorted(by_order)]
