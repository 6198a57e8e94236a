"""Hosts containers inside worker processes, one epoch at a time.

Workers are reused between batches, so containers stay in a module-level cache with the token of the snapshot they
are at. While a batch runs its container is out of the cache: what a failed attempt leaves there is never trusted.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator

from penstock.common.errors import JobExecutionError, SetupError
from penstock.runtime.blueprint import JobSettings
from penstock.runtime.claims import claim_epoch
from penstock.runtime.container import Container
from penstock.runtime.epoch_note import NOTHING_WANTED, EpochNote
from penstock.runtime.exchange import ExchangeRow
from penstock.runtime.failure import failure_of
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.report import SubtaskReport, UnionLists, report_row
from penstock.runtime.saved_parts import write_part
from penstock.runtime.snapshot_target import SnapshotKind, SnapshotTarget
from penstock.runtime.sources.base import Assignment
from penstock.runtime.state_limit import StateLimit, StateTooLargeError
from penstock.runtime.state_log import StateLog, Token
from penstock.runtime.summons import NOTHING, Summons

_CACHED_CONTAINERS = 64


_cache: dict[tuple[str, int, int], tuple[Token | None, Container]] = {}


def forget_containers() -> None:
    """As if the worker had been replaced: the next epoch starts from snapshots."""
    while _cache:
        _cache.popitem()[1][1].close()


class Lease:
    """A container at the right snapshot, out of the cache for one epoch; closed unless it is put back."""

    def __init__(self, blob: LevelBlob, subtask: int) -> None:
        self._blob = blob
        self._subtask = subtask
        self.place = (blob.run_id, blob.level, subtask)
        self.token: Token | None = None  # the snapshot that the cached container is at
        self._container: Container | None = None
        if self.place in _cache:
            self.token, self._container = _cache.pop(self.place)

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def cached(self) -> Container:
        assert self._container is not None
        return self._container

    def fresh(self, replay: Callable[[Container], None] | None, union_lists: dict[int, UnionLists]) -> Container:
        """A new one: at the snapshot that is replayed, or in a job's first epoch at its savepoint, if it has one.

        Snapshots come first, so that user functions find the state when they are opened.
        """
        self.close()
        container = self._container = Container(self._blob.blueprint(), self._blob.level, self._subtask)
        check_home(container.job.settings.home)
        if replay is None:
            container.open(self._blob.savepoint)
        else:
            replay(container)
            container.see_union_lists(union_lists)
            container.open()
        return container

    def put_back(self, token: Token) -> None:
        assert self._container is not None
        _cache[self.place] = (token, self._container)
        self._container = None
        while len(_cache) > _CACHED_CONTAINERS:
            _cache.pop(next(iter(_cache)))[1].close()

    def close(self, report: SubtaskReport | None = None) -> None:
        if self._container is not None:
            self._container.close(report)
            self._container = None


def check_home(home: str | None) -> None:
    """Before anything is committed: on a machine that does not see the home, state would be lost with the worker.

    Not the directory itself is looked for: Spark makes that where it is missing, for the state that it keeps there.
    """
    if home is not None and not os.path.exists(os.path.join(home, "job.json")):
        raise SetupError(
            f"{socket.gethostname()} does not see the job's directory {home}: set PENSTOCK_HOME, or the option"
            " penstock.home, to a directory that the driver and all executors share."
        )


def new_token(previous: Token | None) -> Token:
    return Token(1 if previous is None else previous.seq + 1, uuid.uuid4().hex)


def run_level_zero(
    blob: LevelBlob,
    subtask: int,
    assignments: dict[int, Assignment],
    snapshot: tuple[Token, bytes] | None,
    note: EpochNote = NOTHING_WANTED,
    union_lists: dict[int, UnionLists] | None = None,
    committed: int = 0,
) -> Iterator[ExchangeRow]:
    """Sources and what is chained to them; the snapshot travels to the driver and comes back with the next epoch."""
    token = None if snapshot is None else snapshot[0]

    def up_to_date(lease: Lease) -> Container:
        if token is not None and lease.token == token:
            return lease.cached()
        replay = None if snapshot is None else lambda container: container.load([snapshot[1]])
        return lease.fresh(replay, union_lists or {})

    def save(container: Container, report: SubtaskReport) -> Token:
        new, content = new_token(token), container.snapshot(full=True)
        report.changed_bytes, report.delta = len(content), (new, content)
        return new

    return _hosted(Lease(blob, subtask), token, up_to_date, save, (), assignments, note, committed)


def run_level(
    blob: LevelBlob,
    subtask: int,
    rows: list[ExchangeRow],
    log: StateLog,
    summons: Summons = NOTHING,
) -> Iterator[ExchangeRow]:
    """A level after an exchange; its snapshot is a log in the state store that commits with the epoch."""
    try:
        token = log.token()
    except JobExecutionError as damage:  # a retry would find the same
        return iter((report_row(SubtaskReport(blob.level, subtask, failure=damage.failure)),))

    def up_to_date(lease: Lease) -> Container:
        known = lease.token
        if not log.leads_on_from(known):
            replay = None if token is None else lambda container: log.replay(container, since=None)
            return lease.fresh(replay, summons.union_lists)
        container = lease.cached()
        log.replay(container, since=known)
        return container

    def save(container: Container, report: SubtaskReport) -> Token:
        new = save_in_log(container, log, token, report)
        report.snapshots = None if token is None else token.id, new.id
        return new

    return _hosted(Lease(blob, subtask), token, up_to_date, save, rows, {}, summons.note, summons.committed)


def save_in_log(container: Container, log: StateLog, previous: Token | None, report: SubtaskReport) -> Token:
    """What has changed since the previous snapshot, or everything when the log has grown too long."""
    began = time.monotonic()
    new, full = new_token(previous), log.wants_full() or container.wants_full_snapshot()
    content = container.snapshot(full and container.store is None)
    report.changed_bytes = len(content)
    if container.store is None:
        log.append(new, content, full)
    else:
        log.append_paged(new, content, full, container)
    report.snapshot_ms = (time.monotonic() - began) * 1000
    return new


def _hosted(
    lease: Lease,
    began_with: Token | None,
    up_to_date: Callable[[Lease], Container],
    save: Callable[[Container, SubtaskReport], Token],
    rows: Iterable[ExchangeRow],
    assignments: dict[int, Assignment],
    note: EpochNote,
    committed: int,
) -> Iterator[ExchangeRow]:
    """The rows that an epoch sends, and last its report."""
    with lease:
        try:
            container = up_to_date(lease)
        except Exception as error:  # also damage of the snapshot: a retry would find the same
            failed = SubtaskReport(*lease.place[1:], failure=failure_of(error))
            lease.close(failed)
            yield report_row(failed)
            return
        if committed:
            container.hear_commit(committed)
        report = yield from run_epoch(container, rows, assignments, note.saving is not None)
        token = None
        if report.failure is None:
            try:
                token = save(container, report)
                follow(note, container, report)
                if not container.repeatable:
                    _claim(container.job.settings, report, began_with)
            except Exception as error:
                report.failure = failure_of(error)
        if token is None or report.failure is not None or report.finished:
            lease.close(report)
        last = sendable(report, container)
        if token is not None and report.failure is None and not report.finished:
            lease.put_back(token)
        yield last


def _claim(settings: JobSettings, report: SubtaskReport, began_with: Token | None) -> None:
    """Spark may lose what this task has sent and run it again after others have used it (ADR 16, case 3)."""
    if settings.home is not None:
        place = f"{settings.attempt}-{report.level}-{report.subtask}"
        claim_epoch(settings.home, place, "nothing" if began_with is None else began_with.id)


def run_epoch(
    container: Container,
    rows: Iterable[ExchangeRow] = (),
    assignments: dict[int, Assignment] | None = None,
    saving: bool = False,
) -> Generator[ExchangeRow, None, SubtaskReport]:
    """Everything that a container is given in an epoch, in the order of its channels; yields what it sends."""
    container.advance()
    for row in sorted(rows, key=lambda row: (row.seq, row.channel)):
        container.receive(row)
        yield from container.take_rows()
    for _ in container.read(assignments or {}):
        yield from container.take_rows()
    report = container.barrier(saving)
    yield from container.take_rows()
    return report


def follow(note: EpochNote, container: Container, report: SubtaskReport) -> None:
    """What is to be told and done besides, right after the epoch's snapshot."""
    container.measure_state(report)
    if note.saving is not None:
        save_part(container, report, note.saving)
    container.answer(note.questions, report)


def save_part(container: Container, report: SubtaskReport, target: SnapshotTarget) -> None:
    """The subtask's share of a savepoint or checkpoint."""
    limit = StateLimit(container.job, report.subtask, of_checkpoint=target.kind is SnapshotKind.CHECKPOINT)
    try:
        pieces = container.saved_pieces(report)
        report.savepoint_part = write_part(target.directory, report.level, report.subtask, pieces, limit.count)
    except StateTooLargeError as error:
        report.savepoint_failure = str(error)
    except OSError as error:  # a full disk must not harm the job: its own state is safe in its log
        report.savepoint_failure = f"{type(error).__name__}: {error}"


def sendable(report: SubtaskReport, container: Container) -> ExchangeRow:
    """The report, or that of the failure that the epoch's results cannot be pickled."""
    try:
        return report_row(report)
    except Exception as error:
        report.failure = failure_of(container.unpicklable(report.committables) or error)
        report.committables = {}
        return report_row(report)
