"""The window operator that can do everything: any assigner, trigger and evictor, and windows that merge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from penstock.common.errors import ProgramError
from penstock.functions.time_domain import TimeDomain
from penstock.functions.window_assigners import MergingWindowAssigner
from penstock.functions.window_trigger_base import TriggerResult
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.operators.process import TimedOperator
from penstock.runtime.operators.window_assignment import AssignedWindows
from penstock.runtime.operators.window_contents import (
    Contents,
    ElementContents,
    EvictedContents,
    FoldedContents,
)
from penstock.runtime.operators.window_contexts import AssignerContext, EvictionContext, TriggeringContext
from penstock.runtime.operators.window_evaluation import Evaluation
from penstock.runtime.operators.window_folding import folding_of
from penstock.runtime.operators.window_merging import MergingWindows
from penstock.runtime.operators.window_settings import PARAMETER, WindowSettings
from penstock.runtime.operators.window_tokens import Token, token_of, window_of

Slot = tuple[Any, Any]


class LateOutput:
    """Elements that came too late: to their side output, or counted and dropped."""

    def __init__(self, operator: TimedOperator, tag_id: str | None) -> None:
        self._operator = operator
        self._tag_id = tag_id
        self._dropped = operator.context.memory.metrics.counter("numLateRecordsDropped")
        self._values: list[Any] = []
        self._timestamps: list[int] = []

    def add(self, value: Any, timestamp: int) -> None:
        self._values.append(value)
        self._timestamps.append(timestamp)

    def flush(self) -> None:
        if not self._values:
            return
        batch = Batch(self._values, self._timestamps)
        self._values, self._timestamps = [], []
        if self._tag_id is None:
            self._dropped.inc(len(batch))
        elif self._tag_id in self._operator.side_outputs:
            self._operator.side_outputs[self._tag_id].emit(batch)


class WindowedOperator(TimedOperator):
    """What all window operators share: settings, the window function, late elements."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        settings: WindowSettings = blueprint.params[PARAMETER]
        self.settings = settings
        self.folding = None if settings.aggregation is None else folding_of(settings.aggregation)
        self.evaluation = Evaluation(self, self.function, isinstance(settings.assigner, MergingWindowAssigner))
        self.late = LateOutput(self, settings.late_tag)
        self.memory.track("aggregation", settings.aggregation)

    def open(self) -> None:
        if self.settings.aggregation is not None:
            self.settings.aggregation.open(self.context.runtime_context)
        super().open()

    def close(self) -> None:
        super().close()
        if self.settings.aggregation is not None:
            self.settings.aggregation.close()

    def advance_processing_time(self, now: int) -> None:
        # A window's last millisecond still belongs to it: its timer waits until that one is over, as in Flink.
        super().advance_processing_time(now - 1)

    def next_processing_time(self) -> int | None:
        earliest = super().next_processing_time()
        return None if earliest is None else earliest + 1

    def key_layout(self, table: str) -> KeyLayout:
        if table in ("_windows", "_panes"):
            return KeyLayout.INSIDE
        if table == "_merge_law":
            return KeyLayout.SHARED
        by_window = table == "_window_contents" or table.startswith(("_trigger:", "_window:"))
        return KeyLayout.KEY_FIRST if by_window else KeyLayout.KEY


class WindowOperator(WindowedOperator):
    """Asks assigner and trigger for every element, as Flink does."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        settings = self.settings
        self._assigner = settings.assigner
        self._trigger = settings.trigger
        self._lateness = settings.allowed_lateness
        self._event_time: bool = settings.assigner.is_event_time()
        self._cleanup_timers = self.timers.event if self._event_time else self.timers.processing
        self._assigner_context = AssignerContext(self)
        self._triggering = TriggeringContext(self)
        self._assigned = AssignedWindows(settings.assigner, self._assigner_context, self._cleanup_time)
        self._contents = self._make_contents()
        self._merging: MergingWindows | None = None
        if isinstance(settings.assigner, MergingWindowAssigner):
            self._merging = MergingWindows(self.backend, settings.assigner)

    def _make_contents(self) -> Contents:
        if self.settings.evictor is not None:
            return EvictedContents(self.backend, self.settings.evictor, EvictionContext(self), self.folding)
        if self.folding is not None:
            return FoldedContents(self.backend, self.folding)
        return ElementContents(self.backend)

    # -- elements ----------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        timestamps = repeat(MIN_TIMESTAMP, len(batch)) if batch.timestamps is None else batch.timestamps
        add = self._add_merging if self._merging is not None else self._add
        scope, event_time, lateness, watermark = self.scope, self._event_time, self._lateness, self.watermark
        assert batch.keys is not None
        for key, value, timestamp in zip(batch.keys, batch.values, timestamps, strict=True):
            scope.key = key
            if add(key, value, timestamp) and event_time and timestamp + lateness <= watermark:
                self.late.add(value, timestamp)
        self.evaluation.results.flush(batch.timestamps is not None)
        self.late.flush()

    def _add(self, key: Any, value: Any, timestamp: int) -> bool:
        """Adds an element to its windows; True if there was none for it."""
        skipped = True
        on_element, triggering = self._trigger.on_element, self._triggering
        for window, token, cleanup in self._assigned.windows(value, timestamp):
            if cleanup <= self.watermark and self._event_time:
                continue
            skipped = False
            slot = (key, token)
            self._contents.add(slot, value, timestamp)
            result = on_element(value, timestamp, window, triggering.at(slot))
            if result is not TriggerResult.CONTINUE:
                self._act(result, slot, slot, window, timestamp)
            if cleanup != MAX_TIMESTAMP:  # such a window lives as long as the job
                self._cleanup_timers.add(cleanup, slot)
        return skipped

    def _add_merging(self, key: Any, value: Any, timestamp: int) -> bool:
        merging = self._merging
        assert merging is not None
        skipped = True
        for new_window in self._assigner.assign_windows(value, timestamp, self._assigner_context):
            window = merging.add(
                key,
                new_window,
                lambda result, merged, target, sources: self._merge(key, result, merged, target, sources),
            )
            cleanup = self._cleanup_time(window)
            if self._event_time and cleanup <= self.watermark:
                merging.retire(key, window)
                continue
            skipped = False
            slot, contents_slot = (key, token_of(window)), (key, merging.contents_of(key, window))
            self._contents.add(contents_slot, value, timestamp)
            result = self._trigger.on_element(value, timestamp, window, self._triggering.at(slot))
            if result is not TriggerResult.CONTINUE:
                self._act(result, slot, contents_slot, window, timestamp)
            if cleanup != MAX_TIMESTAMP:
                self._cleanup_timers.add(cleanup, slot)
        return skipped

    def _act(self, result: TriggerResult, slot: Slot, contents_slot: Slot, window: Any, timestamp: int) -> None:
        if result.is_fire():
            evaluation = self.evaluation
            self._contents.evaluate(
                contents_slot, window, lambda contents: evaluation.evaluate(slot, window, contents, timestamp)
            )
        if result.is_purge():
            self._contents.clear(contents_slot)

    def _merge(self, key: Any, result: Any, merged: Sequence[Any], target: Token, sources: Sequence[Token]) -> None:
        self._refuse_past(result)
        slots = [(key, token_of(window)) for window in merged]
        result_slot = (key, token_of(result))
        triggering = self._triggering
        triggering.merged = [slot for slot in slots if slot != result_slot]
        self._trigger.on_merge(result, triggering.at(result_slot))
        for slot, window in zip(slots, merged, strict=True):
            if slot != result_slot:
                self._trigger.clear(window, triggering.at(slot))
                self._delete_cleanup(slot, window)
        self._contents.merge((key, target), [(key, source) for source in sources])

    def _refuse_past(self, window: Any) -> None:
        now = self.watermark if self._event_time else self.context.clock()
        if self._cleanup_time(window) <= now:
            raise ProgramError(
                f"{type(self._assigner).__name__} merged windows into {window}, which has already ended "
                f"(time is {now}): merging must not let a window end earlier"
            )

    # -- time --------------------------------------------------------------------------------------------------

    def fire(self, due: list[tuple[int, tuple[Any, Any]]], domain: TimeDomain) -> None:
        event = domain is TimeDomain.EVENT_TIME
        on_time = self._trigger.on_event_time if event else self._trigger.on_processing_time
        cleans_up = event == self._event_time
        for timestamp, slot in due:
            key, token = slot
            window = window_of(token)
            self.scope.key = key
            contents_slot = slot
            if self._merging is not None:
                try:
                    contents_slot = (key, self._merging.contents_of(key, window))
                except KeyError:  # the window was merged away or dropped in this very round
                    continue
            result = on_time(timestamp, window, self._triggering.at(slot))
            if result is not TriggerResult.CONTINUE:
                self._act(result, slot, contents_slot, window, timestamp)
            if cleans_up and timestamp == self._cleanup_time(window):
                self._drop(slot, contents_slot, window)
        # Windows carry their time also when the clock fired them: what follows may be windowed again.
        self.evaluation.results.flush(True)

    def _drop(self, slot: Slot, contents_slot: Slot, window: Any) -> None:
        self._contents.clear(contents_slot)
        self._trigger.clear(window, self._triggering.at(slot))
        self.evaluation.clear(slot, window)
        if self._merging is not None:
            self._merging.retire(slot[0], window)

    def _cleanup_time(self, window: Any) -> int:
        end: int = window.max_timestamp()
        return min(end + self._lateness, MAX_TIMESTAMP) if self._event_time else end

    def _delete_cleanup(self, slot: Slot, window: Any) -> None:
        self._cleanup_timers.remove(self._cleanup_time(window), slot)
