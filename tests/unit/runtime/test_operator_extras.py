"""What an operator remembers besides its state is written when it differs from what was written last, by whomever."""

from __future__ import annotations

from typing import Any

from penstock.functions.sink import Records, Sink, SinkWriter, WriterContext
from penstock.runtime.blueprint import JobSettings, OperatorBlueprint, Origin
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.sinks import SinkOperator


class Shelf(SinkWriter):
    def __init__(self) -> None:
        self.content: list[str] = []

    def write(self, records: Records) -> None: ...

    def snapshot_state(self) -> list[str]:
        return list(self.content)

    def restore_state(self, states: list[Any]) -> None:
        (self.content,) = states


class Shelves(Sink):
    def create_writer(self, context: WriterContext) -> SinkWriter:
        return Shelf()


def operator() -> SinkOperator:
    blueprint = OperatorBlueprint(1, "u", "sink", "sink", Shelves(), {}, 1, 128, 0, Origin("job.py", 1))
    made = SinkOperator(blueprint, SubtaskContext(blueprint, JobSettings("ab" * 16, "job"), 0, lambda: 0))
    made.open()
    return made


def put(sink: SinkOperator, *content: str) -> None:
    assert isinstance(sink.writer, Shelf)
    sink.writer.content = list(content)


def content(sink: SinkOperator) -> list[str]:
    assert isinstance(sink.writer, Shelf)
    return sink.writer.content


def test_a_subtask_that_comes_back_to_a_worker_writes_what_is_as_it_was_there_before() -> None:
    here, elsewhere = operator(), operator()
    log = [here.snapshot()]
    elsewhere.load(log[0])
    put(elsewhere, "book")
    log.append(elsewhere.snapshot())
    here.load(log[1])
    assert content(here) == ["book"]
    put(here)
    log.append(here.snapshot())
    after_crash = operator()
    for snapshot in log:
        after_crash.load(snapshot)
    assert content(after_crash) == []
