"""Hosts containers inside worker processes, one epoch at a time.

Workers are reused between batches, so containers stay in a module-level cache with the token of the snapshot they
are at. While a batch runs its container is out of the cache: what a failed attempt leaves behind is never trusted.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

from penstock.common.errors import JobExecutionError
from penstock.runtime.container import Container
from penstock.runtime.exchange import ExchangeRow
from penstock.runtime.failure import failure_of
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.report import SubtaskReport, report_row
from penstock.runtime.savepoint import checkpoint_number, write_part
from penstock.runtime.sources.base import Assignment
from penstock.runtime.state_limit import StateTooLargeError
from penstock.runtime.state_log import StateLog, Token

_CACHED_CONTAINERS = 64


_cache: dict[tuple[str, int, int], tuple[Token | None, Container]] = {}


def forget_containers() -> None:
    """As if the worker had been replaced: the next epoch starts from snapshots."""
    _cache.clear()


class Lease:
    """A container at the right snapshot, taken out of the cache for one epoch."""

    def __init__(self, blob: LevelBlob, subtask: int) -> None:
        self._blob = blob
        self.level = blob.level
        self.subtask = subtask
        self._place = (blob.run_id, blob.level, subtask)
        self._cached = _cache.pop(self._place, None)

    def cached_token(self) -> Token | None:
        """The snapshot that the cached container is at, or None when there is none."""
        return None if self._cached is None else self._cached[0]

    def cached(self) -> Container:
        assert self._cached is not None
        return self._cached[1]

    def fresh(self, replay: Callable[[Container], None] | None) -> Container:
        """A new one: at the snapshot that is replayed, or in a job's first epoch at its savepoint, if it has one.

        Snapshots come first, so that user functions find the state when they are opened.
        """
        container = Container(self._blob.blueprint(), self.level, self.subtask)
        if replay is None:
            container.open(self._blob.savepoint)
        else:
            replay(container)
            container.open()
        return container

    def put_back(self, container: Container, token: Token) -> None:
        if container.report.finished:
            container.close()
            return
        _cache[self._place] = (token, container)
        while len(_cache) > _CACHED_CONTAINERS:
            del _cache[next(iter(_cache))]


def new_token(previous: Token | None) -> Token:
    return Token(1 if previous is None else previous.seq + 1, uuid.uuid4().hex)


def run_level_zero(
    blob: LevelBlob,
    subtask: int,
    assignments: dict[int, Assignment],
    snapshot: tuple[Token, bytes] | None,
    savepoint_directory: str | None = None,
) -> Iterator[ExchangeRow]:
    """Sources and what is chained to them; the snapshot travels to the driver and comes back with the next epoch."""
    lease = Lease(blob, subtask)
    token = None if snapshot is None else snapshot[0]

    def up_to_date() -> Container:
        if token is not None and lease.cached_token() == token:
            return lease.cached()
        return lease.fresh(None if snapshot is None else lambda container: container.apply_delta(snapshot[1]))

    container = _opened(lease, up_to_date)
    if isinstance(container, ExchangeRow):
        yield container
        return
    yield from container.run_epoch(assignments=assignments, saving=savepoint_directory is not None)
    delta = _delta(container, full=True)
    if delta is not None:
        _save(container, savepoint_directory)
        next_token = new_token(token)
        container.report.delta = (next_token, delta)
        lease.put_back(container, next_token)
    yield container.report_row()


def run_level(
    blob: LevelBlob,
    subtask: int,
    rows: list[ExchangeRow],
    log: StateLog,
    savepoint_directory: str | None = None,
) -> Iterator[ExchangeRow]:
    """A level behind an exchange; its snapshot is a log in the state store that commits with the epoch."""
    lease = Lease(blob, subtask)
    known = lease.cached_token()
    try:
        token = log.token()
    except JobExecutionError as damage:  # a retry would find the same
        yield report_row(SubtaskReport(blob.level, subtask, failure=damage.failure))
        return

    def up_to_date() -> Container:
        if not log.leads_on_from(known):
            return lease.fresh(None if token is None else lambda container: log.replay(container, since=None))
        container = lease.cached()
        log.replay(container, since=known)
        return container

    container = _opened(lease, up_to_date)
    if isinstance(container, ExchangeRow):
        yield container
        return
    yield from container.run_epoch(rows, saving=savepoint_directory is not None)
    full = log.wants_full() or container.wants_full_delta()
    delta = _delta(container, full and container.store is None)
    if delta is not None:
        _save(container, savepoint_directory)
        next_token = new_token(token)
        if container.store is None:
            log.append(next_token, delta, full)
        else:
            log.append_paged(next_token, delta, full, container)
        container.report.snapshots = None if token is None else token.id, next_token.id
        lease.put_back(container, next_token)
    yield container.report_row()


def _delta(container: Container, full: bool) -> bytes | None:
    """The snapshot behind a good epoch; None, with the reason in the report, when there is none."""
    if container.report.failure is not None:
        return None
    try:
        delta = container.take_delta(full)
        container.report.changed_bytes = len(delta)
        return delta
    except Exception as error:
        container.report.failure = failure_of(error)
        return None


def _save(container: Container, directory: str | None) -> None:
    if directory is None:
        return
    report = container.report
    limit = container.state_limit(of_checkpoint=checkpoint_number(directory) is not None)
    pieces = container.savepoint_pieces()
    try:
        report.savepoint_part = write_part(directory, report.level, report.subtask, pieces, limit.count)
    except StateTooLargeError as error:
        report.savepoint_failure = str(error)
    except OSError as error:  # a full disk must not harm the job: its own state is safe in Spark's store
        report.savepoint_failure = f"{type(error).__name__}: {error}"


def _opened(lease: Lease, up_to_date: Callable[[], Container]) -> Container | ExchangeRow:
    """The container, or the report that tells why user code could not be loaded or opened."""
    try:
        return up_to_date()
    except Exception as error:  # also damage of the snapshot: a retry would find the same
        return report_row(SubtaskReport(lease.level, lease.subtask, failure=failure_of(error)))
