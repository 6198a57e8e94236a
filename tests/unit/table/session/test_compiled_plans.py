"""Compiled plans: kept as JSON, run in another session, and refused when they would not be the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.table import StreamTableEnvironment
from penstock.table.plan_reference import PlanReference

Factory = Callable[..., StreamExecutionEnvironment]


def written(directory: Path) -> list[str]:
    return sorted(line for file in directory.glob("part-*") for line in file.read_text().splitlines())


@pytest.fixture
def declared(local_env: Factory, tmp_path: Path) -> StreamTableEnvironment:
    t_env = StreamTableEnvironment.create(local_env(1))
    (tmp_path / "in.csv").write_text("1,a\n2,b\n3,a\n")
    files = f"'connector' = 'filesystem', 'path' = '{tmp_path}"
    t_env.execute_sql(f"CREATE TABLE src (id INT, k STRING) WITH ({files}/in.csv', 'format' = 'csv')")
    t_env.execute_sql(f"CREATE TABLE dst (k STRING, c BIGINT) WITH ({files}/out', 'format' = 'debezium-json')")
    t_env.execute_sql("CREATE VIEW odd AS SELECT * FROM src WHERE MOD(id, 2) = 1")
    return t_env


INSERT = "INSERT INTO dst SELECT k, COUNT(*) FROM odd GROUP BY k"


def test_a_plan_of_a_file_runs_where_nothing_is_declared(
    declared: StreamTableEnvironment, local_env: Factory, tmp_path: Path
) -> None:
    plan = tmp_path / "plans" / "p.json"
    declared.execute_sql(f"COMPILE PLAN '{plan}' FOR {INSERT}")
    with pytest.raises(ProgramError, match="There is a plan"):
        declared.execute_sql(f"COMPILE PLAN '{plan}' FOR {INSERT}")
    declared.execute_sql(f"COMPILE PLAN '{plan}' IF NOT EXISTS FOR {INSERT}")
    elsewhere = StreamTableEnvironment.create(local_env(1))
    elsewhere.execute_sql(f"EXECUTE PLAN '{plan}'").wait()
    assert len(written(tmp_path / "out")) == 3
    assert elsewhere.list_tables() == []
    loaded = elsewhere.load_plan(PlanReference.from_file(plan))
    assert (
        "Aggregation" in loaded.explain()
        and loaded.get_flink_version() == json.loads(plan.read_text())["penstockVersion"]
    )
    declared.execute_sql(f"COMPILE AND EXECUTE PLAN '{plan}' FOR {INSERT}").wait()
    assert len(written(tmp_path / "out")) == 6


def test_sets_of_statements_are_compiled_too(declared: StreamTableEnvironment, tmp_path: Path) -> None:
    inserts = declared.create_statement_set()
    inserts.add_insert_sql(INSERT).add_insert_sql("INSERT INTO dst SELECT 'z', 0")
    plan = inserts.compile_plan()
    declared.execute_plan(PlanReference.from_json_string(plan.as_json_string())).wait()
    assert len(written(tmp_path / "out")) == 4
    inserts.add_insert("dst", declared.sql_query("SELECT 'y', CAST(1 AS BIGINT)"))
    with pytest.raises(NotSupportedError, match="SQL text"):
        inserts.compile_plan()


def test_what_does_not_fit_is_refused(declared: StreamTableEnvironment, local_env: Factory, tmp_path: Path) -> None:
    document = json.loads(declared.compile_plan_sql(INSERT).as_json_string())

    def refused(changed: dict[str, object], message: str) -> None:
        with pytest.raises(ProgramError, match=message):
            declared.execute_plan(PlanReference.from_json_string(json.dumps({**document, **changed})))

    refused({"penstockPlan": 99}, "plan of form 99")
    refused({"operators": document["operators"][1:]}, "other operators")
    refused({"batch": True}, "compiled in batch mode")
    with pytest.raises(ProgramError, match="is no compiled plan of Penstock"):
        declared.execute_plan(PlanReference.from_json_string('{"flinkVersion": "2.3", "nodes": []}'))
    other = StreamTableEnvironment.create(local_env(1))
    other.execute_sql("CREATE TABLE src (id BIGINT, k STRING) WITH ('connector' = 'datagen')")
    with pytest.raises(ProgramError, match="other columns now"):
        other.execute_plan(PlanReference.from_json_string(json.dumps(document)))
    declared.create_temporary_view("own", declared.from_elements([(1, "a")], ["id", "k"]))
    with pytest.raises(NotSupportedError, match="of this program alone"):
        declared.compile_plan_sql("INSERT INTO dst SELECT k, id FROM own")
