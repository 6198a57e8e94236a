"""One subtask of one level: runs all its operators over the chunks of an epoch.

The whole interface: make it (open), catch it up (apply_delta), run an epoch (run_epoch), ask what changed (take_delta).
It does not know that Spark drives it in micro-batches, so tests drive it directly.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch, Control, Watermark
from penstock.runtime.blueprint import EdgeBlueprint, JobBlueprint
from penstock.runtime.chunk import ColumnCodec, read_chunk
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.coercion import coercer
from penstock.runtime.context import SubtaskContext
from penstock.runtime.exchange import (
    ExchangeRow,
    ExchangeWriter,
    channel_of,
    codec_of_edge,
    edge_of_channel,
    senders_to,
    writer_for,
)
from penstock.runtime.failure import OperatorFailure, failure_of
from penstock.runtime.operators.base import Output
from penstock.runtime.operators.registry import OPERATORS
from penstock.runtime.pacer import Pacer
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.report import SubtaskReport, report_row
from penstock.runtime.savepoint import Label, Savepoint
from penstock.runtime.sources.base import Assignment
from penstock.runtime.state.disk import DiskStore
from penstock.runtime.state_limit import StateLimit
from penstock.runtime.station import FanOut, LocalInput, Station

_FRAMES_PER_OPERATOR = 8


class Container:
    """The operators of one level that belong to one subtask, wired to each other and to the exchanges."""

    def __init__(self, job: JobBlueprint, level: int, subtask: int, clock: Clock = system_clock) -> None:
        self._job = job
        self._level = level
        self._subtask = subtask
        self._clock = clock
        self._rows: list[ExchangeRow] = []
        self._writers: dict[int, ExchangeWriter] = {}
        self._codecs: dict[int, ColumnCodec | None] = {}
        self.report = SubtaskReport(level, subtask)
        disk = job.settings.disk_state
        self.store: DiskStore | None = None
        if disk is not None and level > 0:  # level 0 has no keyed state, and its snapshots travel to the driver whole
            self.store = DiskStore(disk.directory_of(level, subtask), disk.memory)
        self._edges = {edge.id: edge for edge in job.edges}
        self._stations = self._build_stations()
        self._connect()
        self._pacer = Pacer(clock, self._advance_processing_time)
        # A chain of many operators is a deep call; Python frames live on the heap, so the limit may follow.
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 2000 + _FRAMES_PER_OPERATOR * len(self._stations)))

    def _build_stations(self) -> dict[int, Station]:
        stations: dict[int, Station] = {}
        for blueprint in self._job.operators_of(self._level):
            if self._subtask >= blueprint.parallelism:
                continue
            context = SubtaskContext(blueprint, self._job.settings, self._subtask, self._clock, store=self.store)
            channels: dict[Any, int] = {}
            for edge in self._job.edges:
                if edge.target == blueprint.id:
                    channels.update((channel, edge.input_index) for channel in self._channels(edge))
            stations[blueprint.id] = Station(OPERATORS[blueprint.kind](blueprint, context), channels)
        return stations

    def _channels(self, edge: EdgeBlueprint) -> list[int]:
        return [channel_of(edge.id, sender) for sender in senders_to(edge, self._subtask)]

    def _connect(self) -> None:
        outputs: dict[int, dict[str | None, list[Output]]] = {id_: {} for id_ in self._stations}
        for edge in self._job.edges:
            if edge.source in outputs:
                outputs[edge.source].setdefault(edge.side_output, []).append(self._output_of(edge))
            if edge.target in self._stations and edge.crosses_levels:
                self._codecs[edge.id] = codec_of_edge(edge)
        for id_, by_tag in outputs.items():
            main = _one_output(by_tag.pop(None, []))
            sides = {tag: _one_output(many) for tag, many in by_tag.items() if tag is not None}
            self._stations[id_].operator.connect(main, sides)

    def _output_of(self, edge: EdgeBlueprint) -> Output:
        if edge.crosses_levels:
            writer = writer_for(edge, self._subtask, self._job.settings.chunk_records, self._rows.append)
            self._writers[edge.id] = writer
            return writer
        coerce = coercer(edge.type_info) if edge.coerce and edge.type_info is not None else None
        channel = channel_of(edge.id, self._subtask)
        return LocalInput(self._stations[edge.target], channel, edge.input_index, coerce)

    def open(self, savepoint: Savepoint | None = None) -> None:
        """Opens user functions, those at the end of chains first, as in Flink."""
        for station in reversed(self._stations.values()):
            if savepoint is not None:
                saved = savepoint.operator(station.operator.blueprint.uid)
                if saved is not None:
                    station.guard(station.operator.context.expect_states, saved.states)
                states, old_parallelism = _saved_states(station, savepoint)
                station.guard(station.operator.restore_operator_state, states, old_parallelism)
            station.guard(station.operator.open)
        if savepoint is not None:
            self._restore(savepoint)

    # -- one epoch ---------------------------------------------------------------------------------------------

    def run_epoch(
        self,
        rows: Iterable[ExchangeRow] = (),
        assignments: dict[int, Assignment] | None = None,
        saving: bool = False,
    ) -> Iterator[ExchangeRow]:
        """Processes an epoch's input and yields exchange rows while it goes; `report` is complete afterwards."""
        self.report = report = SubtaskReport(self._level, self._subtask)
        self._saving = saving
        before = {id_: station.records_in for id_, station in self._stations.items()}
        stdout, stderr = io.StringIO(), io.StringIO()
        try:
            for step in self._steps(rows, assignments or {}):
                with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
                    step()
                yield from self._take_rows()
        except OperatorFailure as failure:
            report.failure = failure.failure
            self._rows.clear()
        yield from self._take_rows()
        report.stdout, report.stderr = stdout.getvalue(), stderr.getvalue()
        report.records_in = {id_: s.records_in - before[id_] for id_, s in self._stations.items()}
        report.watermarks = {id_: s.operator.watermark for id_, s in self._stations.items()}
        report.finished = all(station.finished for station in self._stations.values())
        report.next_processing_time = self._next_processing_time()

    def _steps(self, rows: Iterable[ExchangeRow], assignments: dict[int, Assignment]) -> Iterator[Callable[[], None]]:
        yield self._advance_processing_time
        for row in sorted(rows, key=lambda row: (row.seq, row.channel)):
            yield lambda row=row: self._receive(row)  # type: ignore[misc]
        yield from self._source_steps(assignments)
        yield self._end_epoch

    def _receive(self, row: ExchangeRow) -> None:
        edge = self._edges[edge_of_channel(row.channel)]
        station = self._stations[edge.target]
        for element in read_chunk(row.payload, self._codecs[edge.id]):
            if isinstance(element, Batch):
                self._pacer.emit(lambda part: station.receive(row.channel, part), element)
            else:
                station.receive(row.channel, element)

    def _source_steps(self, assignments: dict[int, Assignment]) -> Iterator[Callable[[], None]]:
        """Reads the sources in turn, a batch of each, so that none waits for the end of another."""
        active = {
            id_: _elements(self._stations[id_], assignment)
            for id_, assignment in assignments.items()
            if id_ in self._stations and not self._stations[id_].finished
        }
        while active:
            for id_, elements in list(active.items()):
                yield lambda id_=id_, elements=elements: self._source_step(id_, elements, active)  # type: ignore[misc]

    def _source_step(self, id_: int, elements: Iterator[Batch | Control | None], active: dict[int, Any]) -> None:
        station = self._stations[id_]
        element = station.guard(next, elements, _DONE)
        if element is _DONE:
            del active[id_]
        elif element is None:
            station.finished = True
            station.guard(_end_source, station.operator.output)
        elif isinstance(element, Batch):
            station.records_in += len(element)
            station.guard(self._pacer.emit, station.operator.output.emit, element)
        elif isinstance(element, Watermark):
            station.operator.output.emit_watermark(element.timestamp)
        else:
            station.operator.output.emit_idleness(element.idle)
        self._advance_processing_time()

    def _advance_processing_time(self) -> None:
        due = self._next_processing_time()
        if due is None:
            return
        now = self._clock()
        if due <= now:
            for station in self._stations.values():
                if not station.finished:
                    station.guard(station.operator.advance_processing_time, now)

    def _next_processing_time(self) -> int | None:
        moments = [s.operator.next_processing_time() for s in self._stations.values() if not s.finished]
        return min((moment for moment in moments if moment is not None), default=None)

    def _end_epoch(self) -> None:
        for id_, station in self._stations.items():
            if self._saving:
                station.guard(station.operator.before_savepoint)
            station.guard(station.operator.end_epoch)
            committables = station.guard(station.operator.committables)
            if committables:
                self.report.committables[id_] = committables
            metrics = station.operator.context.metrics.values()
            if metrics:
                self.report.metrics[station.operator.blueprint.name] = metrics
        for writer in self._writers.values():
            station = self._stations[writer.edge.source]
            station.guard(writer.flush)

    def _take_rows(self) -> list[ExchangeRow]:
        rows = self._rows.copy()
        self._rows.clear()
        return rows

    # -- snapshots ---------------------------------------------------------------------------------------------

    def wants_full_delta(self) -> bool:
        """Whether state has changed its form, so that a delta does not fit to what was written before."""
        return any(station.operator.context.states_converted() for station in self._stations.values())

    def take_delta(self, full: bool = False) -> bytes:
        """Everything that changed since the last call; or, for a fresh start, everything."""
        operators, tables = {}, {}
        for station in self._stations.values():
            operator = station.operator
            delta = station.guard(operator.take_delta)
            if full:
                delta = station.guard(operator.full_delta)
                operator.context.states_written()
                if operator.backend is not None:
                    tables[operator.blueprint.uid] = operator.backend.full_delta()
            if delta is not None:
                operators[operator.blueprint.uid] = delta
        snapshots = {s.operator.blueprint.uid: s.snapshot() for s in self._stations.values()}
        writers = {id_: writer.snapshot() for id_, writer in self._writers.items()}
        self._trim()
        try:
            return dumps((operators, tables, snapshots, writers))
        except Exception:
            for station in self._stations.values():  # whose state is it that cannot be pickled?
                uid = station.operator.blueprint.uid
                station.guard(dumps, (operators.get(uid), tables.get(uid)))
            raise

    def apply_delta(self, delta: bytes) -> None:
        operators, tables, stations, writers = loads(delta)
        for station in self._stations.values():
            uid = station.operator.blueprint.uid
            if uid in tables and station.operator.backend is not None:
                station.operator.backend.apply_full(tables[uid])
            if uid in operators:
                station.operator.apply_delta(operators[uid])
            if uid in stations:
                station.restore(stations[uid])
        for id_, snapshot in writers.items():
            if id_ in self._writers and snapshot is not None:
                self._writers[id_].restore(snapshot)
        self._trim()

    def _trim(self) -> None:
        if self.store is not None:
            self.store.trim()

    def report_row(self) -> ExchangeRow:
        """The report of the epoch, or of the failure that its results cannot be pickled."""
        try:
            return report_row(self.report)
        except Exception as error:
            self.report.failure = failure_of(error)
            for id_, committables in self.report.committables.items():
                try:
                    self._stations[id_].guard(dumps, committables)
                except OperatorFailure as failure:
                    self.report.failure = failure.failure
            self.report.committables = {}
            return report_row(self.report)

    def savepoint_pieces(self) -> Iterator[tuple[Label, Any]]:
        """Everything that another job needs, asked for right behind take_delta()."""
        for station in self._stations.values():
            operator = station.operator
            uid = operator.blueprint.uid
            yield Label(uid), (station.watermark_reached, station.guard(operator.full_delta))
            if operator.backend is not None:
                for name, schema, entries in operator.backend.pieces():
                    yield Label(uid, name), (schema, entries)
            self.report.states[uid] = operator.context.state_schemas()

    def state_limit(self, of_checkpoint: bool) -> StateLimit:
        """For the states of this subtask; savepoints have none, as in Flink."""
        max_bytes = self._job.settings.max_state_size if of_checkpoint else None
        return StateLimit(max_bytes, self._job.operators, self._subtask)

    def _restore(self, savepoint: Savepoint) -> None:
        """Starts from a savepoint instead of from nothing."""
        for station in self._stations.values():
            uid = station.operator.blueprint.uid
            if savepoint.operator(uid) is not None:
                watermarks = [watermark for _, (watermark, _) in savepoint.states_of(uid)]
                station.start_at(min(watermarks, default=MIN_TIMESTAMP))
                for piece in savepoint.tables_of(uid):
                    station.guard(station.operator.restore_table, piece.table, piece.schema, piece.entries)
                    self._trim()
                station.guard(station.operator.restore_savepoint, *_saved_states(station, savepoint))

    def close(self) -> None:
        """Closes user functions; what they print or raise now belongs to the last report."""
        stdout, stderr = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
                for station in self._stations.values():
                    station.guard(station.operator.close)
        except OperatorFailure as failure:
            self.report.failure = failure.failure
        self.report.stdout += stdout.getvalue()
        self.report.stderr += stderr.getvalue()
        if self.store is not None:
            self.store.close()


_DONE = object()


def _elements(station: Station, assignment: Assignment) -> Iterator[Batch | Control | None]:
    """The elements of a source's epoch; None is its end."""
    if assignment.work is not None:
        yield from station.operator.blueprint.function.read(assignment.work)
    if assignment.final:
        yield None


def _end_source(output: Output) -> None:
    output.emit_watermark(MAX_TIMESTAMP)
    output.end()


def _one_output(outputs: list[Output]) -> Output:
    return outputs[0] if len(outputs) == 1 else FanOut(outputs)


def _saved_states(station: Station, savepoint: Savepoint) -> tuple[list[tuple[int, Any]], int]:
    """The operator's full deltas by old subtask, and how many subtasks there were."""
    saved = savepoint.operator(station.operator.blueprint.uid)
    if saved is None:
        return [], 0
    states = savepoint.states_of(saved.uid)
    return [(subtask, state) for subtask, (_, state) in states if state is not None], saved.parallelism
