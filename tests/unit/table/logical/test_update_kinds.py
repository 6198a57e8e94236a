"""The pass from sinks to sources: who sends updates in which form, and which nodes come between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.columns.typesystem.data_types import DataTypes
from penstock.table.logical import nodes as plan
from penstock.table.logical.changelog import mode_text
from penstock.table.logical.explain import explain
from penstock.table.logical.planning import plan_sql
from penstock.table.logical.rewrites import rewritten
from penstock.table.logical.tables import MemoryTables, TableDefinition
from penstock.table.sql.errors import SqlValidationError

_FIELDS = tuple(
    plan.Field(name, kind)
    for name, kind in (("k", DataTypes.INT(False)), ("v", DataTypes.BIGINT(False)), ("t", DataTypes.STRING(False)))
)
_KEY_AND_COUNT = _FIELDS[:2]
TABLES = MemoryTables(
    {
        "T": TableDefinition(_FIELDS),
        "cdc": TableDefinition(_FIELDS, ("k",), changelog="IUD"),
        "upserts": TableDefinition(_FIELDS, ("k",), changelog="IUD", upserts=True),
        "append": TableDefinition(_KEY_AND_COUNT, sink_accepts="I"),
        "retract": TableDefinition(_KEY_AND_COUNT),
        "keyed": TableDefinition(_KEY_AND_COUNT, ("k",), sink_before=False),
        "by_v": TableDefinition(_KEY_AND_COUNT, ("v",), sink_before=False),
    }
)


def modes(sql: str) -> str:
    """Each node but projections with its mode, as `Aggregation I,UA`."""
    found = []
    for line in explain(rewritten(plan_sql(sql, TABLES)), mode_text).splitlines():
        text = line.lstrip(" :+-|")
        if text.startswith("Project("):
            continue
        found.append(f"{text.partition('(')[0]} {text.rpartition('changelogMode=[')[2].rstrip('])')}")
    return "; ".join(found)


COUNTED = "SELECT k, COUNT(*) AS c FROM T GROUP BY k"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (COUNTED, "Aggregation I,UB,UA; Scan I"),
        (f"INSERT INTO retract {COUNTED}", "Sink I,UB,UA; Aggregation I,UB,UA; Scan I"),
        (f"INSERT INTO keyed {COUNTED}", "Sink I,UA; Aggregation I,UA; Scan I"),
        # A condition on the count can split an update, so that both halves are needed.
        (
            f"INSERT INTO keyed SELECT * FROM ({COUNTED}) WHERE c > 1",
            "Sink I,UB,UA; Filter I,UB,UA; Aggregation I,UB,UA; Scan I",
        ),
        (
            f"INSERT INTO keyed SELECT * FROM ({COUNTED}) WHERE k > 1",
            "Sink I,UA; Filter I,UA; Aggregation I,UA; Scan I",
        ),
        # Rows of different groups may have the same count.
        (
            f"INSERT INTO by_v {COUNTED}",
            "Sink I,UA; SinkMaterialize I,UA; Aggregation I,UB,UA; Scan I",
        ),
        (
            f"INSERT INTO retract SELECT CAST(c AS INT), COUNT(*) FROM ({COUNTED}) GROUP BY CAST(c AS INT)",
            "Sink I,UB,UA,D; Aggregation I,UB,UA,D; Aggregation I,UB,UA; Scan I",
        ),
        (
            "INSERT INTO keyed SELECT k, v FROM cdc",
            "Sink I,UA,D; DropUpdateBefore I,UA,D; Scan I,UB,UA,D",
        ),
        ("INSERT INTO retract SELECT k, v FROM cdc", "Sink I,UB,UA,D; Scan I,UB,UA,D"),
        (
            "INSERT INTO retract SELECT k, v FROM upserts",
            "Sink I,UB,UA,D; ChangelogNormalize I,UB,UA,D; Scan I,UA,D",
        ),
        (
            "INSERT INTO keyed SELECT k, v FROM upserts",
            "Sink I,UA,D; ChangelogNormalize I,UA,D; Scan I,UA,D",
        ),
    ],
)
def test_forms_of_updates(sql: str, expected: str) -> None:
    assert modes(sql) == expected


def test_a_sink_that_only_takes_inserts_refuses_in_flinks_words() -> None:
    with pytest.raises(SqlValidationError, match="'append' doesn't support consuming update changes .* Aggregation"):
        modes(f"INSERT INTO append {COUNTED}")


def test_a_source_of_upserts_needs_a_key() -> None:
    found = TABLES.find(("upserts",))
    assert isinstance(found, TableDefinition)
    with pytest.raises(SqlValidationError, match="PRIMARY KEY"):
        rewritten(plan_sql("SELECT k FROM T", MemoryTables({"T": replace(found, primary_key=())})))
