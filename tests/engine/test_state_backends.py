"""State on disk gives the results of state in memory, and savepoints lead from one to the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.test_savepoints import _build, _normal

from penstock.common import Configuration
from penstock.common.errors import ConfigurationError
from penstock.datastream import StreamExecutionEnvironment
from penstock.runtime import state_log
from penstock.runtime.blueprint import DiskStateSettings
from penstock.testing.local_executor import LocalExecutor

_SMALL = 1 << 20


def _disk(tmp_path: Path) -> DiskStateSettings:
    return DiskStateSettings(str(tmp_path), _SMALL)


def _run(parallelism: int, **options: Any) -> tuple[list[Any], LocalExecutor]:
    executor = LocalExecutor(epoch_records=40, **options)
    env = StreamExecutionEnvironment(executor=executor)
    return list(_build(env, parallelism).execute_and_collect()), executor


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("small_log", [0, 8 << 20])
def test_state_on_disk_gives_the_same_results(
    forget: bool, small_log: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a small log, pages are written behind every delta, and new containers are made of pages and deltas.
    monkeypatch.setattr(state_log, "_SMALL_LOG_BYTES", small_log)
    in_memory, _ = _run(2)
    on_disk, _ = _run(2, forget=forget, disk_state=_disk(tmp_path))
    assert _normal(on_disk) == _normal(in_memory)


@pytest.mark.parametrize("chain", [("hashmap", "rocksdb", "hashmap"), ("rocksdb", "hashmap", "rocksdb")])
@pytest.mark.parametrize("scales", [(2, 2, 2), (1, 4, 2)])
def test_savepoints_lead_from_one_backend_to_the_other(
    chain: tuple[str, ...], scales: tuple[int, ...], tmp_path: Path
) -> None:
    undisturbed, _ = _run(1)
    results: list[Any] = []
    path: str | None = None
    for number, (backend, parallelism) in enumerate(zip(chain, scales, strict=True)):
        part, executor = _run(
            parallelism,
            start_from=path,
            stop_after=2 if number < 2 else None,
            savepoint_directory=str(tmp_path / "savepoints"),
            disk_state=_disk(tmp_path) if backend == "rocksdb" else None,
        )
        results += part
        path = executor.savepoint_path
    assert _normal(results) == _normal(undisturbed)


def _settings(**options: str) -> DiskStateSettings | None:
    return DiskStateSettings.of(Configuration.from_dict({key.replace("_", "."): text for key, text in options.items()}))


def test_backends_are_chosen_by_name() -> None:
    assert _settings() is None
    for name in ("hashmap", "filesystem", "jobmanager", "HASHMAP"):
        assert _settings(state_backend_type=name) is None
    assert _settings(state_backend="rocksdb") == DiskStateSettings(None, 96 << 20)
    chosen = _settings(state_backend_type="rocksdb", state_backend_rocksdb_localdir="/data")
    assert chosen == DiskStateSettings("/data", 96 << 20)
    with pytest.raises(ConfigurationError, match="no state backend 'forst'"):
        _settings(state_backend_type="forst")
