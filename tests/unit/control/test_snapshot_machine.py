"""Which snapshot is taken when, and what becomes of it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from penstock.control.snapshot_machine import (
    Action,
    Begin,
    Complete,
    EpochCommitted,
    EpochPlanned,
    Event,
    Fail,
    FailJob,
    JobFailed,
    MetadataFailed,
    MetadataWritten,
    Pacing,
    Refuse,
    RemoveFiles,
    Requested,
    Snapshot,
    SnapshotMachine,
    TimePassed,
    WriteMetadata,
)
from penstock.runtime.snapshot_target import SnapshotKind


class Driven:
    """A machine, and the names of the actions that its events lead to."""

    def __init__(self, interval: int | None = 1000, pause: int = 0, timeout: int = 600, tolerable: int = 0) -> None:
        self.machine = SnapshotMachine(Pacing(interval, pause, timeout, tolerable), now=0)
        self.actions: list[Action] = []

    def __call__(self, event: Event) -> list[str]:
        self.actions = self.machine.handle(event)
        return [type(action).__name__ for action in self.actions]

    def complete_one(self, begin: int, end: int) -> None:
        assert self(EpochPlanned(begin)) == ["Begin"]
        assert self(EpochCommitted(end)) == ["WriteMetadata"]
        assert self(MetadataWritten(end)) == ["Complete"]


def test_checkpoints_come_at_their_interval_and_one_at_a_time() -> None:
    drive = Driven(timeout=10_000)
    assert drive(EpochPlanned(999)) == []
    assert drive(EpochPlanned(1000)) == ["Begin"]
    assert drive.actions == [Begin(Snapshot(1, SnapshotKind.CHECKPOINT, 1000))]
    assert drive(EpochPlanned(5000)) == [], "planned again before it was computed"
    assert drive(EpochCommitted(5500)) == ["WriteMetadata"]
    assert drive(MetadataWritten(5600)) == ["Complete"]
    assert drive(EpochPlanned(5600)) == ["Begin"], "the interval counts from beginning to beginning"
    assert drive.actions == [Begin(Snapshot(2, SnapshotKind.CHECKPOINT, 5600))]


def test_without_an_interval_only_what_is_asked_for_is_taken() -> None:
    drive = Driven(interval=None)
    assert drive.machine.next_due is None
    assert drive(EpochPlanned(10**9)) == []
    assert drive(Requested(7, SnapshotKind.SAVEPOINT)) == []
    assert drive(EpochPlanned(10**9)) == ["Begin"]
    assert drive.actions == [Begin(Snapshot(1, SnapshotKind.SAVEPOINT, 10**9, 7))]


@pytest.mark.parametrize("outcome", ["completed", "failed"])
def test_the_pause_behind_a_checkpoint_is_kept(outcome: str) -> None:
    drive = Driven(pause=700, timeout=10_000, tolerable=5)
    drive(EpochPlanned(1000))
    drive(EpochCommitted(1900, None if outcome == "completed" else "disk full"))
    if outcome == "completed":
        drive(MetadataWritten(1900))
    assert drive.machine.next_due == 2600
    assert drive(EpochPlanned(2599)) == []
    assert drive(EpochPlanned(2600)) == ["Begin"]


def test_savepoints_do_not_move_the_schedule() -> None:
    drive = Driven(pause=5000)
    drive(Requested(1, SnapshotKind.SAVEPOINT))
    drive.complete_one(100, 200)
    assert drive.machine.next_due == 1000


def test_requests_are_served_in_order_and_before_what_is_due() -> None:
    drive = Driven()
    drive(Requested(1, SnapshotKind.SAVEPOINT))
    drive(Requested(2, SnapshotKind.CHECKPOINT))
    begun = []
    for now in (2000, 2100, 3100):
        assert drive(EpochPlanned(now)) == ["Begin"]
        begun.append(drive.machine.running)
        drive(EpochCommitted(now))
        drive(MetadataWritten(now))
    assert begun == [
        Snapshot(1, SnapshotKind.SAVEPOINT, 2000, 1),
        Snapshot(2, SnapshotKind.CHECKPOINT, 2100, 2),
        Snapshot(3, SnapshotKind.CHECKPOINT, 3100),
    ]


def test_failures_in_a_row_are_tolerated_up_to_the_limit() -> None:
    drive = Driven(tolerable=2)

    def fail(now: int) -> list[str]:
        assert "Begin" in drive(EpochPlanned(now))
        return drive(EpochCommitted(now, "disk full"))

    assert fail(1000) == fail(2000) == ["Fail", "RemoveFiles"]
    drive.complete_one(3000, 3000)
    assert fail(4000) == fail(5000) == ["Fail", "RemoveFiles"]
    assert fail(6000) == ["Fail", "RemoveFiles", "FailJob"]
    assert drive.actions[-1] == FailJob("checkpoint 6 failed, and no more failures are tolerated: disk full")
    assert fail(7000) == ["Fail", "RemoveFiles"], "the job was started again, and the count as well"


def test_metadata_that_cannot_be_written_is_a_failure() -> None:
    drive = Driven()
    drive(EpochPlanned(1000))
    drive(EpochCommitted(1100))
    assert drive(MetadataFailed(1200, "no space")) == ["Fail", "RemoveFiles", "FailJob"]
    assert drive.machine.running is None


def test_a_failed_savepoint_is_no_failure_of_the_job() -> None:
    drive = Driven()
    drive(Requested(1, SnapshotKind.SAVEPOINT))
    drive(EpochPlanned(10))
    assert drive(EpochCommitted(20, "no space")) == ["Fail", "RemoveFiles"]


def test_one_that_takes_too_long_is_given_up_and_its_late_parts_are_ignored() -> None:
    drive = Driven(timeout=600, tolerable=1)
    drive(EpochPlanned(1000))
    assert drive(TimePassed(1599)) == []
    assert drive(TimePassed(1600)) == ["Fail"], "its files are still being written"
    assert drive(TimePassed(9999)) == [], "told once"
    assert drive(EpochCommitted(9999)) == ["RemoveFiles"], "all parts came, but too late"
    drive.complete_one(10_000, 10_100)


def test_time_is_also_seen_when_the_epoch_ends() -> None:
    drive = Driven(timeout=600)
    drive(EpochPlanned(1000))
    assert drive(EpochCommitted(1600)) == ["Fail", "FailJob", "RemoveFiles"]


def test_savepoints_are_given_up_too() -> None:
    drive = Driven(interval=None, timeout=600)
    drive(Requested(1, SnapshotKind.SAVEPOINT))
    drive(EpochPlanned(0))
    assert drive(TimePassed(600)) == ["Fail"]
    assert drive(JobFailed(700, "worker lost")) == ["RemoveFiles"]


def test_when_the_job_fails_everybody_hears_it_and_no_failure_is_counted() -> None:
    drive = Driven()
    drive(EpochPlanned(1000))
    drive(Requested(1, SnapshotKind.SAVEPOINT))
    drive(Requested(2, SnapshotKind.CHECKPOINT))
    drive(JobFailed(1100, "worker lost"))
    assert drive.actions == [
        Fail(Snapshot(1, SnapshotKind.CHECKPOINT, 1000), 1100, "worker lost"),
        RemoveFiles(Snapshot(1, SnapshotKind.CHECKPOINT, 1000)),
        Refuse(1, "worker lost"),
        Refuse(2, "worker lost"),
    ]
    assert drive(EpochPlanned(1200)) == []
    drive.complete_one(2000, 2100)


def test_an_epoch_that_was_not_saved_means_nothing() -> None:
    drive = Driven()
    assert drive(EpochCommitted(500)) == [] == drive(TimePassed(500)) == drive(JobFailed(600, "x"))


def test_numbers_go_on_where_an_earlier_process_stopped() -> None:
    machine = SnapshotMachine(Pacing(10), now=0, next_number=42)
    assert machine.handle(EpochPlanned(10)) == [Begin(Snapshot(42, SnapshotKind.CHECKPOINT, 10))]


# -- random histories against a naive model ------------------------------------------------------------------------


class Model:
    """Says the same in the most simple way: it remembers everything, and derives all answers from that."""

    def __init__(self, pacing: Pacing) -> None:
        self.pacing = pacing
        self.story: list[tuple[str, Any]] = []
        self.waiting: list[Requested] = []
        self.running: Snapshot | None = None
        self.told = False
        self.due = None if pacing.interval_ms is None else pacing.interval_ms
        self.number = 0

    def failures_in_a_row(self) -> int:
        outcomes = [what for what, _ in self.story]
        last = max((i for i, what in enumerate(outcomes) if what in ("completed", "verdict")), default=-1)
        return outcomes[last + 1 :].count("failed")

    def end(self, now: int, why: str) -> list[Action]:
        assert self.running is not None
        actions: list[Action] = [Fail(self.running, now, why)]
        if self.running.kind is SnapshotKind.CHECKPOINT:
            self.story.append(("failed", now))
            self.pause(now)
            if self.failures_in_a_row() > self.pacing.tolerable_failures:
                self.story.append(("verdict", now))
                number = self.running.number
                actions.append(FailJob(f"checkpoint {number} failed, and no more failures are tolerated: {why}"))
        return actions

    def pause(self, now: int) -> None:
        if self.due is not None and self.due < now + self.pacing.min_pause_ms:
            self.due = now + self.pacing.min_pause_ms

    def late(self, now: int) -> list[Action]:
        if self.running is None or self.told or now < self.running.begun_at + self.pacing.timeout_ms:
            return []
        self.told = True
        return self.end(now, f"it took longer than {self.pacing.timeout_ms} ms")

    def expect(self, event: Event) -> list[Action]:
        match event:
            case Requested():
                self.waiting.append(event)
                return []
            case TimePassed(now):
                return self.late(now)
            case EpochPlanned(now):
                actions = self.late(now)
                is_due = self.due is not None and self.due <= now
                if self.running is None and (self.waiting or is_due):
                    asked = self.waiting.pop(0) if self.waiting else None
                    self.number += 1
                    kind = SnapshotKind.CHECKPOINT if asked is None else asked.kind
                    self.running = Snapshot(self.number, kind, now, None if asked is None else asked.ticket)
                    self.told = False
                    if kind is SnapshotKind.CHECKPOINT and self.pacing.interval_ms is not None:
                        self.due = now + self.pacing.interval_ms
                    actions.append(Begin(self.running))
                return actions
            case EpochCommitted(now, failure):
                if self.running is None:
                    return []
                actions, running = self.late(now), self.running
                if self.told:
                    self.running = None
                    return [*actions, RemoveFiles(running)]
                if failure is None:
                    return [WriteMetadata(running)]
                return self.lose(now, failure)
            case MetadataFailed(now, why):
                return self.lose(now, why)
            case MetadataWritten(now):
                assert self.running is not None
                running, self.running = self.running, None
                if running.kind is SnapshotKind.CHECKPOINT:
                    self.story.append(("completed", now))
                    self.pause(now)
                return [Complete(running, now)]
            case JobFailed(now, why):
                actions = []
                if self.running is not None:
                    actions = [] if self.told else [Fail(self.running, now, why)]
                    actions.append(RemoveFiles(self.running))
                self.running = None
                actions += [Refuse(request.ticket, why) for request in self.waiting]
                self.waiting = []
                return actions

    def lose(self, now: int, why: str) -> list[Action]:
        assert self.running is not None
        running = self.running
        first, *rest = self.end(now, why)
        self.running = None
        return [first, RemoveFiles(running), *rest]


@pytest.mark.parametrize("seed", range(60))
def test_random_histories(seed: int) -> None:
    chance = random.Random(seed)
    pacing = Pacing(
        interval_ms=chance.choice([None, 10, 100]),
        min_pause_ms=chance.choice([0, 30, 200]),
        timeout_ms=chance.choice([20, 50, 1000]),
        tolerable_failures=chance.choice([0, 1, 3]),
    )
    machine, model, now = SnapshotMachine(pacing, now=0), Model(pacing), 0
    begun: set[int] = set()
    ended: set[int] = set()
    removed: set[int] = set()
    for ticket in range(400):
        now += chance.choice([0, 1, 7, 40])
        event: Event = chance.choice(
            [
                Requested(ticket, chance.choice(list(SnapshotKind))),
                EpochPlanned(now),
                EpochPlanned(now),
                TimePassed(now),
                EpochCommitted(now, chance.choice([None, None, "disk full"])),
                EpochCommitted(now),
                JobFailed(now, "lost") if chance.random() < 0.2 else TimePassed(now),
            ]
        )
        events = [event]
        while events:
            event = events.pop()
            actions = machine.handle(event)
            assert actions == model.expect(event), event
            for action in actions:
                match action:
                    case Begin(snapshot):
                        assert begun <= ended | {snapshot.number}, "one at a time"
                        begun.add(snapshot.number)
                    case Complete(snapshot) | Fail(snapshot):
                        assert snapshot.number not in ended, "an end is told once"
                        ended.add(snapshot.number)
                        assert not isinstance(action, Complete) or snapshot.number not in removed
                    case RemoveFiles(snapshot):
                        removed.add(snapshot.number)
                    case WriteMetadata():
                        written = chance.random() < 0.5
                        events.append(MetadataWritten(now) if written else MetadataFailed(now, "no space"))
                    case Refuse() | FailJob():
                        pass
    assert begun == set(range(1, len(begun) + 1))
