"""The life of a job, decided without clock, threads and files."""

from __future__ import annotations

import random

import pytest

from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.control import job_machine as says
from penstock.control.attempts import AttemptState
from penstock.control.job_machine import Instruction, JobEvent, JobMachine
from penstock.control.restart import FixedDelay, NoRestart

WHY = Failure("ValueError", "no")


def running(attempts: int = 0, keep_files: bool = False) -> JobMachine:
    machine = JobMachine(FixedDelay(attempts, 100) if attempts else NoRestart(), keep_files)
    machine.handle(says.Begun())
    return machine


def names(instructions: list[Instruction]) -> list[str]:
    return [type(instruction).__name__ for instruction in instructions]


def test_services_are_offered_when_the_first_attempt_runs() -> None:
    begun = JobMachine(NoRestart(), False).handle(says.Begun())
    assert begun == [says.StartAttempt(), says.OpenServices(), says.Tell(JobStatus.RUNNING)]


def test_a_finished_job_is_recorded_before_its_files_go() -> None:
    assert running().handle(says.AllFinished()) == [
        says.EndSnapshots(JobStatus.FINISHED),
        says.CloseServices(),
        says.CloseEngine(),
        says.EndAttempt(AttemptState.FINISHED),
        says.SweepSinks(),
        says.WriteFinalRecord(JobStatus.FINISHED, None, stopped=False),
        says.RemoveFiles(),
        says.Settle(JobStatus.FINISHED),
    ]


def test_what_sinks_have_staged_stays_when_a_job_is_cancelled() -> None:
    end = running().handle(says.CancelRequested())
    assert says.SweepSinks() not in end
    assert says.WriteFinalRecord(JobStatus.CANCELED, None, stopped=False) in end
    assert end[-1] == says.Settle(JobStatus.CANCELED)


def test_a_job_that_was_stopped_is_remembered_as_such() -> None:
    assert says.WriteFinalRecord(JobStatus.FINISHED, None, stopped=True) in running().handle(
        says.StoppedWithSavepoint()
    )


def test_a_failure_pauses_and_starts_again_until_the_strategy_has_enough() -> None:
    machine = running(attempts=1)
    assert machine.handle(says.EngineEnded(5, WHY)) == [
        says.StopEngine(),
        says.EndAttempt(AttemptState.FAILED, WHY),
        says.AbandonSnapshots("the job failed and was started again"),
        says.Tell(JobStatus.RESTARTING),
        says.AnnounceRestart(WHY, 100),
        says.Pause(100),
    ]
    assert machine.handle(says.PauseOver()) == [says.StartAttempt(), says.Tell(JobStatus.RUNNING)]
    assert machine.handle(says.SnapshotsFailed(9, WHY))[-1] == says.Settle(JobStatus.FAILED, WHY)


def test_a_pause_can_be_cut_short_by_a_cancel() -> None:
    machine = running(attempts=1)
    machine.handle(says.EngineEnded(5, WHY))
    assert machine.handle(says.CancelRequested())[-1] == says.Settle(JobStatus.CANCELED)
    assert machine.handle(says.PauseOver()) == []


@pytest.mark.parametrize("keep_files", [False, True])
@pytest.mark.parametrize("can_restart", [False, True])
def test_files_of_a_failed_job_stay_if_somebody_can_go_on_with_them(keep_files: bool, can_restart: bool) -> None:
    machine = running(attempts=0 if can_restart else 9, keep_files=keep_files)
    end = machine.handle(says.EngineEnded(0, WHY, can_restart))
    kept = keep_files or not can_restart
    assert (says.KeepFiles() in end, says.RemoveFiles() in end) == (kept, not kept)
    assert (says.Release() in end) == kept


def test_a_driver_that_was_fenced_out_touches_nothing() -> None:
    end = running(attempts=9, keep_files=True).handle(says.TakenOver(WHY))
    assert names(end) == ["AbandonSnapshots", "CloseServices", "CloseEngine", "Release", "Settle"]
    assert end[-1] == says.Settle(JobStatus.FAILED, WHY, taken_over=True)


def test_what_breaks_at_the_end_leaves_the_files_and_is_told() -> None:
    machine = running()
    machine.handle(says.AllFinished())
    assert machine.handle(says.Broken(WHY)) == [says.Release(), says.Settle(JobStatus.FAILED, WHY)]


def test_what_breaks_while_the_job_runs_is_its_failure() -> None:
    assert running(attempts=9).handle(says.Broken(WHY))[-1] == says.Settle(JobStatus.FAILED, WHY)


@pytest.mark.parametrize("seed", range(40))
def test_random_lives(seed: int) -> None:
    """Attempts begin and end in turn, a job is settled once, and files go only after the final record."""
    chance = random.Random(seed)
    machine = JobMachine(FixedDelay(chance.randrange(4), 10), chance.random() < 0.5)
    done: list[Instruction] = machine.handle(says.Begun())
    for now in range(30):
        event: JobEvent = chance.choice(
            [
                says.EngineEnded(now, WHY, chance.random() < 0.9),
                says.SnapshotsFailed(now, WHY),
                says.PauseOver(),
                says.PauseOver(),
                says.AllFinished() if chance.random() < 0.3 else says.PauseOver(),
                says.CancelRequested() if chance.random() < 0.1 else says.PauseOver(),
                says.TakenOver(WHY) if chance.random() < 0.1 else says.PauseOver(),
            ]
        )
        done += machine.handle(event)
    order = names(done)
    lives = [name for name in order if name in ("StartAttempt", "EndAttempt", "Release")]
    assert all(one != other for one, other in zip(lives, lives[1:], strict=False) if one == "StartAttempt")
    assert order.count("Settle") <= 1 and order.count("CloseEngine") == order.count("Settle")
    if "Settle" in order:
        assert order[-1] == "Settle"
        assert ("RemoveFiles" in order) != ("Release" in order)
        assert ("RemoveFiles" in order) == ("WriteFinalRecord" in order)
        if "RemoveFiles" in order:
            assert order.index("WriteFinalRecord") < order.index("RemoveFiles")
