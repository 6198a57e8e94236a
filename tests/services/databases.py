"""Three real databases, each with its own client, behind one face."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.services.mariadb import PASSWORD as MARIADB_PASSWORD
from tests.services.mariadb import USER as MARIADB_USER
from tests.services.mariadb import MariaDbServer
from tests.services.postgres import PASSWORD, USER, PostgresServer

from penstock.datastream.connectors.jdbc import JdbcConnectionOptions


@dataclass(frozen=True)
class Database:
    """A database with its own client."""

    kind: str
    options: JdbcConnectionOptions
    query: Callable[[str], list[tuple[Any, ...]]]
    upsert_tail: str

    def make(self, table: str, columns: str) -> None:
        self.query(f"drop table if exists {table}")
        self.query(f"create table {table} ({columns})")


KINDS = ["postgresql", "mariadb", "sqlite"]


def database_of(kind: str, request: pytest.FixtureRequest, path: Path) -> Database:
    if kind == "postgresql":
        postgres: PostgresServer = request.getfixturevalue("postgres")
        return postgres_database(postgres)
    if kind == "mariadb":
        mariadb: MariaDbServer = request.getfixturevalue("mariadb")
        options = JdbcConnectionOptions(mariadb.jdbc_url, MARIADB_USER, MARIADB_PASSWORD)
        return Database("mariadb", options, mariadb.query, "on duplicate key update v = v + values(v)")

    def query(text: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(path) as connection:
            return connection.execute(text).fetchall()

    options = JdbcConnectionOptions(f"jdbc:sqlite:{path}")
    return Database("sqlite", options, query, "on conflict (k) do update set v = v + excluded.v")


def postgres_database(server: PostgresServer) -> Database:
    def query(text: str) -> list[tuple[Any, ...]]:
        if text.startswith("select"):
            return server.query(text)
        server.execute(text)
        return []

    options = JdbcConnectionOptions(server.jdbc_url, USER, PASSWORD)
    return Database("postgresql", options, query, "on conflict (k) do update set v = totals.v + excluded.v")
