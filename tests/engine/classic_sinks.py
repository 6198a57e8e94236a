"""Two sinks that can be watched: importable, so that what they write down is seen wherever they are pickled to."""

from __future__ import annotations

from typing import Any

from penstock.connectors import CheckpointCommitter, GenericWriteAheadSink, TwoPhaseCommitSinkFunction

EVENTS: list[str] = []
VISIBLE: list[Any] = []
COMMITTED: list[tuple[int, int]] = []
CONTENTS: dict[int, str] = {}
_staged: dict[int, list[Any]] = {}


def begun_and_ended() -> tuple[set[str], set[str]]:
    ended = {event.split()[1] for event in EVENTS if "commit" in event.split()[0] or "abort" in event}
    return {event.split()[1] for event in EVENTS if event.startswith("begin")}, ended


class Transactions(TwoPhaseCommitSinkFunction[int, int]):
    def __init__(self, fail_commit_of: int | None = None, fail_at: int | None = None) -> None:
        super().__init__()
        self._fail_commit_of = fail_commit_of
        self._fail_at = fail_at

    def begin_transaction(self) -> int:
        transaction = sum(event.startswith("begin") for event in EVENTS)
        EVENTS.append(f"begin {transaction}")
        _staged[transaction] = []
        return transaction

    def invoke(self, transaction: int, value: int, context: Any) -> None:  # type: ignore[override]
        if value == self._fail_at and not any("abort" in event for event in EVENTS):
            raise ValueError(f"no {value} today")
        assert context.timestamp() is None and context.current_processing_time() > 0
        _staged[transaction].append(value)

    def pre_commit(self, transaction: int) -> None:
        EVENTS.append(f"pre-commit {transaction}")

    def commit(self, transaction: int) -> None:
        EVENTS.append(f"commit {transaction}")
        VISIBLE.extend(_staged.pop(transaction, []))
        if transaction == self._fail_commit_of:
            raise ConnectionError("the answer got lost")

    def recover_and_commit(self, transaction: int) -> None:
        EVENTS.append(f"recover-and-commit {transaction}")
        VISIBLE.extend(_staged.pop(transaction, []))

    def abort(self, transaction: int) -> None:
        EVENTS.append(f"abort {transaction}")
        _staged.pop(transaction, None)

    def recover_and_abort(self, transaction: int) -> None:
        EVENTS.append(f"recover-and-abort {transaction}")
        _staged.pop(transaction, None)


class Ledger(CheckpointCommitter):
    def __init__(self, fail_after: int | None = None) -> None:
        self._fail_after = fail_after

    def open(self) -> None:
        assert self.job_id and self.operator_id == "sink"

    def close(self) -> None:
        pass

    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        COMMITTED.append((subtask_idx, checkpoint_id))
        if len(COMMITTED) == self._fail_after:
            raise ConnectionError("the answer got lost")

    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        return (subtask_idx, checkpoint_id) in COMMITTED


class LedgerOfContents(Ledger):
    """Keeps what tells runs of one id apart."""

    def commit_content(self, subtask_idx: int, checkpoint_id: int, content: str) -> None:
        CONTENTS[subtask_idx] = content
        self.commit_checkpoint(subtask_idx, checkpoint_id)

    def committed_content(self, subtask_idx: int) -> str | None:
        return CONTENTS.get(subtask_idx)


class SentOnce(GenericWriteAheadSink[int]):
    def __init__(self, committer: CheckpointCommitter, takes: bool = True) -> None:
        super().__init__(committer)
        self._takes = takes

    def send_values(self, values: list[int], checkpoint_id: int, timestamp: int) -> bool:
        VISIBLE.extend(values if self._takes else [])
        return self._takes


class LedgerOfOneConnection(Ledger):
    """What was connected to was started anew: a connection of before it is of no use."""

    def open(self) -> None:
        super().open()
        self._lost = False

    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        if len(COMMITTED) == 1 and not CONTENTS:
            CONTENTS[subtask_idx] = "lost"
            self._lost = True
        if self._lost:
            raise ConnectionError("the connection was lost")
        super().commit_checkpoint(subtask_idx, checkpoint_id)

    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        if self._lost:
            raise ConnectionError("the connection was lost")
        return super().is_checkpoint_committed(subtask_idx, checkpoint_id)
