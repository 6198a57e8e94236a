"""What a job starts from that has run before."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.common.configuration import Configuration
from penstock.common.options import MICRO_BATCH, RESIDENT
from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.control import job_submission
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.epoch_store import EpochRecord, EpochStore
from penstock.control.job_record import JobRecord
from penstock.control.program_record import ProgramRecord


@pytest.mark.parametrize(
    ("engine", "epochs", "is_read"),
    [
        (MICRO_BATCH, 0, True),
        (MICRO_BATCH, 1, True),  # Spark runs the first epoch again if the driver died before Spark's commit
        (MICRO_BATCH, 2, False),
        (RESIDENT, 0, True),
        (RESIDENT, 1, False),  # the record is the commit
    ],
)
def test_the_savepoint_is_read_as_long_as_the_first_epoch_may_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, epochs: int, is_read: bool
) -> None:
    store = EpochStore(tmp_path / "epochs")
    for epoch in range(1, epochs + 1):
        store.put(EpochRecord(epoch))
    monkeypatch.setattr(job_submission, "prepare_restore", lambda path, blueprint, leave_out: path)
    program = ProgramRecord(savepoint_path="savepoint-1")
    recorded = JobRecord(job_id="1" * 32, name="job", parallelism=1, levels=1, engine=engine, program=program)
    configuration = Configuration()
    blueprint: Any = SimpleNamespace(operators=())
    before = current_run_options()
    set_run_options(RunOptions())
    try:
        found: object = job_submission._savepoint_to_start_from(
            blueprint,
            tmp_path / "epochs",
            recorded,
            CheckpointSettings.of(configuration, tmp_path, recorded.job_id),
            configuration,
        )
    finally:
        set_run_options(before)
    assert found == ("savepoint-1" if is_read else None)
