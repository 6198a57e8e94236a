"""Files to Delta and numbers to PostgreSQL: whoever is killed, and whenever, each row is there once."""

from __future__ import annotations

import uuid
from collections import Counter
from itertools import cycle
from pathlib import Path

import pytest
from deltalake import DeltaTable
from tests.crash.killed_job import KilledJob
from tests.crash.lake_and_database_job import KEYS
from tests.services.postgres import PASSWORD, USER, PostgresServer

from penstock.testing.faults import DRIVER_POINTS, RESIDENT_POINTS, WORKER_POINTS

pytestmark = pytest.mark.crash

_FILES = 3


class LinesAndSums(KilledJob):
    program = Path(__file__).with_name("lake_and_database_job.py")
    sinks = ("lines",)

    def __init__(self, directory: Path, server: PostgresServer, records: int, **settings: object) -> None:
        self._server = server
        self._table = f"sums_{uuid.uuid4().hex[:8]}"
        server.execute(f"create table {self._table} (k int primary key, v bigint)")
        self._input = directory / "input"
        self._input.mkdir(parents=True)
        for number in range(_FILES):
            lines = [f"line {n}" for n in range(number, records, _FILES)]
            (self._input / f"{number}.txt").write_text("\n".join(lines) + "\n")
        super().__init__(directory, records, **settings)  # type: ignore[arg-type]

    def expected(self) -> dict[str, Counter[str]]:
        return {"lines": Counter(f"line {n}" for n in range(self._records))}

    def arguments(self) -> list[str]:
        url = f"{self._server.jdbc_url}?user={USER}&password={PASSWORD}"
        return [url, self._table, str(self._records), str(self._input), str(self.results)]

    def visible(self, sink: str) -> Counter[str]:
        if not DeltaTable.is_deltatable(str(self.results)):
            return Counter()
        return Counter(DeltaTable(str(self.results)).to_pyarrow_table().column("line").to_pylist())

    def assert_complete(self) -> None:
        super().assert_complete()
        sums = dict(self._server.query(f"select k, v from {self._table}"))
        assert sums == {key: sum(range(key, self._records, KEYS)) for key in range(KEYS)}, self.story()
        staged = "select tablename from pg_tables where tablename like 'penstock\\_stage%'"
        assert self._server.query(staged) == []
        assert all(PASSWORD not in story for story in self.history)


# Of one epoch during-commit is passed four times: inside and behind the transaction of each of the two.
MOMENTS = (("during-level-0:3", "during-commit:2"), ("after-state:2", "during-commit:3"))


def test_killed_around_the_commits(tmp_path: Path, postgres: PostgresServer) -> None:
    job = LinesAndSums(tmp_path / "job", postgres, 8_000, epoch_records=2_000)
    for crashes in MOMENTS:
        assert job.run(*crashes) != 0, job.story()
        assert not job.finished, job.story()
    job.run_to_the_end()
    job.assert_complete()


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["micro-batch", "resident"])
@pytest.mark.parametrize("number", [1, 2])
def test_killed_at_every_moment(tmp_path: Path, postgres: PostgresServer, engine: str, number: int) -> None:
    job = LinesAndSums(tmp_path / "job", postgres, 60_000, epoch_records=1_000, engine=engine)
    of_workers = WORKER_POINTS + (RESIDENT_POINTS if engine == "resident" else ())
    workers = cycle(f"{point}:{number}" for point in of_workers if "savepoint" not in point)
    for point in DRIVER_POINTS:
        if point.startswith("savepoint"):
            continue
        for each in (number, number + 2) if point == "during-commit" else (number,):
            job.run(next(workers), f"{point}:{each}", "after-commit:6")  # a worker's death is repaired in the run
            assert not job.finished, f"the input is too short for this sweep\n{job.story()}"
    job.run_to_the_end(epoch_records=50_000)
    job.assert_complete()
