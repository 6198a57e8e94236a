"""The SQL client: scripts are cut into statements, rows are shown in three ways, and INSERTs run on."""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.patience import patience

from penstock.cli.sql import _options_in
from penstock.cli.sql.changelog_table import ChangelogTable
from penstock.cli.sql.client import Leave, SqlClient
from penstock.cli.sql.live_page import LivePage
from penstock.cli.sql.results import show
from penstock.cli.sql.statement_text import cut
from penstock.common.errors import PenstockError, ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import StreamTableEnvironment


@pytest.fixture
def client() -> Iterator[SqlClient]:
    env = StreamExecutionEnvironment(executor=LocalExecutor(1_000, False))
    env.set_parallelism(1)
    made = SqlClient(StreamTableEnvironment.create(env))
    yield made
    made.wait()


def test_statements_end_at_semicolons_outside_quotes_and_comments() -> None:
    text = """-- first; one
SELECT 'a;b', `c;d`; /* not ; here */ SHOW TABLES;
EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END;
SELECT 'open;"""
    found = cut(text)
    assert [line for _, line in found.statements] == [1, 2, 3]
    assert [statement.split()[0] for statement, _ in found.statements] == ["--", "/*", "EXECUTE"]
    assert found.rest.strip() == "SELECT 'open;"


def test_a_script_runs_to_its_end_or_names_the_line(client: SqlClient, capsys: pytest.CaptureFixture[str]) -> None:
    client.run_script("CREATE TABLE p (a INT) WITH ('connector' = 'print');\n\nINSERT INTO p SELECT 7", "a.sql")
    client.wait()
    printed = capsys.readouterr().out
    assert "+I[7]" in printed and "Job ID: " in printed
    with pytest.raises(ProgramError, match=r"b\.sql, line 4, column 7: There is no table 'nothing'"):
        client.run_script("SHOW TABLES;\n\nSELECT *\n FROM nothing;", "b.sql")


def test_a_statement_set_is_collected_and_run_at_its_end(client: SqlClient, capsys: pytest.CaptureFixture[str]) -> None:
    client.run("CREATE TABLE p (a INT) WITH ('connector' = 'print')")
    client.run("BEGIN STATEMENT SET")
    client.run("INSERT INTO p SELECT 1")
    client.run("INSERT INTO p SELECT 2")
    with pytest.raises(ProgramError, match="Only INSERT statements"):
        client.run("SHOW TABLES")
    assert "Job ID" not in capsys.readouterr().out
    client.run("END")
    client.wait()
    printed = capsys.readouterr().out
    assert printed.count("Job ID") == 1 and "+I[1]" in printed and "+I[2]" in printed


@pytest.mark.parametrize(("mode", "title"), [("table", "| x |"), ("tableau", "| op |           x |")])
def test_result_modes(client: SqlClient, mode: str, title: str, capsys: pytest.CaptureFixture[str]) -> None:
    client.run(f"SET 'sql-client.execution.result-mode' = '{mode}'")
    client.run("SELECT * FROM (VALUES (1), (2)) AS T(x)")
    printed = capsys.readouterr().out
    assert title in printed and "2 rows in set" in printed


def test_leaving_and_help(client: SqlClient, capsys: pytest.CaptureFixture[str]) -> None:
    client.run("help")
    assert "BEGIN STATEMENT SET" in capsys.readouterr().out
    client.run("-- nothing")
    with pytest.raises(Leave):
        client.run("quit")


def test_completion_offers_names_and_keywords(client: SqlClient, tmp_path: Path) -> None:
    from penstock.cli.sql.prompt import SqlCompleter

    client.run("CREATE TABLE selections (seller STRING) WITH ('connector' = 'print')")
    found = list(SqlCompleter(client).candidates("se"))
    assert found[:2] == ["selections", "seller"] and "select" in found
    assert "SELECT" in list(SqlCompleter(client).candidates("SEL"))
    assert list(SqlCompleter(client).candidates("FR"))[0] == "FROM", "before FRAME_ROW"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("sql-client.execution.result-mode", "tabelau", "The result mode is 'TABELAU', but can be TABLE"),
        ("parallelism.default", "two", "takes a value of type int, 'two' is none"),
        ("parallelism.defualt", "2", "Did you mean 'parallelism.default'?"),
    ],
)
def test_a_wrong_option_is_refused_where_it_is_set(client: SqlClient, key: str, value: str, message: str) -> None:
    with pytest.raises(PenstockError, match=re.escape(message)):
        client.run(f"SET '{key}' = '{value}'")
    client.run("SET 'parallelism.default' = '2'")


def test_a_mistyped_type_leads_to_the_right_one(client: SqlClient) -> None:
    with pytest.raises(PenstockError, match="found 'STRNG'. Did you mean STRING?"):
        client.run("CREATE TABLE t (a STRNG) WITH ('connector' = 'print')")


def test_a_table_follows_its_changelog() -> None:
    random.seed(5)
    table, expected = ChangelogTable(1_000), Counter[tuple[str, ...]]()
    for _ in range(500):
        row = (str(random.randrange(5)),)
        if expected[row] and random.random() < 0.5:
            table.apply(random.choice(["-D", "-U"]), row)
            expected[row] -= 1
        else:
            table.apply(random.choice(["+I", "+U"]), row)
            expected[row] += 1
    assert Counter(table.rows()) == +expected
    small = ChangelogTable(2)
    for number in "abc":
        small.apply("+I", (number,))
    assert small.rows() == [("b",), ("c",)]


def test_options_of_an_environment_file(tmp_path: Path) -> None:
    file = tmp_path / "session.conf"
    file.write_text("# mine\nparallelism.default: 2\ntable.local-time-zone = 'Asia/Tokyo'  # far\n\n")
    assert _options_in(str(file)) == {"parallelism.default": "2", "table.local-time-zone": "Asia/Tokyo"}
    assert _options_in(None) == {}


class Manager:
    """Notes the programs that it is given."""

    url = "http://manager"

    def __init__(self) -> None:
        self.programs: list[tuple[str, dict[str, object]]] = []

    def submit(self, program: Path, **settings: object) -> str:
        self.programs.append((program.read_text("utf-8"), settings))
        return f"job-{len(self.programs)}"


def test_with_a_manager_inserts_are_programs_of_its_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(1_000, False))
    env.set_parallelism(1)
    manager = Manager()
    client = SqlClient(StreamTableEnvironment.create(env), manager=manager)  # type: ignore[arg-type]
    client.run("CREATE TABLE p (a INT) WITH ('connector' = 'print')")
    client.run("SET 'pipeline.max-parallelism' = '16'")
    client.run("INSERT INTO p SELECT 1")
    client.run("EXECUTE STATEMENT SET BEGIN INSERT INTO p SELECT 2; END")
    for statement in ("BEGIN STATEMENT SET", "INSERT INTO p SELECT 3", "INSERT INTO p SELECT 4", "END"):
        client.run(statement)
    client.run("SELECT 5 AS here")
    printed = capsys.readouterr().out
    assert printed.count("Job ID: job-") == 3 and "+I[" not in printed and "here" in printed
    assert [settings["configuration"] for _, settings in manager.programs] == [{"pipeline.max-parallelism": "16"}] * 3
    for program, _ in manager.programs:
        compile(program, "insert.py", "exec")
    assert "SELECT 3" in manager.programs[2][0] and "SELECT 4" in manager.programs[2][0]


def test_changes_are_shown_when_the_query_has_ended(client: SqlClient, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT k, COUNT(*) AS c FROM (VALUES ('a'), ('b'), ('a')) AS T(k) GROUP BY k"
    show(client.t_env.execute_sql(query), "CHANGELOG", 3, live=True)
    last = capsys.readouterr().out.rpartition("\x1b[J")[2]
    assert [line.split()[1] for line in last.splitlines() if line.startswith("| ")] == ["op", "+I", "-U", "+U"]


def test_a_row_that_is_updated_stays_where_it_is() -> None:
    table = ChangelogTable(10)
    for kind, text in (("+I", "a1"), ("+I", "b1"), ("-U", "a1"), ("+U", "a2"), ("-U", "b1"), ("-D", "a2"), ("+I", "c")):
        table.apply(kind, (text,))
    assert table.rows() == [("c",)]
    table.apply("+I", ("d",))
    table.apply("-U", ("c",))
    table.apply("+U", ("c2",))
    assert table.rows() == [("c2",), ("d",)]


def test_a_page_is_drawn_after_the_last_change_and_never_within_one(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[int] = []
    drawn: list[list[int]] = []
    whole = threading.Event()

    def page() -> list[str]:
        drawn.append(list(rows))
        if len(rows) == 6:
            whole.set()
        return [str(row) for row in rows]

    with LivePage(page) as screen:
        for number in range(3):
            with screen.changing():
                rows.append(number)
                rows.append(number)
        assert whole.wait(patience(10))  # although nothing comes after it
    assert all(len(each) % 2 == 0 for each in drawn)
    assert capsys.readouterr().out.endswith("\x1b[6F\x1b[J")
