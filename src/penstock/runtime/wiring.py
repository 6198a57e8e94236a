"""Puts the operators of one subtask of a level together: stations, the ways between them, and the exchanges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from penstock.runtime.batch import Codec
from penstock.runtime.blueprint import EdgeBlueprint, JobBlueprint
from penstock.runtime.clock import Clock
from penstock.runtime.context import SubtaskContext
from penstock.runtime.exchange import (
    NOBODY,
    ExchangeRow,
    ExchangeWriter,
    Neighbours,
    channel_of,
    codec_of_edge,
    senders_to,
    writer_for,
)
from penstock.runtime.operators.base import Output
from penstock.runtime.operators.registry import OPERATORS
from penstock.runtime.ownership import can_change
from penstock.runtime.partitioning import ByKey
from penstock.runtime.state.disk import DiskStore
from penstock.runtime.station import FanOut, LocalInput, Station
from penstock.runtime.time_sheet import TimeSheet


class Wiring:
    """Stations by operator, upstream first; writers and codecs by edge."""

    def __init__(
        self,
        job: JobBlueprint,
        level: int,
        subtask: int,
        clock: Clock,
        store: DiskStore | None,
        send: Callable[[ExchangeRow], None],
        wake: Callable[[], None] = lambda: None,
        neighbours: frozenset[int] = frozenset(),
    ) -> None:
        self._job = job
        self._neighbours = neighbours
        self._subtask = subtask
        self._send = send
        self.writers: dict[int, ExchangeWriter] = {}
        self.codecs: dict[int, Codec | None] = {}
        self.stations: dict[int, Station] = {}
        self.times = TimeSheet()
        self.ways_out: dict[int, list[LocalInput | ExchangeWriter]] = {}  # by operator, one for each kind of output
        for blueprint in job.operators_of(level):
            if subtask < blueprint.parallelism:
                context = SubtaskContext(blueprint, job.settings, subtask, clock, store, wake)
                operator = OPERATORS[blueprint.kind](blueprint, context)
                keyed = any(e.target == blueprint.id and isinstance(e.partitioning, ByKey) for e in job.edges)
                channels = self._channels_to(blueprint.id)
                self.stations[blueprint.id] = Station(operator, channels, self.times, keyed)
        self._connect()

    def _channels_to(self, operator: int) -> dict[Any, int]:
        return {
            channel_of(edge.id, sender): edge.input_index
            for edge in self._job.edges
            if edge.target == operator
            for sender in senders_to(edge, self._subtask)
        }

    def _connect(self) -> None:
        outputs: dict[int, dict[str | None, list[LocalInput | ExchangeWriter]]] = {id_: {} for id_ in self.stations}
        changing: dict[tuple[int, str | None], bool] = defaultdict(bool)  # whether records of an output can be changed
        for edge in self._job.edges:
            if edge.source in outputs:
                outputs[edge.source].setdefault(edge.side_output, []).append(self._output_of(edge))
                changing[edge.source, edge.side_output] = can_change(edge.type_info)
            if edge.target in self.stations and edge.crosses_levels:
                self.codecs[edge.id] = codec_of_edge(edge)
        for id_, by_tag in outputs.items():
            self.ways_out[id_] = [many[0] for many in by_tag.values()]
            main = _one_output(by_tag.pop(None, []), changing[id_, None])
            sides = {tag: _one_output(many, changing[id_, tag]) for tag, many in by_tag.items() if tag is not None}
            self.stations[id_].operator.connect(main, sides)

    def _output_of(self, edge: EdgeBlueprint) -> LocalInput | ExchangeWriter:
        if edge.crosses_levels:
            near = Neighbours(self._neighbours, OPERATORS[edge.target_kind].takes_rows) if self._neighbours else NOBODY
            writer = writer_for(edge, self._subtask, self._job.settings.chunk_records, self._send, near)
            self.writers[edge.id] = writer
            self.stations[edge.source].functions_after.extend(writer.functions())
            return writer
        channel = channel_of(edge.id, self._subtask)
        declared = edge.type_info if edge.coerce else None
        return LocalInput(self.stations[edge.target], channel, edge.input_index, declared)


def _one_output(outputs: Sequence[Output], changing: bool) -> Output:
    return outputs[0] if len(outputs) == 1 else FanOut(outputs, changing)
