"""State of a running job: what is answered is the state after one epoch, for every operator, backend and shape."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types
from penstock.common.errors import JobExecutionError
from penstock.control.state_questions import StateAnswer, StateQuestions
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime.blueprint import DiskStateSettings
from penstock.runtime.state_questions import StateQuestion

EPOCH, NUMBERS = 7, [(number * 31) % 17 for number in range(100)]


class Asking(LocalExecutor):
    """Asks everything before every epoch."""

    def __init__(self, questions: dict[str, StateQuestion], **settings: Any) -> None:
        super().__init__(epoch_records=EPOCH, **settings)
        self._questions = questions
        self.answers: list[dict[str, Future[StateAnswer]]] = []

    def _before_epoch(self, epochs: int) -> None:
        super()._before_epoch(epochs)
        self.answers.append({name: self._job.look_at_state(each) for name, each in self._questions.items()})


class Remember(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.last = runtime_context.get_map_state(MapStateDescriptor("last", Types.STRING(), Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value)
        self.last.put("number", value)
        yield value


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("forget", [False, True])
def test_answers_are_of_one_epoch(
    on_disk: bool, forget: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = {
        "all": StateQuestion("counts", "count"),
        "one": StateQuestion("counts", "count", "3"),
        "list": StateQuestion("counts", "seen", "3"),
        "map": StateQuestion("counts", "last", "3"),
        "few": StateQuestion("counts", "count", limit=2),
        "none": StateQuestion("counts", "count", "99"),
        "unknown": StateQuestion("counts", "no such state"),
        "states": StateQuestion(),
    }
    disk = DiskStateSettings((str(tmp_path),), 8 << 20) if on_disk else None
    executor = Asking(questions, disk_state=disk, forget=forget)
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    source = env.from_collection(NUMBERS, Types.LONG())
    source.key_by(lambda number: number % 5).process(Remember(), Types.LONG()).uid("counts").print()
    env.execute("job")
    answered = [
        {name: future.result() for name, future in answers.items() if not future.exception()}
        for answers in executor.answers
    ]
    nobody = executor._job.look_at_state(StateQuestion("no such operator"))
    assert "it has" in str(nobody.exception(0))
    complete = [answers for answers in answered if len(answers) == len(questions)]
    assert len(complete) > 5
    for answers in complete:
        read = NUMBERS[: answers["all"].epoch * EPOCH]
        truth = Counter(number % 5 for number in read)
        assert {entry.key: entry.value for entry in answers["all"].entries} == truth
        assert [entry.value for entry in answers["one"].entries] == [truth[3]] * (truth[3] > 0)
        seen = [number for number in read if number % 5 == 3]
        assert [sorted(entry.value) for entry in answers["list"].entries] == [sorted(seen)] * bool(seen)
        assert all(entry.value.keys() == {"number"} for entry in answers["map"].entries)
        assert len(answers["few"].entries) == min(2, len(truth)) and answers["few"].truncated == (len(truth) > 2)
        assert not answers["none"].entries and [state.name for state in answers["none"].states] == ["count"]
        assert not answers["unknown"].states
        states = {state.name: state for state in answers["states"].states if state.uid == "counts"}
        assert states.keys() == {"count", "seen", "last"}
        assert states["count"].entries == (None if on_disk else len(truth))


def test_who_asks_too_late_hears_so() -> None:
    questions = StateQuestions()
    waiting = questions.ask(StateQuestion("a"))
    questions.begin(4)
    assert list(questions.of(4).values()) == [StateQuestion("a")] == list(questions.of(4).values())
    questions.end()
    for future in (waiting, questions.ask(StateQuestion("a"))):
        with pytest.raises(JobExecutionError, match="has ended"):
            future.result(0)


class FailsOnce(Remember):
    failures = 0

    def process_element(self, value: Any, ctx: Any) -> Any:
        if len(list(self.seen.get())) == 9 and not FailsOnce.failures:
            FailsOnce.failures += 1
            raise ValueError("once")
        yield from super().process_element(value, ctx)


@pytest.mark.in_this_process
def test_an_epoch_that_runs_again_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    executor = Asking({"all": StateQuestion("counts", "count")})
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(1)
    for key, value in (("type", "fixed-delay"), ("fixed-delay.attempts", "2"), ("fixed-delay.delay", "1 ms")):
        env._configuration.set_string(f"restart-strategy.{key}", value)
    source = env.from_collection(NUMBERS, Types.LONG())
    source.key_by(lambda number: number % 5).process(FailsOnce(), Types.LONG()).uid("counts").print()
    env.execute("job")
    assert FailsOnce.failures == 1
    futures = [answers["all"] for answers in executor.answers]
    answered = [future.result() for future in futures if not future.exception()]
    assert len(futures) - len(answered) <= 1, "only what was asked before an epoch that never came"
    for answer in answered:
        assert sum(entry.value for entry in answer.entries) == min(100, answer.epoch * EPOCH)
