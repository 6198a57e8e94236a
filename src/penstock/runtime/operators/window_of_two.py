"""Windows over two keyed streams: what window join and co-group run on."""

from __future__ import annotations

from itertools import repeat

from penstock.datastream.join_functions import TaggedUnion
from penstock.runtime.batch import Batch
from penstock.runtime.operators.window import WindowOperator


class WindowOfTwoOperator(WindowOperator):
    """Marks each record with its input; the window function tells them apart."""

    def process(self, batch: Batch, input_index: int) -> None:
        tagged = list(map(TaggedUnion, repeat(input_index), batch.values))
        super().process(Batch(tagged, batch.timestamps, batch.keys), input_index)
