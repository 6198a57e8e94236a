"""A container runs the operators of one subtask: wiring, watermarks, ends, snapshots and failures."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.runtime.blueprints import chained, edge, job, operator

from penstock.common.failure import FailedTask
from penstock.connectors.collecting import CollectSink
from penstock.connectors.printing import PrintSink
from penstock.runtime.batch import MAX_TIMESTAMP, Batch, EndOfInput, Watermark
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.chunk import read_chunk
from penstock.runtime.container import Container
from penstock.runtime.exchange import ExchangeRow
from penstock.runtime.failure import OperatorFailure
from penstock.runtime.partitioning import Forward, Rebalance
from penstock.runtime.report import SubtaskReport
from penstock.runtime.sources.base import Assignment, WorkReader
from penstock.testing.epochs import whole_epoch


class Reader(WorkReader):
    def read(self, work: Any) -> Any:
        yield from work


class Double:
    def __init__(self) -> None:
        self.calls: list[str] = []

    def open(self, context: Any) -> None:
        self.calls.append("open")

    def close(self) -> None:
        self.calls.append("close")

    def map(self, value: int) -> int:
        return value * 2


class Fails:
    def map(self, value: int) -> int:
        print("before the failure")
        raise ValueError(f"cannot take {value}")


class Count:
    count = 0

    def map(self, value: Any) -> int:
        self.count += 1
        return self.count


def chain(*functions: Any) -> JobBlueprint:
    """source -> map... -> collect, all in one container."""
    maps = [operator(i + 2, "map", function) for i, function in enumerate(functions)]
    sink = operator(len(maps) + 2, "sink", CollectSink(), sink=True)
    edges = [chained(i, i + 1, i + 2) for i in range(len(maps) + 1)]
    return job([operator(1, "source", Reader()), *maps, sink], edges)


def run(container: Container, *elements: Any, final: bool = False) -> tuple[list[ExchangeRow], SubtaskReport]:
    return whole_epoch(container, assignments={1: Assignment(list(elements), final)})


def opened(plan: JobBlueprint, level: int = 0, subtask: int = 0) -> Container:
    container = Container(plan, level, subtask)
    container.open()
    return container


def test_chained_operators_hand_batches_on() -> None:
    container = opened(chain(Double(), Double()))
    rows, report = run(container, Batch([1, 2]), Batch([3]))
    assert rows == []
    assert report.committables == {4: [4, 8, 12]}
    assert report.records_in == {1: 3, 2: 3, 3: 3, 4: 3}
    assert not report.finished


def test_end_of_the_source_ends_everything_behind_it() -> None:
    container = opened(chain(Double()))
    _, report = run(container, Batch([1]), final=True)
    assert report.finished
    assert report.watermarks[3] == MAX_TIMESTAMP


def test_watermarks_pass_chains_and_exchanges_in_their_places() -> None:
    plan = job(
        [operator(1, "source", Reader()), operator(2, "sink", CollectSink(), level=1, parallelism=2, sink=True)],
        [edge(Rebalance(), 1, 2)],
    )
    rows, _ = run(opened(plan), Batch([1, 2], [1, 2]), Watermark(2), Batch([3], [3]), final=True)
    received: dict[int, list[Any]] = {0: [], 1: []}
    for row in rows:
        for element in read_chunk(row.payload, None):
            received[row.subtask] += element.values if isinstance(element, Batch) else [element]
    end = [Watermark(MAX_TIMESTAMP), EndOfInput()]
    assert received == {0: [1, Watermark(2), 3, *end], 1: [2, Watermark(2), *end]}


def test_functions_are_opened_from_the_end_and_closed_once() -> None:
    function = Double()
    container = opened(chain(function))
    container.close()
    container.close()
    assert function.calls == ["open", "close"]


def test_failure_names_operator_and_line_and_keeps_what_was_printed() -> None:
    container = opened(chain(Double(), Fails()))
    rows, report = run(container, Batch([1]))
    failure = report.failure
    assert rows == []
    assert failure is not None
    assert (failure.exception, failure.message) == ("ValueError", "cannot take 2")
    assert failure.task == FailedTask("map 3", "uid-3", 0, 1, "program.py", 3)
    assert "test_container.py" in failure.traceback
    assert "runtime/station.py" not in failure.traceback
    assert "ValueError in operator 'map 3' (subtask 1/1), created at program.py:3" in str(failure)
    assert report.stdout == "before the failure\n"


def test_printing_goes_into_the_report() -> None:
    plan = job([operator(1, "source", Reader()), operator(2, "sink", PrintSink(), sink=True)], [chained(0, 1, 2)])
    container = opened(plan)
    _, report = run(container, Batch(["a", "ü"]))
    assert report.stdout == "a\nü\n"


def test_a_snapshot_brings_another_container_up_to_date() -> None:
    first = opened(chain(Count()))
    run(first, Batch(["x", "y"]))
    snapshot = first.snapshot()
    second = opened(chain(Count()))
    second.load([snapshot])
    _, report = run(second, Batch(["z"]))
    assert report.committables == {3: [3]}
    third = opened(chain(Count()))
    third.load([second.snapshot(full=True)])
    _, report = run(third, Batch(["z"]))
    assert report.committables == {3: [4]}


def test_rows_are_taken_in_the_order_of_their_channel_whatever_order_they_come_in() -> None:
    plan = job(
        [operator(1, "source", Reader()), operator(2, "sink", CollectSink(), level=1, sink=True)],
        [edge(Forward(), 1, 1)],
    )
    rows, _ = run(opened(plan), *[Batch([n]) for n in range(200)], final=True)
    assert len(rows) >= 3
    container = opened(plan, level=1)
    sent, report = whole_epoch(container, reversed(rows))
    assert sent == []
    assert report.committables == {2: list(range(200))}
    assert report.finished


def test_end_is_remembered_by_the_snapshot() -> None:
    container = opened(chain(Double()))
    run(container, Batch([1]), final=True)
    other = opened(chain(Double()))
    other.load([container.snapshot()])
    _, report = whole_epoch(other)
    assert report.finished


def test_subtasks_beyond_an_operators_parallelism_hold_only_the_others() -> None:
    plan = job(
        [operator(1, "source", Reader()), operator(2, "sink", CollectSink(), level=1, parallelism=2, sink=True)],
        [edge(Rebalance(), 1, 2)],
    )
    container = opened(plan, level=0, subtask=1)
    sent, report = whole_epoch(container)
    assert sent == []
    assert report.finished


def test_several_sources_are_read_in_turn() -> None:
    plan = job(
        [
            operator(1, "source", Reader()),
            operator(2, "source", Reader()),
            operator(3, "sink", CollectSink(), sink=True),
        ],
        [chained(0, 1, 3), chained(1, 2, 3)],
    )
    container = opened(plan)
    _, report = whole_epoch(
        container, assignments={1: Assignment([Batch(["a"]), Batch(["b"])]), 2: Assignment([Batch([1]), Batch([2])])}
    )
    assert report.committables == {3: ["a", 1, "b", 2]}


def test_elements_are_pushed_and_rows_taken_between_barriers() -> None:
    plan = job(
        [operator(1, "source", Reader()), operator(2, "sink", CollectSink(), level=1, sink=True)],
        [edge(Forward(), 1, 1)],
    )
    source, sink = opened(plan), opened(plan, level=1)
    for _ in source.read({1: Assignment([Batch([1, 2])])}):
        pass
    assert source.take_rows() == []  # too few for a chunk
    source.flush()
    for row in source.take_rows():
        sink.receive(row)
    assert [source.barrier().committables, sink.barrier().committables] == [{}, {2: [1, 2]}]
    for _ in source.read({1: Assignment([Batch([3])], final=True)}):
        pass
    assert source.barrier().finished
    for row in source.take_rows():
        sink.receive(row)
    report = sink.barrier()
    assert (report.committables, report.finished, report.records_in) == ({2: [3]}, True, {2: 1})


def test_a_function_whose_neighbour_fails_to_open_is_closed() -> None:
    class FailsToOpen(Double):
        def open(self, context: Any) -> None:
            super().open(context)
            raise ValueError("no service")

    never, failing, good = Double(), FailsToOpen(), Double()
    container = Container(chain(never, failing, good), 0, 0)
    with pytest.raises(OperatorFailure):
        container.open()
    container.close()
    assert [f.calls for f in (never, failing, good)] == [[], ["open", "close"], ["open", "close"]]


def test_every_function_is_closed_though_one_fails_to() -> None:
    class FailsToClose(Double):
        def close(self) -> None:
            super().close()
            raise ValueError("cannot close")

    functions = [FailsToClose(), Double()]
    container = opened(chain(*functions))
    report = SubtaskReport(0, 0)
    container.close(report)
    assert [function.calls for function in functions] == [["open", "close"]] * 2
    assert report.failure is not None and report.failure.message == "cannot close"
