"""The way in: a stream and what to look for in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.cep.pattern import Pattern
from penstock.cep.pattern_stream import PatternStream
from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.datastream.connected_streams import BroadcastStream
from penstock.datastream.keyed_stream import KeyedStream
from penstock.datastream.stream import DataStream
from penstock.functions.element import NullByteKeySelector
from penstock.runtime.cep.pattern_rules import check
from penstock.runtime.cep.pattern_update import PatternUpdate
from penstock.runtime.cep.settings import CepSettings
from penstock.runtime.partitioning import Broadcast

__all__ = ["CEP"]


class CEP:
    """Looks for patterns in streams."""

    @staticmethod
    def pattern(
        input_stream: DataStream,
        pattern: Pattern | DataStream,
        comparator: Callable[[Any, Any], int] | None = None,
    ) -> PatternStream:
        """A stream with a pattern to look for: in the events of each key, or without keys in all events together.

        ``comparator(one, other)`` orders events of the same time: negative, zero or positive.

        In place of a pattern there may be a stream of updates, which all subtasks get: each new version of a named
        pattern then replaces the one before it while the job runs::

            rules = env.from_source(...).map(lambda line: CEP.pattern_update("brute force", 2, rule_of(line)))
            CEP.pattern(logins.key_by(lambda login: login.user), rules.broadcast()).process(Alerts())
        """
        if not isinstance(input_stream, DataStream):
            raise ProgramError(f"CEP.pattern() takes a DataStream, got {input_stream!r}")
        if comparator is not None and not callable(comparator):
            raise ProgramError(f"CEP.pattern() takes a function of two events as comparator, got {comparator!r}")
        keyed = isinstance(input_stream, KeyedStream)
        stream: Any = input_stream if keyed else KeyedStream(input_stream, NullByteKeySelector(), Types.BYTE())
        if isinstance(pattern, Pattern):
            model = pattern._model()
            check(model)
            settings = CepSettings(model, comparator=comparator, event_type=input_stream._type_info)
            return PatternStream(stream, settings, keyed)
        settings = CepSettings(None, comparator=comparator, event_type=input_stream._type_info)
        return PatternStream(stream, settings, keyed, _broadcast(pattern))

    @staticmethod
    def pattern_update(name: str, version: int, pattern: Pattern) -> PatternUpdate:
        """The record that brings a version of a named pattern to a running job.

        Partial matches of the version before are dropped. A version that is not newer than the one in use is ignored.
        """
        if not isinstance(pattern, Pattern):
            raise ProgramError(f"CEP.pattern_update() takes a Pattern, got {pattern!r}")
        return PatternUpdate.of(name, version, pattern._model())

    @staticmethod
    def pattern_removal(name: str, version: int) -> PatternUpdate:
        """The record that takes a named pattern away; a later version brings it back."""
        return PatternUpdate.of(name, version, None)


def _broadcast(updates: Any) -> DataStream:
    if isinstance(updates, BroadcastStream):
        raise ProgramError(
            "the operator keeps the patterns in state of its own: call broadcast() without a descriptor on their stream"
        )
    if not isinstance(updates, DataStream):
        raise ProgramError(f"CEP.pattern() takes a Pattern, or a stream of pattern updates, got {updates!r}")
    if all(isinstance(upstream.partitioning, Broadcast) for upstream in updates._upstreams):
        return updates
    return updates._exchanged(Broadcast())
