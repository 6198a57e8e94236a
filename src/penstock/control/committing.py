"""The committers of a job's sinks, on the driver: they make the results of complete epochs visible."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.functions.sink import Committer, CommitterContext, Sink
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.report import SubtaskReport

Committables = dict[str, list[Any]]  # by uid of the sink


class Committing:
    """Commits epochs, each sink's at once. `check_owned` raises when another driver has the job now."""

    def __init__(self, job: JobBlueprint, check_owned: Callable[[], None] = lambda: None) -> None:
        self._check_owned = check_owned
        self._uids = {operator.id: operator.uid for operator in job.operators}
        self._sinks: dict[str, Sink] = {}
        self._committers: dict[str, Committer] = {}
        for operator in job.operators:
            if isinstance(operator.function, Sink):
                self._sinks[operator.uid] = operator.function
                directory = job.settings.directory_of_sink(operator.uid)
                context = CommitterContext(job.settings.job_id, operator.uid, operator.name, directory)
                committer = operator.function.create_committer(context)
                if committer is not None:
                    self._committers[operator.uid] = committer
        self._opened: set[str] = set()

    def staged(self, reports: Iterable[SubtaskReport]) -> Committables:
        """What the subtasks of an epoch have staged; the reports are in their order."""
        staged: Committables = {}
        for report in reports:
            for operator_id, committables in report.committables.items():
                staged.setdefault(self._uids[operator_id], []).extend(committables)
        return staged

    def surviving(self, staged: Committables) -> Committables:
        """Without what is for this process only."""
        return {uid: of_sink for uid, of_sink in staged.items() if self._sinks[uid].committables_survive}

    def commit(self, epoch: int, staged: Committables) -> None:
        """Takes away what is committed: whatever fails on the way, another attempt goes on after it."""
        for uid in list(staged):
            committer = self._committers.get(uid)
            if committer is not None:
                self._check_owned()  # the process may have stood still since the look before
                self._open(uid, committer)
                committer.commit(epoch, staged[uid])
            del staged[uid]

    def _open(self, uid: str, committer: Committer) -> None:
        if uid not in self._opened:
            committer.open()
            self._opened.add(uid)

    def sweep(self) -> None:
        """The job has finished, and everything is committed."""
        for uid, committer in self._committers.items():
            self._open(uid, committer)
            committer.sweep()

    def conclude(self) -> None:
        """The job has ended for good: its files will go."""
        for committer in self._committers.values():
            committer.conclude()

    def close(self) -> None:
        for committer in self._committers.values():
            committer.close()
