"""Windows over two keyed streams: what window join and co-group run on."""

from __future__ import annotations

from itertools import repeat

from penstock.functions.join import TaggedUnion
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.windows.late import LateOutput
from penstock.runtime.windows.operator import WindowOperator


class _LateRecords(LateOutput):
    """Late records leave as the user knows them."""

    def add(self, value: TaggedUnion, timestamp: int) -> None:
        super().add(value.value, timestamp)


class WindowOfTwoOperator(WindowOperator):
    """Marks each record with its input; the window function tells them apart."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self.late = _LateRecords(self, self.settings.late_tag)

    def process(self, batch: Batch, input_index: int) -> None:
        tagged = list(map(TaggedUnion, repeat(input_index), batch.values))
        super().process(Batch(tagged, batch.timestamps, batch.keys), input_index)
