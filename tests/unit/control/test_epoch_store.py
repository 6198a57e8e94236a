"""A job goes on from its own records only when they are whole, and those of its Spark checkpoint."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from penstock.common.errors import JobExecutionError
from penstock.control.epoch_store import EpochRecord, EpochStore, Totals


def offset(epoch: int) -> dict[str, Any]:
    return {"epoch": epoch, "positions": {"source": [epoch * 10, False]}}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    store = EpochStore(tmp_path / "job" / "epochs")
    for epoch in (1, 2, 3):
        store.put(EpochRecord(epoch, committables={"sink": [epoch]}, offset=offset(epoch), totals=Totals(epoch, 0)))
    return tmp_path / "job" / "epochs"


def _open(directory: Path) -> EpochStore:
    return EpochStore(directory, lambda: "start from chk-7 with -s")


def test_what_was_put_comes_back(directory: Path) -> None:
    store = _open(directory)
    assert (store.latest.epoch, store.latest.committables, store.latest.totals) == (3, {"sink": [3]}, Totals(3, 0))
    assert store.get(2).committables == {"sink": [2]}
    assert store.get(0) == EpochRecord(0)


def test_every_changed_bit_and_every_missing_byte_of_the_newest_is_found(directory: Path) -> None:
    newest = directory / "000000000003.epoch"
    whole = newest.read_bytes()
    damaged = [whole[:length] for length in range(len(whole))]
    damaged += [whole[:i] + bytes([whole[i] ^ (1 << i % 8)]) + whole[i + 1 :] for i in range(len(whole))]
    damaged.append(whole + b"x")
    for content in damaged:
        newest.write_bytes(content)
        with pytest.raises(JobExecutionError, match=r"000000000003.epoch cannot be used.* start from chk-7 with -s"):
            _open(directory)
    newest.write_bytes(whole)
    assert _open(directory).latest.epoch == 3


def test_records_with_swapped_names_are_found(directory: Path) -> None:
    os.rename(directory / "000000000002.epoch", directory / "000000000004.epoch")
    with pytest.raises(JobExecutionError, match="it is the record of epoch 2"):
        _open(directory)


def test_an_older_record_is_checked_when_it_is_needed(directory: Path) -> None:
    (directory / "000000000002.epoch").unlink()
    store = _open(directory)
    with pytest.raises(JobExecutionError, match="000000000002.epoch cannot be used"):
        store.get(2)


def test_a_later_version_is_refused(directory: Path) -> None:
    newest = directory / "000000000003.epoch"
    newest.write_bytes(newest.read_bytes().replace(b'"version": 2', b'"version": 9', 1))
    with pytest.raises(JobExecutionError, match="version 9"):
        _open(directory)


def test_sparks_logs_must_be_those_of_the_records(directory: Path) -> None:
    store = _open(directory)
    store.check_offsets(offset(3))
    store.check_offsets(offset(3), offset(4))
    store.check_offsets(offset(2), offset(3))  # computed, but not committed by Spark
    for start, end in (
        (offset(0), offset(1)),  # Spark's checkpoint is gone
        (offset(1), offset(2)),  # its newest entries are gone
        (offset(4), offset(5)),  # our newest record is gone
        (offset(3) | {"positions": {"source": [31, False]}}, None),  # a digit has changed
        (offset(2), offset(3) | {"positions": {"source": [31, False]}}),
    ):
        with pytest.raises(JobExecutionError, match=r"Spark's logs .* start from chk-7 with -s"):
            store.check_offsets(start, end)


@pytest.mark.parametrize("where", ["open", "fsync", "replace"])
def test_a_full_disk_leaves_the_record_before(directory: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = _open(directory)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("builtins.open" if where == "open" else f"os.{where}", full)
        with pytest.raises(OSError, match="No space left"):
            store.put(EpochRecord(4, offset=offset(4)))
    assert store.latest.epoch == 3
    assert sorted(path.name for path in directory.iterdir()) == [f"{n:012d}.epoch" for n in (1, 2, 3)]
    store.put(EpochRecord(4, offset=offset(4)))
    assert _open(directory).latest.epoch == 4
