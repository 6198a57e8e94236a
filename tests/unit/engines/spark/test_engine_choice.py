"""Which engine runs a job."""

from __future__ import annotations

from typing import ClassVar

import pytest

from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.control.job_record import JobRecord
from penstock.engines.spark.executor import engine_for
from penstock.graph.job_request import JobRequest


@pytest.mark.parametrize(
    ("asked", "master", "before", "chosen"),
    [
        ("auto", "local[2]", None, "resident"),
        ("auto", "local", None, "resident"),
        ("auto", "spark://host:7077", None, "micro-batch"),
        ("auto", "local[2]", "micro-batch", "micro-batch"),
        ("auto", "spark://host:7077", "resident", "resident"),
        ("Resident", "spark://host:7077", None, "resident"),
        ("micro-batch", "local[2]", None, "micro-batch"),
    ],
)
def test_which_engine_runs_a_job(
    asked: str, master: str, before: str | None, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    recorded = None if before is None else JobRecord(job_id="1", name="job", parallelism=1, levels=1, engine=before)
    options = current_run_options()
    set_run_options(RunOptions(master=master))
    try:
        assert engine_for(JobRequest("job", (), {"penstock.engine": asked}, 1), recorded).name == chosen
    finally:
        set_run_options(options)


def test_a_session_of_the_programs_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Context:
        _conf: ClassVar[dict[str, str]] = {"spark.master": "local[2]"}

    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", Context())
    assert engine_for(JobRequest("job", (), {}, 1), None).name == "micro-batch"


def test_a_job_with_a_streaming_dataframe_stays_on_micro_batches_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Frame:
        isStreaming = True  # noqa: N815

    class Node:
        id, params, inputs = 1, {"spark_frame": Frame()}, ()

    monkeypatch.setattr("penstock.engines.spark.engine.upstream_first", lambda sinks: [Node()])
    assert engine_for(JobRequest("job", (), {}, 1), None).name == "micro-batch"
    assert capsys.readouterr().err == ""
    assert engine_for(JobRequest("job", (), {"penstock.engine": "resident"}, 1), None).name == "micro-batch"
    assert "from_spark()" in capsys.readouterr().err
