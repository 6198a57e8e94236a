"""Nexmark: what a query's files come to, and what the ratios say."""

from __future__ import annotations

import json
import re
from pathlib import Path

from benchmarks import nexmark_inputs, nexmark_report, settings
from benchmarks.contestants import PROGRAMS
from benchmarks.digests import digest_of_lines
from benchmarks.nexmark import _checked, digest_of_results, queries_for
from benchmarks.report import Result
from benchmarks.rows import Measurement, summarize
from benchmarks.targets import NEXMARK_TARGETS, nexmark_ratios, target_table

MACHINE = {"cpu": "a processor", "cores": 2, "memory_gb": 8, "scale": 1.0, "remark": ""}


def added(row: str) -> str:
    return f'{{"before":null,"after":{row},"op":"c"}}\n'


def removed(row: str) -> str:
    return f'{{"before":{row},"after":null,"op":"d"}}\n'


def test_changes_come_to_the_final_table(tmp_path: Path) -> None:
    (tmp_path / "part-0").write_text(added('{"n":1}') + removed('{"n":1}') + added('{"n":2}'))
    (tmp_path / "part-1").write_text(added('{"n":3}'))
    (tmp_path / ".part-2.inprogress").write_text(added('{"n":4}'))
    assert digest_of_results(tmp_path) == digest_of_lines(['{"n":3}', '{"n":2}'])


def test_lines_of_csv_are_rows(tmp_path: Path) -> None:
    (tmp_path / "part-0").write_text("1,a\n2,b\n")
    assert digest_of_results(tmp_path) == digest_of_lines(["2,b", "1,a"])


def test_what_flink_found_is_the_measure(tmp_path: Path) -> None:
    right, wrong = digest_of_lines(["1"]), digest_of_lines(["2"])
    assert _checked("penstock_sql", "q0", right, tmp_path)[1].endswith("not compared: Flink has not run on these files")
    assert _checked("flink_sql", "q0", right, tmp_path)[0] == "ok"
    assert _checked("flink_sql", "q9", right, tmp_path)[0] == "ok"
    assert json.loads((tmp_path / "digests.json").read_text()) == {"q0": right.text(), "q9": right.text()}
    assert _checked("penstock_sql", "q0", right, tmp_path)[0] == "ok"
    assert _checked("penstock_sql", "q0", wrong, tmp_path)[0] == "wrong"
    assert _checked("penstock_sql", "q9", wrong, tmp_path) == ("ok", settings.NEXMARK_DIFFERENCES["q9"])


def rates(contestant: str, value: float, queries: tuple[str, ...]) -> list[Measurement]:
    return [
        Measurement(f"nexmark {query}", contestant, metric, amount, unit, "ok")
        for query in queries
        for metric, amount, unit in (("rate", value, "records/s"), ("cpu", 1e6 / value, "s"))
    ]


def test_targets_want_every_query() -> None:
    ours, theirs = "penstock_sql", "flink_sql"
    rows = summarize(rates(theirs, 100.0, settings.NEXMARK) + rates(ours, 400.0, settings.NEXMARK[:-1]))
    assert "geometric mean: 3 x Flink SQL | no figure | open" in target_table(rows, NEXMARK_TARGETS)
    rows = summarize(rates(theirs, 100.0, settings.NEXMARK) + rates(ours, 400.0, settings.NEXMARK))
    assert set(nexmark_ratios(rows, settings.NEXMARK).values()) == {4.0}
    text = nexmark_report.section(Result("today", MACHINE, {}, rows))
    assert "| q0 | 100 (10000 s) | 400 (2500 s) | 4.0 x | 4.0 x |" in text
    assert "geometric mean: 3 x Flink SQL | 4.00 x | reached" in text
    assert "stateless queries: 5 x Flink SQL | 4.00 x | not reached" in text


def test_queries_of_the_settings_are_those_of_the_program() -> None:
    text = (PROGRAMS / "nexmark.py").read_text()  # it imports pyflink
    assert re.findall(r'^    "(q\d+)":', text, re.M) == list(settings.NEXMARK)
    assert all(f'    "{name}": ' in text for name in settings.NEXMARK_PYTHON)
    assert queries_for("pyflink_process") == settings.NEXMARK_PYTHON
    assert queries_for("flink_sql") == settings.NEXMARK


def test_bids_of_an_auction_are_in_one_file(tmp_path: Path) -> None:
    nexmark_inputs.write(tmp_path, 20_000)
    parts = [
        {line.partition(",")[0] for line in path.read_text().splitlines()} for path in sorted(tmp_path.glob("bid/*"))
    ]
    assert len(parts) == 2 and all(parts) and not parts[0] & parts[1]
    assert sum(len(path.read_text().splitlines()) for path in tmp_path.glob("*/*.csv")) == 20_000


def test_the_function_alone_is_the_query_less_what_it_costs_without(tmp_path: Path) -> None:
    seconds = {"penstock_sql": (3.0, 2.5, 2.0), "pyflink_process": (22.0, 12.0, 2.0)}
    measured = [
        Measurement(f"nexmark {query}", contestant, "wall", value, "s", "ok")
        for contestant, values in seconds.items()
        for query, value in zip(settings.NEXMARK_PYTHON, values, strict=True)
    ]
    result = Result("today", MACHINE, {}, summarize(measured))
    assert "`udf` less `no_udf`: PyFlink 20.00 s, Penstock 1.00 s (20.0 x)" in nexmark_report.section(result)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{nexmark_report.BEGIN}\nold\n{nexmark_report.END}\nafter\n")
    nexmark_report.publish(result, tmp_path, page)
    assert "old" not in page.read_text() and page.read_text().endswith("\nafter\n")
    assert "pandas function: 5 x PyFlink" in (tmp_path / "nexmark.md").read_text()
