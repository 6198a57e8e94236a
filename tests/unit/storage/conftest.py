"""The places on which every test of storage runs."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from tests.s3_server import BUCKET, reach

from penstock.storage import Storage, storage_at


@pytest.fixture(params=["directory", "memory", "s3", "pyarrow"])
def storage(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Storage:
    if request.param == "directory":
        return storage_at(f"file://{tmp_path}/home")
    if request.param == "memory":
        return storage_at(f"memory://{uuid.uuid4().hex}/home")
    if request.param == "pyarrow":
        return _through_pyarrow(tmp_path)
    reach(request.getfixturevalue("s3_address"), monkeypatch)
    return storage_at(f"s3://{BUCKET}/{uuid.uuid4().hex}")


def _through_pyarrow(path: Path) -> Storage:
    """As HDFS is reached."""
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow.fs import LocalFileSystem

    from penstock.storage.remote import RemoteStorage

    return RemoteStorage(f"arrow:{path}", ArrowFSWrapper(LocalFileSystem()), f"{path}/arrow")
