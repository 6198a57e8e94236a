"""Exactly once, the driver's half: small epochs, those that end something, and what writers could not finish."""

from __future__ import annotations

import logging
from itertools import groupby

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.settings import KafkaSettings, new_client
from penstock.connectors.kafka.staged_parts import StagedPart
from penstock.connectors.kafka.transactions import TransactionLane
from penstock.functions.sink import Committer, CommitterContext

_logger = logging.getLogger("penstock.kafka")


class TransactionCommitter(Committer):
    """Has a lane of its own. Lanes of writers it takes only when those are gone."""

    def __init__(self, settings: KafkaSettings, id_: str, context: CommitterContext) -> None:
        self._settings = settings
        self._id = id_
        self._directory = context.directory
        self._lane = TransactionLane(settings, id_, context.directory)
        self._left: tuple[int, list[StagedPart]] | None = None  # what writers do while they work on the next epoch

    def commit(self, epoch: int, committables: list[StagedPart]) -> None:
        left = [part for part in committables if part.left_to_writer]
        own = [part for part in committables if not part.lane]
        self._commit_for_writers(epoch, [part for part in committables if part.lane and not part.left_to_writer])
        if own:
            self._lane.commit(epoch, own)
        self._left = (epoch, left) if left else None

    def _commit_for_writers(self, epoch: int, parts: list[StagedPart]) -> None:
        for lane_id, of_lane in groupby(parts, lambda part: part.lane):
            lane = TransactionLane(self._settings, lane_id, self._directory)
            try:
                lane.commit_groups(epoch, list(of_lane))
            finally:
                lane.close()

    def _take_over(self) -> None:
        """The writers are gone; whether they have produced the last of it is known to Kafka."""
        if self._left is not None:
            self._commit_for_writers(*self._left)
            self._left = None

    def sweep(self) -> None:
        """Writers do not finish before all is produced, and nobody will ask for the marks again."""
        self._left = None
        admin = new_client("AdminClient", self._settings.for_admin())
        try:
            groups = [group.group_id for group in admin.list_consumer_groups(request_timeout=10).result(10).valid]
            marks = [group for group in groups if group == self._id or group.startswith(f"{self._id}/")]
            for future in (admin.delete_consumer_groups(marks) if marks else {}).values():
                future.result(10)
        except Exception as error:
            _logger.info("the groups %s, which mark commits, were not deleted: %s", self._id, error)

    def conclude(self) -> None:
        try:
            self._take_over()
        except JobExecutionError as error:  # of a job that was cancelled or has failed
            _logger.error("the last results of the sink %s are not in Kafka: %s", self._id, error)

    def close(self) -> None:
        self._lane.close()
