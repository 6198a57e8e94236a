"""Errors of storage say which table or directory it was, and what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Encoder, Row, Types, WatermarkStrategy
from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.connectors.delta.sink import DeltaSink
from penstock.connectors.delta.source import DeltaSource
from penstock.connectors.files import part_file
from penstock.connectors.iceberg.source import IcebergSource
from penstock.datastream.connectors.elasticsearch import Elasticsearch7SinkBuilder
from penstock.datastream.connectors.file_system import FileSink

ROW = Types.ROW_NAMED(["id"], [Types.INT()])


def test_a_full_disk_is_told_with_the_directory(
    local_env: EnvironmentFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: object, content: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(part_file, "_write_all", full)
    env = local_env()
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    env.from_collection(["a"], Types.STRING()).sink_to(sink)
    with pytest.raises(JobExecutionError, match=f"cannot write into '{tmp_path}': No space left.*Is there room"):
        env.execute()


def test_a_delta_table_that_is_not_there_is_named(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    env = local_env()
    source = DeltaSource(str(tmp_path / "views"), ROW)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "views").print()
    with pytest.raises(JobExecutionError, match=f"Delta table {tmp_path}/views is not there. Create it first"):
        env.execute()


def test_a_delta_table_that_cannot_be_written_is_named(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    env = local_env()
    env.from_collection([Row(1)], ROW).sink_to(DeltaSink(str(tmp_path / "file" / "views"), ROW))
    with pytest.raises(JobExecutionError, match="file/views cannot be written: Not a directory"):
        env.execute()


def test_an_iceberg_table_that_is_not_there_is_named(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    env = local_env()
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}"}
    source = IcebergSource("shop.views", ROW, catalog)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "views").print()
    with pytest.raises(JobExecutionError, match="Iceberg table shop.views is not in its catalog. Create it first"):
        env.execute()


def test_a_catalog_that_cannot_be_opened_does_not_show_its_login(local_env: EnvironmentFactory) -> None:
    env = local_env()
    source = IcebergSource("shop.views", ROW, {"type": "rest", "uri": "nonsense://me:hush@127.0.0.1:1"})
    env.from_source(source, WatermarkStrategy.no_watermarks(), "views").print()
    with pytest.raises(JobExecutionError, match="catalog of the Iceberg table shop.views cannot be opened") as failure:
        env.execute()
    assert "hush" not in str(failure.value)


@pytest.mark.parametrize("host", ["http://::nonsense", "ftp://host:1", "host:port"])
def test_hosts_of_elasticsearch_are_addresses(host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"set_hosts\(\) takes addresses"):
        Elasticsearch7SinkBuilder().set_hosts([host])
