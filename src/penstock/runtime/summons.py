"""What the driver says to a subtask after an exchange, in a row of its own that level 0 sends."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

from penstock.runtime.epoch_note import NOTHING_WANTED, EpochNote
from penstock.runtime.exchange import ExchangeRow, summons_channel
from penstock.runtime.report import UnionLists


@dataclass(frozen=True)
class Summons:
    """For one epoch."""

    wakes: bool = True  # the subtask runs although no records arrive for it
    note: EpochNote = NOTHING_WANTED
    union_lists: dict[int, UnionLists] = field(default_factory=dict)  # by subtask: what one that is opened again sees
    committed: int = 0  # the number of the last epoch that sinks have committed

    def row(self, level: int, subtask: int) -> ExchangeRow:
        return ExchangeRow(subtask, summons_channel(level), 0, pickle.dumps(self, 5))


NOTHING = Summons(wakes=False)


def read_summons(payload: bytes) -> Summons:
    summons: Summons = pickle.loads(payload)
    return summons
