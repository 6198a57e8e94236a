"""Questions about the state of a running job, between whoever asks and the epoch that answers."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from penstock.common.errors import JobExecutionError
from penstock.runtime.report import SubtaskReport
from penstock.runtime.state_questions import PartialAnswer, StateEntry, StateFacts, StateQuestion


@dataclass(frozen=True)
class StateAnswer:
    """Of all subtasks, as it was after one epoch."""

    epoch: int
    states: tuple[StateFacts, ...]
    entries: tuple[StateEntry, ...] = ()
    truncated: bool = False


class StateQuestions:
    """Asked from other threads; an epoch takes all that wait, and one that has to run again is asked again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tickets = itertools.count()
        self._asked: dict[int, tuple[StateQuestion, Future[StateAnswer]]] = {}  # by ticket
        self._waiting: tuple[int, ...] = ()
        self._of_epoch: dict[int, tuple[int, ...]] = {}
        self._ended = False

    def ask(self, question: StateQuestion) -> Future[StateAnswer]:
        future: Future[StateAnswer] = Future()
        with self._lock:
            if self._ended:
                future.set_exception(JobExecutionError("the job has ended: there is nobody to ask"))
                return future
            ticket = next(self._tickets)
            self._asked[ticket] = question, future
            self._waiting = (*self._waiting, ticket)
        return future

    @property
    def wait(self) -> bool:
        """Whether there is a reason for an epoch."""
        return bool(self._waiting)

    def begin(self, epoch: int) -> None:
        with self._lock:
            if self._waiting:
                self._of_epoch[epoch] = (*self._of_epoch.get(epoch, ()), *self._waiting)
                self._waiting = ()

    def of(self, epoch: int) -> dict[int, StateQuestion]:
        """By ticket."""
        with self._lock:
            return {ticket: self._asked[ticket][0] for ticket in self._of_epoch.get(epoch, ())}

    def answered(self, epoch: int, reports: Sequence[SubtaskReport]) -> None:
        """The epoch is committed."""
        with self._lock:
            done = [(ticket, *self._asked.pop(ticket)) for ticket in self._of_epoch.pop(epoch, ())]
        for ticket, question, future in done:
            parts = [part for report in reports for part in report.answers.get(ticket, ())]
            refusal = next((part.refusal for part in parts if part.refusal is not None), None)
            if refusal is not None:
                future.set_exception(JobExecutionError(refusal))
            else:
                future.set_result(_together(epoch, question, parts))

    def end(self) -> None:
        """The job is over: whoever waits hears of it."""
        with self._lock:
            self._ended = True
            asked, self._asked = self._asked, {}
            self._waiting, self._of_epoch = (), {}
        for _, future in asked.values():
            future.set_exception(JobExecutionError("the job has ended before it could answer"))


def _together(epoch: int, question: StateQuestion, parts: Sequence[PartialAnswer]) -> StateAnswer:
    entries = tuple(entry for part in parts for entry in part.entries)
    states = tuple(_added(state for part in parts for state in part.states))
    return StateAnswer(epoch, states, entries[: question.limit], len(entries) > question.limit)


def _added(states: Iterable[StateFacts]) -> Iterable[StateFacts]:
    """Over the subtasks of each operator."""
    found: dict[tuple[str, str], StateFacts] = {}
    for state in states:
        known = found.get((state.uid, state.name))
        if known is not None and known.entries is not None and state.entries is not None:
            bytes_ = (known.bytes or 0) + (state.bytes or 0)
            state = replace(state, entries=known.entries + state.entries, bytes=bytes_)
        found[state.uid, state.name] = state
    return found.values()
