"""What the manager decides, without processes."""

from __future__ import annotations

from penstock.common.job_status import JobStatus
from penstock.control.restart import FixedDelay
from penstock.manager.job_entry import EntryState, JobEntry, LaunchPlan
from penstock.manager.machine import (
    CancelDriver,
    DriverEnd,
    ForgetEnd,
    Instruction,
    ManagerMachine,
    RemoveFiles,
    Save,
    Start,
    StopDriver,
)

LOST = DriverEnd()


def entry(name: str, slots: int = 1, at: int = 0) -> JobEntry:
    return JobEntry(name, LaunchPlan("/job.py", "/", parallelism=slots), at)


def machine(slots: int = 2, restarts: int = 2, entries: list[JobEntry] | None = None) -> ManagerMachine:
    return ManagerMachine(slots, lambda _: FixedDelay(restarts, 100), entries or [])


def started(instructions: list[Instruction]) -> list[str]:
    return [each.entry.job_id for each in instructions if isinstance(each, Start)]


def state(of: ManagerMachine, job: str) -> tuple[EntryState, JobStatus | None]:
    return of.entries[job].state, of.entries[job].outcome


def test_an_entry_is_saved_as_running_before_its_driver_starts() -> None:
    first, second, third = machine().submit(entry("a"), now=5)
    assert isinstance(first, Save) and first.entry.state is EntryState.WAITING
    assert isinstance(second, Save) and second.entry.state is EntryState.RUNNING
    assert isinstance(third, Start) and third.entry == second.entry and third.entry.starts == 1


def test_jobs_beyond_the_slots_wait_and_nobody_overtakes_the_first() -> None:
    manager = machine(slots=3)
    assert started(manager.submit(entry("a", 2), 0)) == ["a"]
    assert started(manager.submit(entry("large", 2), 0)) == []
    assert started(manager.submit(entry("small", 1), 0)) == []
    assert manager.waits_for(manager.entries["large"], 0) == "it needs 2 slots, 1 of 3 are free"
    behind = manager.waits_for(manager.entries["small"], 0)
    assert behind == "large, which was submitted before it, needs more slots and comes first"
    assert started(manager.driver_ended("a", DriverEnd(JobStatus.FINISHED), 1)) == ["large", "small"]


def test_a_job_that_never_fits_says_so_and_blocks_nobody() -> None:
    manager = machine(slots=2)
    manager.submit(entry("huge", 5), 0)
    assert started(manager.submit(entry("a"), 0)) == ["a"]
    assert "it needs 5 slots, and the manager has 2" in (manager.waits_for(manager.entries["huge"], 0) or "")


def test_a_lost_driver_starts_again_after_the_pause_as_often_as_the_strategy_says() -> None:
    manager = machine(restarts=1)
    manager.submit(entry("a"), 0)
    assert started(manager.driver_ended("a", LOST, 10)) == []
    assert "starts again in 1 s" in (manager.waits_for(manager.entries["a"], 11) or "")
    assert started(manager.tick(109)) == []
    assert started(manager.tick(110)) == ["a"]
    manager.driver_ended("a", LOST, 200)
    assert state(manager, "a") == (EntryState.ENDED, JobStatus.FAILED)
    assert "lost for the 2. time" in (manager.entries["a"].failure or "")


def test_a_manager_that_starts_again_goes_on_from_the_saved_entries() -> None:
    before = machine()
    before.submit(entry("runs", at=1), 1)
    before.submit(entry("also", at=2), 2)
    before.submit(entry("waits", at=3), 3)
    after = machine(entries=list(before.entries.values()))
    assert started(after.tick(4)) == [], "those that run are not started a second time"
    assert started(after.driver_ended("also", DriverEnd(JobStatus.FINISHED), 5)) == ["waits"]


def test_cancel_while_it_waits_and_while_it_runs() -> None:
    manager = machine(slots=1)
    manager.submit(entry("a"), 0)
    manager.submit(entry("b"), 0)
    manager.cancel("b", 1)
    assert state(manager, "b") == (EntryState.ENDED, JobStatus.CANCELED)
    assert CancelDriver("a") in manager.cancel("a", 1)
    assert CancelDriver("a") in manager.tick(2), "the driver may not have listened yet"
    assert RemoveFiles("a") in manager.driver_ended("a", LOST, 3), "cancelled is cancelled, also when it died of it"
    assert state(manager, "a") == (EntryState.ENDED, JobStatus.CANCELED)
    assert manager.cancel("a", 4) == []


def test_rescaling_is_a_stop_and_a_start_from_the_savepoint_under_the_same_id() -> None:
    manager = machine(slots=4)
    manager.submit(entry("a"), 0)
    assert StopDriver("a") in manager.rescale("a", 3)
    instructions = manager.driver_ended("a", DriverEnd(JobStatus.FINISHED, savepoint="/s"), 5)
    assert ForgetEnd("a") in instructions and started(instructions) == ["a"]
    saves = [each for each in instructions if isinstance(each, Save)]
    assert instructions.index(saves[0]) < instructions.index(ForgetEnd("a")), "first saved, then forgotten"
    launch = manager.entries["a"].launch
    assert (launch.parallelism, launch.savepoint) == (3, "/s")


def test_a_job_that_finishes_while_it_is_to_be_rescaled_has_finished() -> None:
    manager = machine()
    manager.submit(entry("a"), 0)
    manager.rescale("a", 2)
    manager.driver_ended("a", DriverEnd(JobStatus.FINISHED), 5)
    assert state(manager, "a") == (EntryState.ENDED, JobStatus.FINISHED)


def test_a_failed_rescaling_leaves_the_job_as_it_is() -> None:
    manager = machine()
    manager.submit(entry("a"), 0)
    manager.rescale("a", 2)
    manager.rescale_failed("a")
    assert manager.entries["a"].rescale_to is None and state(manager, "a")[0] is EntryState.RUNNING


def test_a_job_takes_as_many_slots_as_its_program_has_set_once_that_is_known() -> None:
    manager = machine(slots=3)
    manager.submit(entry("a"), 0)
    [saved] = manager.learn_parallelism("a", 2)
    assert isinstance(saved, Save) and manager.free_slots == 1
    assert manager.learn_parallelism("a", 2) == []
    assert started(manager.submit(entry("b", 2), 0)) == []
    assert manager.waits_for(manager.entries["b"], 0) == "it needs 2 slots, 1 of 3 are free"

    # It is asked for another parallelism, which counts from then on.
    manager.rescale("a", 1)
    assert manager.learn_parallelism("a", 2) == []
    manager.driver_ended("a", DriverEnd(JobStatus.FINISHED, savepoint="/s"), 1)
    assert manager.entries["a"].slots == 1 and manager.free_slots == 0
