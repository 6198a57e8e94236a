"""The window operator: one logical operator, whose index and contents are chosen here and known nowhere else."""

from __future__ import annotations

from typing import Any, Protocol

from penstock.common.errors import ProgramError
from penstock.functions.time_domain import TimeDomain
from penstock.functions.window_assigners import (
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    MergingWindowAssigner,
)
from penstock.functions.window_triggers import EventTimeTrigger
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_layout import KeyLayout, owned_entries
from penstock.runtime.operator_memory import OperatorSnapshot
from penstock.runtime.operators.process import TimedOperator
from penstock.runtime.pickling import loads
from penstock.runtime.state_schema import StateSchema
from penstock.runtime.windows.contexts import TRIGGER_STATE, WINDOW_STATE
from penstock.runtime.windows.evaluation import Evaluation
from penstock.runtime.windows.field_folding import folding_of
from penstock.runtime.windows.general import GeneralWindows
from penstock.runtime.windows.late import LateOutput
from penstock.runtime.windows.saved_contents import CONTENTS, WINDOW_SETS, Restored, SavedContents, Slot
from penstock.runtime.windows.sessions import SessionWindows
from penstock.runtime.windows.settings import PARAMETER, WindowSettings
from penstock.runtime.windows.sliced import SlicedWindows
from penstock.runtime.windows.slices import slices_of


class WindowIndex(Restored, Protocol):
    """Knows which windows are open, what is in them and when they fire."""

    form: str  # of what it writes into the log

    def add(self, batch: Batch) -> None: ...

    def advance(self, watermark: int) -> None: ...

    def reloaded(self) -> None:
        """State came from the log."""


class WindowOperator(TimedOperator):
    """Settings, the functions of the user, late elements and snapshots; everything else is the index's."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        settings: WindowSettings = blueprint.params[PARAMETER]
        self.settings = settings
        self.folding = None if settings.aggregation is None else folding_of(settings.aggregation)
        self.evaluation = Evaluation(self, self.function, isinstance(settings.assigner, MergingWindowAssigner))
        self.late = LateOutput(self, settings.late_tag)
        self.arrived = 1  # counts the records, so that the first one of several slices can be told
        self.index: WindowIndex = self._choose_index()
        self._saved = SavedContents(settings, self.folding, self.index)
        self.memory.track("aggregation", settings.aggregation)

    def _choose_index(self) -> WindowIndex:
        """A quick one where its results are those of the general one."""
        settings = self.settings
        if settings.evictor is None and type(settings.trigger) is EventTimeTrigger:
            slices = slices_of(settings.assigner)
            if slices is not None and not (self.folding is None and self.backend.on_disk):
                return SlicedWindows(self, slices)
            sessions = type(settings.assigner) in (EventTimeSessionWindows, DynamicEventTimeSessionWindows)
            if sessions and self.folding is not None:
                return SessionWindows(self, self.folding)
        return GeneralWindows(self)

    def open(self) -> None:
        if self.settings.aggregation is not None:
            self.settings.aggregation.open(self.context.runtime_context)
        super().open()

    def close(self) -> None:
        super().close()
        if self.settings.aggregation is not None:
            self.settings.aggregation.close()

    # -- elements and time -------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        if len(batch):
            self.index.add(batch)

    def process_watermark(self, timestamp: int) -> None:
        self.watermark = timestamp
        self.index.advance(timestamp)
        super().process_watermark(timestamp)

    def fire(self, due: list[tuple[int, Slot]], domain: TimeDomain) -> None:
        assert isinstance(self.index, GeneralWindows)
        self.index.fire(due, domain)

    def advance_processing_time(self, now: int) -> None:
        # A window's last millisecond still belongs to it: its timer waits until that one is over, as in Flink.
        super().advance_processing_time(now - 1)

    def next_processing_time(self) -> int | None:
        earliest = super().next_processing_time()
        return None if earliest is None else earliest + 1

    # -- snapshots ---------------------------------------------------------------------------------------------

    def extra(self) -> tuple[str, int]:
        return self._form(), self.arrived

    def _form(self) -> str:
        return self.index.form if self.folding is None else f"{self.index.form} of {self.folding.form}s"

    def restore_extra(self, extra: tuple[str, int]) -> None:
        self.arrived = extra[1]

    def load(self, snapshot: OperatorSnapshot, full: bool = False) -> None:
        form = self._form() if snapshot.extra is None else loads(snapshot.extra)[0]
        if form != self._form():
            raise ProgramError(
                f"the job's log holds windows as {form}, and the changed program would keep them as {self._form()}: "
                "run the program as it was, stop it with a savepoint, and start the changed one from that (-s)"
            )
        super().load(snapshot, full)

    def loaded(self) -> None:
        self.index.reloaded()

    def key_layout(self, table: str) -> KeyLayout:
        by_window = table in CONTENTS or table.startswith((TRIGGER_STATE, WINDOW_STATE))
        return KeyLayout.KEY_FIRST if by_window else KeyLayout.KEY

    # -- savepoints --------------------------------------------------------------------------------------------

    def take_over_table(self, name: str, schema: StateSchema, entries: dict[Any, Any]) -> None:
        if name in CONTENTS or name == WINDOW_SETS:
            owned = owned_entries(entries, self.key_layout(name), self.memory.owns)
            self._saved.add(name, owned)
        elif not name.startswith(TRIGGER_STATE) or isinstance(self.index, GeneralWindows):
            super().take_over_table(name, schema, entries)  # but for trigger state: the default trigger has none

    def take_over_extras(self, extras: dict[int, tuple[str, int]], old_parallelism: int) -> None:
        self.arrived = max([self.arrived, *(arrived for _, arrived in extras.values())])

    def take_over(self, saved: dict[int, OperatorSnapshot], old_parallelism: int) -> None:
        super().take_over(saved, old_parallelism)
        timed = {slot for queue in (self.timers.event, self.timers.processing) for _, slot in queue.full_delta()}
        if not isinstance(self.index, GeneralWindows):
            self.timers.event.clear()
            self.timers.processing.clear()
        self._saved.finish(timed, self.watermark)
