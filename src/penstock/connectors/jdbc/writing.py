"""Writers of databases: at least once in batches, or staged for the commit of an epoch."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field
from typing import Any

from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.dialect import Rows
from penstock.connectors.jdbc.options import JdbcExecutionOptions
from penstock.connectors.jdbc.postgresql_stage import StagePlan, plan_for
from penstock.connectors.jdbc.session import Session
from penstock.connectors.jdbc.targets import StatementTarget, TableTarget
from penstock.functions.sink import Records, SinkWriter, WriterContext

FEW_ROWS = 500  # so many travel with the epoch: a table would cost more
_COPIED_AT_ONCE = 20_000


@dataclass(frozen=True)
class RowsOfEpoch:
    """A committable: the rows themselves."""

    rows: Rows
    id: str = ""  # no other committable has it

    @property
    def count(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class StagedRows:
    """A committable: the table that has the rows."""

    table: str
    count: int

    @property
    def id(self) -> str:
        return self.table


def stage_prefix(job_id: str, operator_uid: str) -> str:
    """How the staging tables of a sink begin: no other job has it."""
    return f"penstock_stage_{hashlib.sha256(f'{job_id}/{operator_uid}'.encode()).hexdigest()[:12]}_"


def writing(count: int, target: StatementTarget | TableTarget) -> str:
    """What goes on, for the message of an error."""
    return f"writing {count} row{'s' * (count != 1)} {target.name}"


class BatchWriter(SinkWriter):
    """At least once: rows are in the database when their epoch ends, and may be written again after a failure."""

    def __init__(
        self,
        address: DatabaseAddress,
        target: StatementTarget | TableTarget,
        options: JdbcExecutionOptions,
        context: WriterContext,
    ) -> None:
        self._session = Session(address)
        self._target = target
        self._options = options
        self._clock = context.current_processing_time
        self._rows: Rows = []
        self._due: int | None = None

    def write(self, records: Records) -> None:
        self._rows += self._target.rows_of(records.values, self._session.dialect)
        size, interval = self._options.get_batch_size(), self._options.get_batch_interval_ms()
        if size and len(self._rows) >= size:
            whole = len(self._rows) // size * size
            for start in range(0, whole, size):
                self._send(self._rows[start : start + size])
            del self._rows[:whole]
        if interval and self._due is None and self._rows:
            self._due = self._clock() + interval

    def flush(self, end_of_input: bool) -> None:
        if self._rows:
            self._send(self._rows)
        self._rows = []
        self._due = None

    def _send(self, rows: Rows) -> None:
        session, target = self._session, self._target
        retries, doing = self._options.get_max_retries(), writing(len(rows), target)
        session.run(lambda cursor: session.dialect.write(cursor, target, rows), retries, doing)

    def next_wake_up(self) -> int | None:
        return self._due

    def wake_up(self, now: int) -> None:
        self.flush(end_of_input=False)

    def close(self) -> None:
        self._session.close()


@dataclass
class _Staging:
    """The table of the running epoch."""

    table: str
    plan: StagePlan
    count: int = field(default=0)


class EpochWriter(SinkWriter):
    """Exactly once: rows wait in a table of their own, or with the epoch itself if they are few."""

    def __init__(self, address: DatabaseAddress, target: StatementTarget | TableTarget, context: WriterContext) -> None:
        self._session = Session(address)
        self._target = target
        self._prefix = stage_prefix(context.job_id, context.operator_uid)
        dialect = self._session.dialect
        self._plan = plan_for(target, dialect) if dialect.stages else None
        self._rows: Rows = []
        self._staging: _Staging | None = None

    def write(self, records: Records) -> None:
        self._rows += self._target.rows_of(records.values, self._session.dialect)
        if self._plan is not None and len(self._rows) >= _COPIED_AT_ONCE:
            self._stage(self._plan)

    def flush(self, end_of_input: bool) -> None:
        if self._plan is not None and (self._staging is not None or len(self._rows) > FEW_ROWS) and self._rows:
            self._stage(self._plan)

    def _stage(self, plan: StagePlan) -> None:
        # Never repeated in the same table: whether the first attempt has arrived would be a guess.
        rows, staging = self._rows, self._staging
        name = f"{self._prefix}{uuid.uuid4().hex[:12]}" if staging is None else staging.table

        def copy(cursor: Any) -> None:
            if staging is None:
                plan.create(cursor, name)
            plan.copy(cursor, name, rows)

        self._session.run(copy, doing=writing(len(rows), self._target))
        self._staging = staging or _Staging(name, plan)
        self._staging.count += len(rows)
        self._rows = []

    def prepare_commit(self) -> list[Any]:
        staging, rows = self._staging, self._rows
        self._staging, self._rows = None, []
        if staging is not None:
            return [StagedRows(staging.table, staging.count)]
        return [RowsOfEpoch(rows, uuid.uuid4().hex)] if rows else []

    def close(self) -> None:
        self._session.close()
