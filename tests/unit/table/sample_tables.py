"""The tables that the recorded queries are about."""

from __future__ import annotations

from penstock.columns.typed.nodes import TimeAttribute
from penstock.columns.typesystem.type_text import parse_type
from penstock.table.logical.nodes import Field
from penstock.table.logical.tables import MemoryTables, TableDefinition

_TIMES = {"ts": TimeAttribute.ROWTIME, "t": TimeAttribute.ROWTIME, "proc": TimeAttribute.PROCTIME}


def fields(**types: str) -> tuple[Field, ...]:
    return tuple(Field(name, parse_type(text), _TIMES.get(name)) for name, text in types.items())


TABLES = MemoryTables(
    {
        "orders": TableDefinition(
            fields(
                id="INT",
                uname="STRING",
                amount="DECIMAL(10, 2)",
                item="STRING NOT NULL",
                ts="TIMESTAMP(3)",
                proc="TIMESTAMP_LTZ(3) NOT NULL",
            )
        ),
        "users": TableDefinition(
            fields(
                uid="INT NOT NULL",
                name="STRING",
                city="STRING",
                tags="ARRAY<STRING>",
                address="ROW<street STRING, zip INT>",
            ),
            primary_key=("uid",),
        ),
        "ltz": TableDefinition(fields(k="BIGINT", v="DOUBLE", t="TIMESTAMP_LTZ(3)")),
        "m": TableDefinition(fields(k="STRING", props="MAP<STRING, INT>")),
        "accounts": TableDefinition(fields(aid="INT NOT NULL", owner="STRING"), ("aid",), changelog="IUD"),
    }
)
