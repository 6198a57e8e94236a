"""What the benchmark says about what it has measured."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from benchmarks import report
from benchmarks.big_state import lost_and_doubled
from benchmarks.outputs import Commit, OutputWatch, partial_rate, records_per_second
from benchmarks.rows import Measurement, Row, ratio, summarize

MACHINE = {"cpu": "a processor", "cores": 2, "memory_gb": 8, "scale": 1.0, "remark": ""}


def rate(contestant: str, value: float | None, status: str = "ok") -> Measurement:
    return Measurement("keyed_count", contestant, "rate", value, "records/s", status)


def test_a_row_is_the_median_with_its_spread() -> None:
    (row,) = summarize([rate("penstock", 90.0), rate("penstock", 110.0)])
    assert (row.value, row.spread, row.status) == (100.0, 0.2, "ok")


def test_one_wrong_round_makes_the_row_wrong_and_takes_its_value() -> None:
    (row,) = summarize([rate("penstock", 90.0), rate("penstock", None, "wrong")])
    assert (row.value, row.status) == (None, "wrong")


def test_a_partial_round_marks_the_row() -> None:
    (row,) = summarize([rate("penstock", 90.0, "partial"), rate("penstock", 90.0)])
    assert row.status == "partial"


def test_ratio_of_medians() -> None:
    rows = summarize([rate("penstock", 300.0), rate("spark", 100.0), rate("loop", None, "wrong")])
    assert ratio(rows, "keyed_count", "rate", "penstock", "spark") == 3.0
    assert ratio(rows, "keyed_count", "rate", "penstock", "loop") is None


def test_the_table_has_ratios_and_never_a_number_for_what_is_wrong() -> None:
    rows = summarize([rate("penstock", 300.0), rate("spark", 100.0, "partial"), rate("loop", None, "wrong")])
    text = report.table(rows, "today", MACHINE)
    assert "| plain PySpark | 100 records/s † |  | 3 x |" in text
    assert "| **wrong** |  |  |" in text


def test_less_is_better_for_everything_but_rates() -> None:
    rows = [
        Row("latency", "penstock", "p99", 200.0, "ms", None, "ok"),
        Row("latency", "spark", "p99", 1000.0, "ms", None, "ok"),
    ]
    assert "| plain PySpark | p99: 1,000 ms |  | 5 x |" in report.table(rows, "today", MACHINE)


def test_files_of_a_report(tmp_path: Path) -> None:
    rows = summarize([rate("penstock", 300.0), rate("spark", None, "wrong")])
    report.write(tmp_path, "2026-11-15T10:00:00Z", MACHINE, {"penstock": "0.1"}, rows)
    latest = json.loads((tmp_path / "latest.json").read_text())
    assert latest == json.loads((tmp_path / "2026-11-15T100000Z.json").read_text())
    assert set(latest) == {"machine", "date", "versions", "rows"}
    assert set(latest["rows"][0]) >= {"case", "contestant", "metric", "value", "unit", "spread", "status"}
    bars = ElementTree.fromstring((tmp_path / "latest.svg").read_text())
    assert "Penstock" in "".join(bars.itertext())


def commit(time: float, size: int) -> Commit:
    return Commit(time, Path("x"), size)


def test_the_rate_leaves_out_what_came_with_the_first_commit() -> None:
    assert records_per_second([commit(10.0, 200), commit(12.0, 600), commit(14.0, 200)], 1000) == pytest.approx(200)


@pytest.mark.parametrize("commits", [[], [commit(1.0, 10)], [commit(1.0, 60), commit(2.0, 40)]])
def test_no_steady_rate_without_enough_commits(commits: list[Commit]) -> None:
    assert records_per_second(commits, 1000) is None


def test_the_partial_rate_counts_what_was_written_after_the_first_results() -> None:
    assert partial_rate([(10.0, 100), (15.0, 1100)], 20.0, 10.0) == pytest.approx(10.0)
    assert partial_rate([], 20.0, 10.0) is None


def test_hidden_files_are_written_but_not_committed(tmp_path: Path) -> None:
    watch = OutputWatch(tmp_path)
    (tmp_path / ".part-0.inprogress.1").write_text("a\n")
    assert watch.look(1.0) == []
    (tmp_path / ".part-0.inprogress.1").rename(tmp_path / "part-0")
    assert [found.path.name for found in watch.look(2.0)] == ["part-0"]
    assert watch.look(3.0) == []
    assert watch.written == [(1.0, 2)]


def test_sparks_files_count_when_its_log_names_them(tmp_path: Path) -> None:
    watch = OutputWatch(tmp_path, spark=True)
    (tmp_path / "part-0").write_text("a\n")
    assert watch.look(1.0) == []
    (tmp_path / "_spark_metadata").mkdir()
    entry = json.dumps({"path": "file:///somewhere/part-0", "size": 2})
    (tmp_path / "_spark_metadata" / "0").write_text(f"v1\n{entry}\n")
    assert [(found.path.name, found.time) for found in watch.look(2.0)] == [("part-0", 2.0)]
    assert [found.size for found in watch.result_commits()] == [2]


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([(0.0, 1, 1, -1), (0.0, 1, 2, 0), (0.0, 2, 1, 1)], (0, 0)),
        ([(0.0, 1, 1, 0)], (1, 0)),
        ([(0.0, 1, 1, 0), (0.0, 1, 1, 0), (0.0, 1, 2, 1)], (0, 1)),
        ([(0.0, 1, 1, 0), (0.0, 1, 3, 1)], (1, 0)),
    ],
)
def test_lost_and_doubled(results: list[tuple[float, int, int, int]], expected: tuple[int, int]) -> None:
    assert lost_and_doubled(results, 2) == expected
