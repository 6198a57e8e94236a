"""Makes the rows of an epoch visible: all of them and the epoch's number in one transaction."""

from __future__ import annotations

import hashlib
import logging
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.dialect import Rows
from penstock.connectors.jdbc.postgresql_stage import plan_for
from penstock.connectors.jdbc.session import Session
from penstock.connectors.jdbc.targets import StatementTarget, TableTarget
from penstock.connectors.jdbc.writing import RowsOfEpoch, StagedRows, stage_prefix, writing
from penstock.functions.sink import Committer, CommitterContext

EPOCHS = "penstock_epochs"
_logger = logging.getLogger("penstock.jdbc")


class EpochCommitter(Committer):
    """Runs on the driver. An epoch that the table of epochs has, by its number and content, is left alone."""

    def __init__(
        self,
        address: DatabaseAddress,
        target: StatementTarget | TableTarget,
        context: CommitterContext,
        max_retries: int,
    ) -> None:
        self._address = address
        self._session = Session(address)
        self._target = target
        self._owner = f"{context.job_id}/{context.operator_uid}"
        self._prefix = stage_prefix(context.job_id, context.operator_uid)
        self._max_retries = max_retries

    def open(self) -> None:
        def create(cursor: Any) -> None:
            cursor.execute(
                f"CREATE TABLE IF NOT EXISTS {EPOCHS}"
                " (owner varchar(512) PRIMARY KEY, epoch bigint NOT NULL, content varchar(64))"
            )
            cursor.execute(f"SELECT * FROM {EPOCHS} WHERE 1 = 0")
            if "content" not in [column[0] for column in cursor.description]:  # of an earlier version
                cursor.execute(f"ALTER TABLE {EPOCHS} ADD content varchar(64)")
            for table in filter(None, (EPOCHS, self._target.table)):
                self._session.dialect.check_transactions(cursor, table)

        self._session.run(create, self._max_retries)

    def commit(self, epoch: int, committables: list[Any]) -> None:
        # May be repeated: what was committed says so itself.
        count = sum(each.count for each in committables)
        self._session.run(
            lambda cursor: self._commit_once(cursor, epoch, committables),
            self._max_retries,
            writing(count, self._target),
        )

    def _commit_once(self, cursor: Any, epoch: int, committables: list[Any]) -> None:
        content = hashlib.sha256("/".join(each.id for each in committables).encode()).hexdigest()
        if self._is_committed(cursor, epoch, content):
            return
        few: Rows = []
        for committable in committables:
            if isinstance(committable, RowsOfEpoch):
                few += committable.rows
            else:
                self._apply_stage(cursor, committable)
        if few:
            self._session.dialect.write(cursor, self._target, few)
        mark = self._session.dialect.mark
        cursor.execute(
            f"UPDATE {EPOCHS} SET epoch = {mark}, content = {mark} WHERE owner = {mark}", (epoch, content, self._owner)
        )

    def _is_committed(self, cursor: Any, epoch: int, content: str) -> bool:
        """Locked until the transaction ends: a driver that lost the job and wakes up waits here, and then sees ours."""
        dialect = self._session.dialect
        cursor.execute(
            f"{dialect.insert_once} {EPOCHS} (owner, epoch) VALUES ({dialect.mark}, 0){dialect.insert_once_tail}",
            (self._owner,),
        )
        cursor.execute(
            f"SELECT epoch, content FROM {EPOCHS} WHERE owner = {dialect.mark}{dialect.lock_tail}", (self._owner,)
        )
        last, its_content = cursor.fetchone()
        if epoch > last:
            return False
        if epoch == last and its_content in (content, None):
            return True
        # Left alone, it would be an epoch whose rows are nowhere.
        raise JobExecutionError(
            f"{self._address}: {EPOCHS} says that a job of this id has committed epoch {last} already, and these are"
            f" other rows, of epoch {epoch}: either another driver has this job now, or the job began anew under the"
            f" id of an earlier run. For a new run give another --job-id, or delete the row {self._owner!r}."
        )

    def _apply_stage(self, cursor: Any, staged: StagedRows) -> None:
        plan = plan_for(self._target, self._session.dialect)
        assert plan is not None, "rows were staged"
        cursor.execute("SELECT to_regclass(%s)", (staged.table,))
        if cursor.fetchone()[0] is None:
            raise JobExecutionError(
                f"{self._address}: the table {staged.table} with {staged.count} rows of an epoch is gone. Tables that"
                " begin with penstock_stage_ belong to running jobs and must not be dropped."
            )
        plan.apply(cursor, staged.table)

    def sweep(self) -> None:
        if self._session.dialect.stages:
            self._session.run(self._drop_stages, self._max_retries)

    def conclude(self) -> None:
        """Of a job that was cancelled or has failed, too: nobody else would know the tables."""
        session = Session(self._address, connect_retries=0)  # a job that ends waits for no database
        try:
            if session.dialect.stages:
                session.run(self._drop_stages)
        except JobExecutionError as error:
            _logger.warning("tables that begin with %s could not be dropped: %s", self._prefix, error)
        finally:
            session.close()

    def _drop_stages(self, cursor: Any) -> None:
        pattern = self._prefix.replace("_", r"\_") + "%"
        cursor.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE %s", (pattern,))
        for (table,) in cursor.fetchall():
            cursor.execute(f"DROP TABLE IF EXISTS {table}")

    def close(self) -> None:
        self._session.close()
