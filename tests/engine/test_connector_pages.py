"""The programs of the pages in docs/connectors run; those of Redis, RabbitMQ, ... are beside the tests of these."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyiceberg.catalog import load_catalog
from tests.conftest import EnvironmentFactory
from tests.engine.connector_pages import ConnectorPage
from tests.services.kafka import KafkaBroker, committed_messages, create_topic, produce
from tests.services.postgres import PASSWORD, USER, PostgresServer

from penstock.connectors.postgres_cdc.source import drop_replication_slot
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions


def test_kafka(local_env: EnvironmentFactory, kafka: KafkaBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    words, counts = create_topic(kafka, 2), create_topic(kafka)
    produce(kafka, words, [b"tea", b"milk", b"tea"])

    def results() -> set[bytes]:
        return {message.value() for message in committed_messages(kafka, counts)}

    ConnectorPage("kafka", local_env(2), monkeypatch).run(
        {"localhost:9092": kafka.address, '"words"': f'"{words}"', '"counts"': f'"{counts}"'},
        until=lambda: len(results()) == 3,
    )
    assert results() == {b"tea: 1", b"milk: 1", b"tea: 2"}


def test_databases(
    local_env: EnvironmentFactory,
    postgres: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    postgres.execute("drop table if exists books", "create table books (id int primary key, title text)")
    page = ConnectorPage("jdbc", local_env(), monkeypatch)
    url = {"jdbc:postgresql://localhost:5432/shop": postgres.jdbc_url}
    page.run({**url, '"me"': f'"{USER}"', '"secret"': f'"{PASSWORD}"'})
    assert postgres.query("select * from books order by id") == [(1, "Dune"), (2, "Emma")]
    page.run({".print()": ".print(); env.execute()"}, block=1)
    assert sorted(capsys.readouterr().out.split("\n")) == ["", "+I[1,Dune]", "+I[2,Emma]"]


def test_changes_of_a_table(
    local_env: EnvironmentFactory,
    postgres: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    postgres.execute("drop table if exists books", "create table books (id int primary key, title text)")
    postgres.execute("alter table books replica identity full", "insert into books values (1, 'Dune')")
    printed = ""

    def done() -> bool:
        nonlocal printed
        before = printed
        printed += capsys.readouterr().out
        if not before and printed:
            postgres.execute("update books set title = 'Emma'", "delete from books")
        return "-D" in printed

    url = {"jdbc:postgresql://localhost:5432/shop": postgres.jdbc_url}
    login = {'"me"': f'"{USER}"', '"secret"': f'"{PASSWORD}"', "books_to_search": "page_slot"}
    try:
        ConnectorPage("postgres-cdc", local_env(), monkeypatch).run({**url, **login}, until=done)
    finally:
        drop_replication_slot(JdbcConnectionOptions(postgres.jdbc_url, USER, PASSWORD), "page_slot")
    assert printed.split("\n") == ["+I[1,Dune]", "-U[1,Dune]", "+U[1,Emma]", "-D[1,Emma]", ""]


def test_delta(
    local_env: EnvironmentFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ConnectorPage("delta", local_env(), monkeypatch).run({"/data/views": str(tmp_path / "views")})
    assert sorted(capsys.readouterr().out.split("\n")) == ["", "+I[monday,7]", "+I[tuesday,9]"]
    assert DeltaTable(str(tmp_path / "views")).to_pyarrow_table().num_rows == 2


def test_iceberg(
    local_env: EnvironmentFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"sqlite:////data/catalog.db": f"sqlite:///{tmp_path}/catalog.db", "file:///data": f"file://{tmp_path}"}
    ConnectorPage("iceberg", local_env(), monkeypatch).run(places)
    assert capsys.readouterr().out == "+I[monday,7]\n"
    catalog = load_catalog(
        "default", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse"
    )
    assert catalog.load_table("shop.views").scan().to_arrow().to_pylist() == [{"day": "monday", "views": 7}]


def test_files(local_env: EnvironmentFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text("INFO fine\nERROR one\n")
    (tmp_path / "logs" / "b.log.gz").write_bytes(gzip.compress(b"ERROR two\n"))
    places = {"s3://bucket/logs": str(tmp_path / "logs"), "/data/errors": str(tmp_path / "errors")}
    ConnectorPage("files", local_env(2), monkeypatch).run(places)
    parts = [path for path in (tmp_path / "errors").rglob("*") if path.is_file() and path.name[0] not in "._"]
    assert sorted(line for path in parts for line in path.read_text().splitlines()) == ["ERROR one", "ERROR two"]
