"""One subtask of one level: runs all its operators over what arrives.

Whoever hosts it pushes: receive() a chunk, read() from sources, advance() the clock, flush() what waits to be sent, and
a barrier() that ends the epoch. What it sends is taken with take_rows(). It does not know whether micro-batches or
long-running tasks drive it, so tests drive it directly.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.runtime.batch import MAX_TIMESTAMP, Batch, Control, LatencyMarker, Watermark
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.chunk import read_chunk
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.container_vitals import ContainerVitals
from penstock.runtime.exchange import ExchangeRow, edge_of_channel
from penstock.runtime.failure import OperatorFailure
from penstock.runtime.operator_memory import OperatorSnapshot
from penstock.runtime.operators.base import Operator, Output
from penstock.runtime.operators.sources import SourceOperator
from penstock.runtime.pacer import Pacer
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.report import SubtaskReport, UnionLists
from penstock.runtime.saved_parts import Label
from penstock.runtime.savepoint import Savepoint
from penstock.runtime.sources.base import Assignment
from penstock.runtime.state.disk import DiskStore
from penstock.runtime.state_answers import answered
from penstock.runtime.state_questions import StateQuestion
from penstock.runtime.station import Station
from penstock.runtime.user_log import UserLog, logging_to, set_levels
from penstock.runtime.wiring import Wiring

_FRAMES_PER_OPERATOR = 8


@dataclass
class ContainerSnapshot:
    """What changed in a container since the last one, or everything."""

    full: bool
    operators: dict[str, OperatorSnapshot]  # by uid
    writers: dict[int, Any]  # by edge


class Container:
    """The operators of one level that belong to one subtask, wired to each other and to the exchanges."""

    def __init__(
        self,
        job: JobBlueprint,
        level: int,
        subtask: int,
        clock: Clock = system_clock,
        wake: Callable[[], None] = lambda: None,
        neighbours: frozenset[int] = frozenset(),
    ) -> None:
        """`neighbours`: the subtasks whose containers are in this process, also those of other levels."""
        self.job = job
        self._level = level
        self._subtask = subtask
        self._clock = clock
        self._rows: list[ExchangeRow] = []
        disk = job.settings.disk_state
        self.store: DiskStore | None = None
        if disk is not None and level > 0:  # level 0 has no keyed state, and its snapshots travel to the driver whole
            self.store = DiskStore(disk.directory_of(level, subtask), disk.memory)
        self._edges = {edge.id: edge for edge in job.edges}
        wiring = Wiring(job, level, subtask, clock, self.store, self._rows.append, wake, neighbours)
        self._stations, self._writers, self._codecs = wiring.stations, wiring.writers, wiring.codecs
        self._asynchronous = [s.operator for s in self._stations.values() if s.operator.asynchronous]
        self._vitals = ContainerVitals(job.settings, wiring)
        self._pacer = Pacer(clock, self._advance)
        self._steps: Iterator[None] | None = None  # of a batch that is not through
        self.pauses = False  # whether somebody calls go_on()
        self._log = UserLog(subtask)
        self._marked_at = 0
        set_levels(*job.settings.log_levels)
        self._begin()
        # A chain of many operators is a deep call; Python frames live on the heap, so the limit may follow.
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 2000 + _FRAMES_PER_OPERATOR * len(self._stations)))

    def open(self, savepoint: Savepoint | None = None) -> None:
        """Opens user functions, those at the end of chains first, as in Flink."""
        for station in reversed(self._stations.values()):
            if savepoint is not None:
                station.expect(savepoint)
            with self._captured():
                station.open()
        if savepoint is not None:
            for station in self._stations.values():
                station.take_over(savepoint, self._trim)

    def close(self, report: SubtaskReport | None = None) -> None:
        """Closes user functions that are open; what they print or raise belongs to the report, if there is one."""
        if report is not None:  # of an open() that has failed
            report.stdout += self._stdout.getvalue()
            report.stderr += self._stderr.getvalue()
        self._begin()
        for station in self._stations.values():
            self._run(station.close, even_after_failure=True)
        if report is not None:
            report.stdout += self._stdout.getvalue()
            report.stderr += self._stderr.getvalue()
            report.log += self._log.take()
            report.failure = report.failure or self._report.failure
        if self.store is not None:
            self.store.close()

    # -- elements in, rows out ---------------------------------------------------------------------------------

    def receive(self, row: ExchangeRow) -> None:
        """A chunk from another container; those of one channel come in order."""
        self._begin_steps(self._receive(row))

    def read(self, assignments: dict[int, Assignment]) -> Iterator[None]:
        """Reads the sources in turn, a batch of each, so that none waits for the end of another."""
        active = {
            id_: _elements(station.operator, assignment)
            for id_, assignment in assignments.items()
            if (station := self._stations.get(id_)) is not None and not station.finished
        }
        while active and self._report.failure is None:
            for id_, elements in list(active.items()):
                self._begin_steps(self._source_steps(id_, elements, active))
                yield
                while self.unfinished:
                    self.go_on()
                    yield

    @property
    def unfinished(self) -> bool:
        """Whether a batch was left in the middle, because it takes long: go_on() before anything else comes."""
        return self._steps is not None

    def go_on(self) -> None:
        self._run(self._next_step)

    def _begin_steps(self, steps: Iterator[None]) -> None:
        self._steps = steps
        self.go_on()

    def _next_step(self) -> None:
        assert self._steps is not None
        for _ in self._steps:
            if self.pauses:
                return
        self._steps = None

    def advance(self) -> None:
        """Fires what is due by the clock."""
        self._run(self._advance)

    def next_processing_time(self) -> int | None:
        """When advance() is due although nothing arrives."""
        if self._report.failure is not None:
            return None
        moments = [s.operator.next_processing_time() for s in self._stations.values() if not s.is_over]
        return min((moment for moment in moments if moment is not None), default=None)

    @property
    def repeatable(self) -> bool:
        """Whether the same input, from the same snapshot, always has the same results."""
        return not self._asynchronous

    @property
    def congested(self) -> bool:
        """Whether an operator has more than it can begin: better keep outside what comes next.

        After a failure nothing begins any more, and the end of the epoch, which tells of it, must not wait for that.
        """
        return self._report.failure is None and any(operator.congested for operator in self._asynchronous)

    def flush(self) -> None:
        """Sends records that wait for their chunk to become full."""
        for writer in self._writers.values():
            self._run(self._stations[writer.edge.source].guard, writer.flush)

    def take_rows(self) -> list[ExchangeRow]:
        """What is to be sent, in order."""
        rows = self._rows.copy()
        self._rows.clear()
        return rows

    def hear_commit(self, epoch: int) -> None:
        """The epoch of this number is committed, as sinks count them, and all before."""
        for station in self._stations.values():
            self._run(station.guard, station.operator.on_commit, epoch)

    def barrier(self, saving: bool = False) -> SubtaskReport:
        """The epoch ends here; the snapshot is taken next, before anything else arrives."""
        self._run(self._end_epoch, saving)
        self.flush()
        report = self._report
        report.stdout, report.stderr = self._stdout.getvalue(), self._stderr.getvalue()
        report.log = self._log.take()
        for id_, station in self._stations.items():
            report.records_in[id_] = station.records_in - self._records_before[id_]
            report.watermarks[id_] = station.operator.watermark
            if station.operator.idle:
                report.idle.add(id_)
            if isinstance(station.operator, SourceOperator):
                report.readings[station.uid] = station.operator.read_report()
                report.held_back |= station.operator.held_back
            report.metrics[station.uid] = station.operator.memory.metrics.values()
            union_lists = station.operator.memory.unkeyed.union_lists()
            if union_lists:
                report.union_lists[station.uid] = union_lists
        self._vitals.put_into(report)
        report.finished = all(station.is_over for station in self._stations.values())
        report.next_processing_time = self.next_processing_time()
        self._begin()
        return report

    # -- what happens in an epoch ------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._report = SubtaskReport(self._level, self._subtask)
        self._stdout, self._stderr = io.StringIO(), io.StringIO()
        self._records_before = {id_: station.records_in for id_, station in self._stations.items()}

    def _run(self, step: Callable[..., Any], *arguments: Any, even_after_failure: bool = False) -> None:
        """User code runs here: what it prints and how it fails goes into the report of the epoch."""
        if self._report.failure is not None and not even_after_failure:
            self._steps = None
            return
        started = time.perf_counter()
        self._vitals.times.here()
        try:
            with self._captured():
                step(*arguments)
        except OperatorFailure as failure:
            self._report.failure = self._report.failure or failure.failure
            self._rows.clear()
            self._steps = None
        self._report.busy_ms += (time.perf_counter() - started) * 1000

    @contextlib.contextmanager
    def _captured(self) -> Iterator[None]:
        with (
            contextlib.redirect_stdout(self._stdout),
            contextlib.redirect_stderr(self._stderr),
            logging_to(self._log),
        ):
            yield

    def _receive(self, row: ExchangeRow) -> Iterator[None]:
        edge = self._edges[edge_of_channel(row.channel)]
        station = self._stations[edge.target]
        station.guard(self._vitals.received, edge.target, row.payload)
        for element in read_chunk(row.payload, self._codecs[edge.id]):
            if isinstance(element, Batch):
                yield from self._pacer.emit(lambda part: station.receive(row.channel, part), element)
            else:
                station.receive(row.channel, element)

    def _source_steps(
        self, id_: int, elements: Iterator[Batch | Control | None], active: dict[int, Any]
    ) -> Iterator[None]:
        station = self._stations[id_]
        element = station.guard(next, elements, _DONE)
        if element is _DONE:
            del active[id_]
        elif element is None:
            station.finished = True
            station.guard(_end_source, station.operator)
        elif isinstance(element, Batch):
            station.records_in += len(element)
            parts = self._pacer.emit(station.operator.output.emit, element)
            while station.guard(next, parts, _DONE) is not _DONE:
                yield
            self._mark_latency(station)
        elif isinstance(element, Watermark):
            for output in _outputs_of(station.operator):
                output.emit_watermark(element.timestamp)
        else:
            for output in _outputs_of(station.operator):
                output.emit_idleness(element.idle)
        self._advance()

    def _mark_latency(self, source: Station) -> None:
        interval, now = self.job.settings.latency_interval_ms, self._clock()
        if interval and now - self._marked_at >= interval:
            self._marked_at = now
            source.operator.output.emit_latency(LatencyMarker(source.uid, now))

    def _advance(self) -> None:
        due = self.next_processing_time()
        if due is None:
            return
        now = self._clock()
        if due <= now:
            for station in self._stations.values():
                if not station.finished:
                    station.guard(station.operator.advance_processing_time, now)

    def _end_epoch(self, saving: bool) -> None:
        for id_, station in self._stations.items():
            if saving:
                station.guard(station.operator.before_savepoint)
            station.guard(station.operator.end_epoch)
            committables = station.guard(station.operator.committables)
            if committables:
                self._report.committables[id_] = committables

    # -- snapshots ---------------------------------------------------------------------------------------------

    def wants_full_snapshot(self) -> bool:
        """Whether state has changed its form, so that a delta does not fit to what was written before."""
        return any(station.operator.memory.converted() for station in self._stations.values())

    def snapshot(self, full: bool = False) -> bytes:
        """Everything that changed since the last call; or, for a fresh start, everything."""
        snapshot = ContainerSnapshot(
            full,
            {station.uid: station.snapshot(full) for station in self._stations.values()},
            {id_: writer.snapshot() for id_, writer in self._writers.items()},
        )
        self._trim()
        try:
            return dumps(snapshot)
        except Exception:
            for station in self._stations.values():  # whose state is it that cannot be pickled?
                station.guard(dumps, snapshot.operators[station.uid])
            raise

    def load(self, snapshots: Iterable[bytes]) -> None:
        """The inverse of snapshot(), called once or several times: on the same or an older container."""
        for snapshot in snapshots:
            self._load(loads(snapshot))
            self._trim()
        for station in self._stations.values():
            station.operator.loaded()

    def _load(self, snapshot: ContainerSnapshot) -> None:
        for station in self._stations.values():
            if station.uid in snapshot.operators:
                station.load(snapshot.operators[station.uid], snapshot.full)
        for id_, position in snapshot.writers.items():
            if id_ in self._writers and position is not None:
                self._writers[id_].restore(position)

    def see_union_lists(self, of_all: dict[int, UnionLists]) -> None:
        """Before open(), after load(): what all subtasks of the level had in union lists."""
        for station in self._stations.values():
            lists = [of_one[station.uid] for _, of_one in sorted(of_all.items()) if station.uid in of_one]
            station.operator.memory.unkeyed.see_union_lists(lists)

    def saved_pieces(self, report: SubtaskReport) -> Iterator[tuple[Label, Any]]:
        """For a savepoint, right after snapshot(): everything that another job needs."""
        for station in self._stations.values():
            yield Label(station.uid), station.saved_state()
            for name, schema, entries in station.operator.memory.keyed.pieces():
                yield Label(station.uid, name), (schema, entries)
            report.states[station.uid] = station.operator.memory.state_schemas()

    def measure_state(self, report: SubtaskReport) -> None:
        """Right after snapshot(): how much state there is."""
        self._vitals.measure_state(report)

    def answer(self, questions: dict[int, StateQuestion], report: SubtaskReport) -> None:
        """Right after snapshot(): what was asked about the state of operators here."""
        for ticket, question in questions.items():
            asked = [station for station in self._stations.values() if question.uid in (None, station.uid)]
            report.answers[ticket] = tuple(
                station.guard(answered, station.operator, self._subtask, question) for station in asked
            )

    def unpicklable(self, committables: dict[int, list[Any]]) -> OperatorFailure | None:
        """The failure of the operator whose results cannot be sent to the driver."""
        for id_, results in committables.items():
            try:
                self._stations[id_].guard(dumps, results)
            except OperatorFailure as failure:
                return failure
        return None

    def _trim(self) -> None:
        if self.store is not None:
            self.store.trim()


_DONE = object()


def _elements(operator: Operator, assignment: Assignment) -> Iterator[Batch | Control | None]:
    """The elements of a source's epoch; None is its end."""
    if assignment.work is not None:
        assert isinstance(operator, SourceOperator)
        yield from operator.read(assignment.work)
    if assignment.final:
        yield None


def _outputs_of(source: Operator) -> list[Output]:
    return [source.output, *source.side_outputs.values()]


def _end_source(source: Operator) -> None:
    for output in _outputs_of(source):
        output.emit_watermark(MAX_TIMESTAMP)
        output.end()
