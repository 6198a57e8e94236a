"""What the benchmark says about what it has measured."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from benchmarks import report, settings
from benchmarks.big_state import lost_and_doubled
from benchmarks.docs_section import BEGIN, END, update_page
from benchmarks.outputs import Commit, OutputWatch, records_per_second
from benchmarks.rows import Measurement, Row, ratio, summarize
from benchmarks.targets import target_table

MACHINE = {"cpu": "a processor", "cores": 2, "memory_gb": 8, "scale": 1.0, "remark": ""}


def rate(contestant: str, value: float | None, status: str = "ok", case: str = "keyed_count") -> Measurement:
    return Measurement(case, contestant, "rate", value, "records/s", status)


def result_of(rows: list[Row]) -> report.Result:
    return report.Result("2026-11-15T10:00:00Z", MACHINE, {"penstock": "0.1"}, rows)


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
    text = report.table(result_of(rows))
    assert "| plain PySpark | 100 records/s † |  | 3 x |" in text
    assert "| **wrong** |  |  |" in text


def test_less_is_better_for_everything_but_rates() -> None:
    rows = [
        Row("latency", "penstock", "p99", 200.0, "ms", None, "ok"),
        Row("latency", "spark", "p99", 1000.0, "ms", None, "ok"),
    ]
    assert "| plain PySpark | p99: 1,000 ms |  | 5 x |" in report.table(result_of(rows))


def test_files_of_a_report(tmp_path: Path) -> None:
    result = result_of(summarize([rate("penstock", 300.0), rate("spark", None, "wrong")]))
    path = report.write_json(tmp_path, result.date, result.machine, result.versions, result.rows)
    written = json.loads(path.read_text())
    assert path.name == "2026-11-15T100000Z.json"
    assert set(written) == {"machine", "date", "versions", "rows"}
    assert set(written["rows"][0]) >= {"case", "contestant", "metric", "value", "unit", "spread", "status"}
    assert report.Result.read(path) == result
    report.write_latest(tmp_path, result)
    bars = "".join(ElementTree.fromstring((tmp_path / "latest.svg").read_text()).itertext())
    assert "Penstock" in bars and "300" in bars and "wrong" in bars and "a processor" in bars and result.date in bars


def test_a_chart_of_nothing_is_still_a_chart() -> None:
    ElementTree.fromstring(report.chart(summarize([rate("spark", None, "failed")]), "title"))


def test_cases_that_vary_another_have_their_ratio_to_it() -> None:
    rows = summarize(
        [
            rate("penstock", 400.0),
            rate("penstock", 300.0, "partial", "keyed_count_skew"),
            rate("spark", 1.0, "ok", "keyed_count_skew"),
        ]
    )
    found = [(row.contestant, row.value, row.status) for row in rows if row.metric == "ratio to keyed_count"]
    assert found == [("penstock", 0.75, "partial")]


def test_the_table_names_what_was_not_run() -> None:
    rows = summarize([rate("penstock", 300.0), Measurement("latency", "spark", "-", None, "", "not run")])
    assert "Not run, for lack of time (`--minutes`): latency plain PySpark." in report.table(result_of(rows))


def test_targets_are_reached_missed_or_open() -> None:
    rows = summarize([rate("penstock", 300.0), rate("pyflink_thread", 5.0), rate("pyflink_process", 4.0)])
    text = target_table(rows)
    assert "| keyed_count: 45 x PyFlink thread mode | 60.00 x | reached |" in text
    assert "| keyed_count: 100 x PyFlink process mode | 75.00 x | not reached |" in text
    assert "| latency: p99 below 80 ms | no figure | open |" in text


def test_a_wrong_result_reaches_no_target() -> None:
    rows = summarize([rate("penstock", None, "wrong"), rate("pyflink_thread", 10.0)])
    assert "| keyed_count: 45 x PyFlink thread mode | no figure | open |" in target_table(rows)


def test_the_page_is_rewritten_between_its_marks_only(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(f"before\n\n{BEGIN}\nold\n{END}\n\nafter\n")
    update_page(page, result_of(summarize([rate("penstock", 300.0), rate("spark", 100.0)])))
    once = page.read_text()
    assert once.startswith(f"before\n\n{BEGIN}\n") and once.endswith(f"{END}\n\nafter\n")
    assert "| keyed_count | 300 | 100 (3 x) |" in once and "old" not in once and "latest.svg" in once
    update_page(page, result_of(summarize([rate("penstock", 300.0), rate("spark", 100.0)])))
    assert page.read_text() == once


@pytest.mark.parametrize("text", ["", BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}{BEGIN}{END}"])
def test_a_page_without_its_marks_is_left_alone(tmp_path: Path, text: str) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(text)
    with pytest.raises(ValueError, match="once each"):
        update_page(page, result_of([]))
    assert page.read_text() == text


def test_the_page_has_the_marks() -> None:
    text = (settings.ROOT / "docs" / "benchmarks.md").read_text()
    assert text.count(BEGIN) == text.count(END) == 1


def commit(time: float, size: int) -> Commit:
    return Commit(time, Path("x"), size)


def test_the_rate_leaves_out_what_came_with_the_first_commit() -> None:
    assert records_per_second([commit(10.0, 200), commit(12.0, 600), commit(14.0, 200)], 1000) == pytest.approx(200)


@pytest.mark.parametrize("commits", [[], [commit(1.0, 10)], [commit(1.0, 60), commit(2.0, 40)]])
def test_no_steady_rate_without_enough_commits(commits: list[Commit]) -> None:
    assert records_per_second(commits, 1000) is None


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
        ([(0.0, 1, 1, -2), (0.0, 1, 2, -3), (0.0, 1, 3, 0), (0.0, 2, 1, 1)], (0, 0)),
        ([(0.0, 1, 1, 0)], (1, 0)),
        ([(0.0, 1, 1, 0), (0.0, 1, 1, 0), (0.0, 1, 2, 1)], (0, 1)),
        ([(0.0, 1, 1, 0), (0.0, 1, 3, 1)], (1, 0)),
    ],
)
def test_lost_and_doubled(results: list[tuple[float, int, int, int]], expected: tuple[int, int]) -> None:
    assert lost_and_doubled(results, 2) == expected
