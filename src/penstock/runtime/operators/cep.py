"""Complex event processing: feeds events to patterns in the order of time, and calls the user for what they find."""

from __future__ import annotations

import hashlib
from itertools import repeat
from typing import Any

import numpy as np

from penstock.common.errors import ProgramError
from penstock.functions.output_tag import OutputTag
from penstock.functions.state_descriptors import MapStateDescriptor, ValueStateDescriptor
from penstock.functions.time_domain import TimeDomain
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Codec
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.cep.compiler import compile_pattern
from penstock.runtime.cep.conditions import ColumnCondition
from penstock.runtime.cep.event_queue import EventQueue
from penstock.runtime.cep.keyed_matcher import KeyedMatcher, Reported
from penstock.runtime.cep.pattern_model import PatternModel
from penstock.runtime.cep.pattern_update import PatternUpdate
from penstock.runtime.cep.program import Program
from penstock.runtime.cep.settings import PARAMETER, CepSettings
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.operators.process import ResultCollector, TimedOperator
from penstock.runtime.state.table import ValueTable
from penstock.runtime.windows.late import LateOutput

_PATTERNS, _UPDATES, _QUEUE = "_cep_patterns", "_cep_updates", "_cep_queue"
_MATCHES, _BUFFER = "_cep_matches", "_cep_buffer"
_THE_PATTERN = ""  # the name of a pattern that is part of the program


class MatchContext:
    """What the user's function sees beside the match."""

    __penstock_transient__ = True

    def __init__(self, operator: CepOperator) -> None:
        self._operator = operator
        self.current_timestamp = MIN_TIMESTAMP
        self.current_pattern = _THE_PATTERN
        self.results: list[Any] = []

    def timestamp(self) -> int:
        return self.current_timestamp

    def current_processing_time(self) -> int:
        return self._operator.context.clock()

    def output(self, output_tag: OutputTag, value: Any) -> None:
        self.results.append((output_tag, value))

    def pattern_name(self) -> str:
        return self.current_pattern

    def pattern_version(self) -> int:
        return self._operator.version_of(self.current_pattern)

    def get_current_key(self) -> Any:
        return self._operator.scope.key


class CepOperator(TimedOperator):
    """Input 0 has the events; input 1, where patterns are dynamic, new versions of them.

    All it remembers is in tables: patterns, events that wait for the watermark, partial matches and their events.
    """

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._settings: CepSettings = blueprint.params[PARAMETER]
        self._patterns: ValueTable = self.backend.table(_PATTERNS, ValueStateDescriptor)
        self._updates: ValueTable = self.backend.table(
            _UPDATES, ValueStateDescriptor
        )  # (time, name, version) -> content
        self._queue = EventQueue(self.backend.table(_QUEUE, MapStateDescriptor), self._settings.comparator)
        self._late = LateOutput(self, self._settings.late_tag)
        self._context = MatchContext(self)
        self._results = ResultCollector(self)
        self._matchers: dict[str, KeyedMatcher] | None = None  # made of the table when first needed
        self._open_parts: list[Any] = []

    def key_layout(self, table: str) -> KeyLayout:
        if table in (_PATTERNS, _UPDATES):
            return KeyLayout.SHARED
        return KeyLayout.INSIDE if table == _QUEUE else KeyLayout.KEY

    # -- patterns ----------------------------------------------------------------------------------------------

    def matchers(self) -> dict[str, KeyedMatcher]:
        if self._matchers is None:
            self._close_conditions()
            if self._settings.model is None:
                names = list(self._patterns.keys())
                models = {name: PatternUpdate(name, *self._patterns.get(name)).model() for name in names}
            else:
                models = {_THE_PATTERN: self._settings.model}
            self._matchers = {name: self._matcher(name, model) for name, model in models.items() if model is not None}
        return self._matchers

    def _matcher(self, name: str, model: PatternModel) -> KeyedMatcher:
        program = compile_pattern(model)
        codec = self._event_codec()
        if codec is None and any(isinstance(p, ColumnCondition) for one in program.conditions for p in one.parts):
            raise ProgramError(
                f"the pattern of {self.blueprint.name!r} has a condition on columns, but the events have none: declare "
                "their type, as in map(function, Types.ROW_NAMED(...)) before it"
            )
        if name == _THE_PATTERN:
            self._check_shape(program)
        self._open_conditions(program)
        suffix = f"/{name}" if name else ""
        timers = self.timers.processing if self._settings.processing_time else self.timers.event
        return KeyedMatcher(
            program,
            self.backend.table(_MATCHES + suffix, ValueStateDescriptor),
            self.backend.table(_BUFFER + suffix, MapStateDescriptor),
            timers,
            self.context.clock,
            hasattr(self.function, "process_timed_out_match"),
            name,
            codec,
        )

    def _event_codec(self) -> Codec | None:
        """Reads the columns of events, if they have any."""
        return None if self._settings.event_type is None else codec_for(self._settings.event_type)

    def _check_shape(self, program: Program) -> None:
        """Partial matches are numbers of states: in another automaton they would mean something else."""
        shape = hashlib.blake2b(repr((program.names, program.states)).encode(), digest_size=16).digest()
        saved = self._patterns.get(_THE_PATTERN)
        if saved is None:
            self._patterns.put(_THE_PATTERN, (0, shape))
        elif saved[1] != shape:
            raise ProgramError(
                f"the pattern of {self.blueprint.name!r} is not the one whose partial matches were saved: its stages "
                "have changed. Give the operator another uid() to start without them, or restore with the old pattern; "
                "patterns that change while a job runs come over a broadcast stream."
            )

    def _open_conditions(self, program: Program) -> None:
        for condition in program.conditions:
            for part in condition.parts:
                if hasattr(part, "open") and all(part is not opened for opened in self._open_parts):
                    part.open(self.context.runtime_context)
                    self._open_parts.append(part)

    def _close_conditions(self) -> None:
        for part in self._open_parts:
            if hasattr(part, "close"):
                part.close()
        self._open_parts = []

    def _receive(self, update: Any, timestamp: int) -> None:
        if not isinstance(update, PatternUpdate):
            raise ProgramError(
                f"the stream of patterns has the record {update!r}: make its records with CEP.pattern_update(...)"
            )
        if self._settings.processing_time or timestamp <= self.watermark:
            self._update(update)
        else:
            self._updates.put((timestamp, update.name, update.version), (update.content,))

    def _update(self, update: PatternUpdate) -> None:
        known = self._patterns.get(update.name)
        if known is not None and known[0] >= update.version:
            return
        matchers = self.matchers()
        old = matchers.pop(update.name, None)
        if old is not None:
            old.clear()
        self._patterns.put(update.name, (update.version, update.content))
        model = update.model()
        if model is not None:
            matchers[update.name] = self._matcher(update.name, model)

    def version_of(self, pattern: str) -> int:
        saved = self._patterns.get(pattern)
        return 0 if saved is None else int(saved[0])

    # -- events ------------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        if input_index == 1:
            for update, timestamp in zip(batch.values, batch.timestamps or repeat(MIN_TIMESTAMP), strict=False):
                self._receive(update, timestamp)
        elif self._settings.processing_time:
            self._process_by_clock(batch)
        else:
            self._enqueue(batch)

    def _process_by_clock(self, batch: Batch) -> None:
        now = self.context.clock()
        stamped = batch.timed(np.full(len(batch), now, np.int64))
        if self._settings.comparator is None:
            self._feed(stamped)
            return
        # Events of the same millisecond are put in order, so the millisecond must be over.
        self._queue.add(stamped)
        assert batch.keys is not None
        self.timers.processing.add(now + 1, (batch.keys[0], None))

    def _enqueue(self, batch: Batch) -> None:
        times = batch.times
        if times is None or bool((times == MIN_TIMESTAMP).any()):
            raise ProgramError(
                "a pattern got an event without timestamp: call assign_timestamps_and_watermarks(...) with a timestamp "
                "assigner before it, or in_processing_time() on the pattern stream"
            )
        late = times <= self.watermark
        if late.any():
            behind = batch.filter(late)
            for value, timestamp in zip(behind.values, behind.timestamps or (), strict=True):
                self._late.add(value, timestamp)
            self._late.flush()
            batch = batch.filter(~late)
        if len(batch):
            self._queue.add(batch)

    def process_watermark(self, timestamp: int) -> None:
        if not self._settings.processing_time:
            # A new version counts for the events of its own time and later ones.
            for key in sorted(key for key in list(self._updates.keys()) if key[0] <= timestamp):
                moment, name, version = key
                self._advance(moment - 1)
                self._update(PatternUpdate(name, version, self._updates.get(key)[0]))
                self._updates.remove(key)
            self._advance(timestamp)
        super().process_watermark(timestamp)

    def _advance(self, time: int) -> None:
        """Event time comes so far: first the events, then what runs out of time after them."""
        if time > self.watermark:
            self.watermark = time
            self._feed(self._queue.take_until(time))
            while due := self.timers.event.take_due(time):
                self.fire(due, TimeDomain.EVENT_TIME)

    def _feed(self, batch: Batch) -> None:
        if len(batch):
            for name, matcher in self.matchers().items():
                self._report(name, matcher.process(batch))

    def fire(self, due: list[tuple[int, tuple[Any, Any]]], domain: TimeDomain) -> None:
        matchers = self.matchers()
        if domain is TimeDomain.PROCESSING_TIME:
            now = self.context.clock()
            if self._settings.comparator is not None:
                self._feed(self._queue.take_until(now - 1))
        else:
            now = self.watermark
        for _, (key, name) in due:
            matcher = matchers.get(name)
            if matcher is not None:
                self._report(name, matcher.advance(key, now))

    def finish(self) -> None:
        if self._settings.processing_time and self._settings.comparator is not None:
            self._feed(self._queue.take_until(self.context.clock()))
        super().finish()

    # -- results -----------------------------------------------------------------------------------------------

    def _report(self, name: str, found: Reported) -> None:
        if not found:
            return
        context, results, function = self._context, self._results, self.function
        context.current_pattern = name
        for key, (events, timestamp, timed_out) in found:
            self.scope.key = key
            context.current_timestamp = timestamp
            produced = (function.process_timed_out_match if timed_out else function.process_match)(events, context)
            if produced is not None:
                if timed_out:
                    produced = map(_tagged, produced)
                results.add(produced, timestamp)
            if context.results:
                tagged, context.results = context.results, []
                results.add(tagged, timestamp)
        results.flush(not self._settings.processing_time)

    # -- life --------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        self._queue.store()
        super().end_epoch()

    def close(self) -> None:
        self._close_conditions()
        super().close()

    def loaded(self) -> None:
        self._matchers = None  # patterns may have come


def _tagged(result: Any) -> Any:
    if type(result) is tuple and len(result) == 2 and type(result[0]) is OutputTag:
        return result
    raise ProgramError(
        f"a match that ran out of time gave {result!r} without a tag: it can only go to a side output, so yield "
        "(output_tag, value)"
    )
