"""The index that can do everything: any assigner, trigger and evictor, and windows that merge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from penstock.common.errors import ProgramError
from penstock.functions.time_domain import TimeDomain
from penstock.functions.window_assigners import GlobalWindows, MergingWindowAssigner
from penstock.functions.window_trigger_base import TriggerResult
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.windows.contents import Contents, ElementContents, EvictedContents, FoldedContents
from penstock.runtime.windows.contexts import AssignerContext, EvictionContext, TriggeringContext
from penstock.runtime.windows.merging import MergingWindows
from penstock.runtime.windows.saved_contents import Slot
from penstock.runtime.windows.slices import SliceNumbers, slices_of
from penstock.runtime.windows.tokens import Token, token_of, window_of

if TYPE_CHECKING:
    from penstock.runtime.windows.operator import WindowOperator

Assigned = list[tuple[Any, Token, int]]  # window, its token, when it is cleaned up
_REMEMBERED = 1024


class GeneralWindows:
    """Asks assigner and trigger for every element, and keeps timers per window and key, as Flink does."""

    form = "slots"
    takes_slices = False

    def __init__(self, operator: WindowOperator) -> None:
        self._operator = operator
        settings = operator.settings
        self._assigner = settings.assigner
        self._trigger = settings.trigger
        self._lateness = settings.allowed_lateness
        self._event_time: bool = settings.assigner.is_event_time()
        self._cleanup_timers = operator.timers.event if self._event_time else operator.timers.processing
        self._assigner_context = AssignerContext(operator)
        self._triggering = TriggeringContext(operator)
        self._contents = self._make_contents()
        self._merging: MergingWindows | None = None
        if isinstance(settings.assigner, MergingWindowAssigner):
            self._merging = MergingWindows(operator.backend, settings.assigner)
        slices = slices_of(settings.assigner)
        self._numbers = None if slices is None else SliceNumbers(slices)
        self._remembered: dict[int, Assigned] = {}

    def _make_contents(self) -> Contents:
        operator, settings = self._operator, self._operator.settings
        if settings.evictor is not None:
            return EvictedContents(operator.backend, settings.evictor, EvictionContext(operator), operator.folding)
        if operator.folding is not None:
            return FoldedContents(operator.backend, operator.folding)
        return ElementContents(operator.backend)

    # -- elements ----------------------------------------------------------------------------------------------

    def add(self, batch: Batch) -> None:
        timestamps = repeat(MIN_TIMESTAMP, len(batch)) if batch.timestamps is None else batch.timestamps
        add = self._add_merging if self._merging is not None else self._add
        operator, event_time, lateness = self._operator, self._event_time, self._lateness
        scope, watermark = operator.scope, operator.watermark
        assert batch.keys is not None
        for key, value, timestamp in zip(batch.keys, batch.values, timestamps, strict=True):
            scope.key = key
            if add(key, value, timestamp) and event_time and timestamp + lateness <= watermark:
                operator.late.add(value, timestamp)
        operator.evaluation.results.flush(batch.timestamps is not None)
        operator.late.flush()

    def _add(self, key: Any, value: Any, timestamp: int) -> bool:
        """Adds an element to its windows; True if there was none for it."""
        skipped = True
        on_element, triggering = self._trigger.on_element, self._triggering
        for window, token, cleanup in self._windows(value, timestamp):
            if cleanup <= self._operator.watermark and self._event_time:
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

    def _windows(self, value: Any, timestamp: int) -> Assigned:
        """Asks the assigner, and only once where the answer depends on the slice alone."""
        if self._numbers is not None:
            number = self._numbers.of(timestamp)
        elif type(self._assigner) is GlobalWindows:
            number = 0
        else:
            return self._ask(value, timestamp)
        assigned = self._remembered.get(number)
        if assigned is None:
            assigned = self._ask(value, timestamp)
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[number] = assigned
        return assigned

    def _ask(self, value: Any, timestamp: int) -> Assigned:
        windows = self._assigner.assign_windows(value, timestamp, self._assigner_context)
        return [(window, token_of(window), self._cleanup_time(window)) for window in windows]

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
            if self._event_time and cleanup <= self._operator.watermark:
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
            evaluation = self._operator.evaluation
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
                self._cleanup_timers.remove(self._cleanup_time(window), slot)
        self._contents.merge((key, target), [(key, source) for source in sources])

    def _refuse_past(self, window: Any) -> None:
        now = self._operator.watermark if self._event_time else self._operator.context.clock()
        if self._cleanup_time(window) <= now:
            raise ProgramError(
                f"{type(self._assigner).__name__} merged windows into {window}, which has already ended "
                f"(time is {now}): merging must not let a window end earlier"
            )

    # -- time --------------------------------------------------------------------------------------------------

    def advance(self, watermark: int) -> None:
        """Timers do it."""

    def fire(self, due: list[tuple[int, Slot]], domain: TimeDomain) -> None:
        event = domain is TimeDomain.EVENT_TIME
        on_time = self._trigger.on_event_time if event else self._trigger.on_processing_time
        cleans_up = event == self._event_time
        for timestamp, slot in due:
            key, token = slot
            window = window_of(token)
            self._operator.scope.key = key
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
        self._operator.evaluation.results.flush(True)

    def _drop(self, slot: Slot, contents_slot: Slot, window: Any) -> None:
        self._contents.clear(contents_slot)
        self._trigger.clear(window, self._triggering.at(slot))
        self._triggering.forget(slot)
        self._operator.evaluation.clear(slot, window)
        if self._merging is not None:
            self._merging.retire(slot[0], window)

    def _cleanup_time(self, window: Any) -> int:
        end: int = window.max_timestamp()
        return min(end + self._lateness, MAX_TIMESTAMP) if self._event_time else end

    # -- snapshots ---------------------------------------------------------------------------------------------

    def reloaded(self) -> None:
        """Tables and timers are all there is."""

    def get(self, slot: Slot) -> Any:
        return self._contents.get(slot)

    def put(self, slot: Slot, content: Any) -> None:
        self._contents.put(slot, content)

    def put_slice(self, slot: Slot, accumulator: Any) -> None:
        raise AssertionError("slices are merged into windows")

    def restored(self, timed: set[Slot], merged: dict[Slot, Any]) -> None:
        """Gives windows the timers that another path does without, or that another lateness asks for."""
        if self._merging is not None:
            for (key, place), token in merged.items():
                self._merging.put(key, token, place)
        for key, place in self._contents.slots():
            token = merged.get((key, place), place)
            slot, window = (key, token), window_of(token)
            if self._merging is not None:
                self._merging.put(key, token, place)
            cleanup, end = self._cleanup_time(window), window.max_timestamp()
            if cleanup != MAX_TIMESTAMP:
                self._cleanup_timers.add(cleanup, slot)
            if self._event_time and slot not in timed and end > self._operator.watermark:
                self._operator.timers.event.add(end, slot)  # which the default trigger would have set
