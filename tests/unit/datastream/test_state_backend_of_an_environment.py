"""State backends and checkpoint storages of an environment are written into its options."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest

from penstock.cli import pyflink_alias
from penstock.common import Configuration
from penstock.common.errors import ConfigurationError, NotSupportedError, ProgramError
from penstock.datastream import (
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    FsStateBackend,
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    MemoryStateBackend,
    PredefinedOptions,
    StateBackend,
    StreamExecutionEnvironment,
)
from penstock.engines.local.executor import LocalExecutor

DEFAULTS = {"parallelism.default"}


def environment(**options: str) -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict({key.replace("_", "."): text for key, text in options.items()})
    return StreamExecutionEnvironment(configuration, LocalExecutor())


def written(env: StreamExecutionEnvironment) -> dict[str, str]:
    """The options of the environment, as a job gets them."""
    return {key: text for key, text in env._configuration.to_dict().items() if key not in DEFAULTS}


def test_nothing_is_said_about_the_default() -> None:
    env = environment()
    assert env.get_state_backend() is None and written(env) == {}


def test_a_backend_is_written_into_the_options_and_given_back() -> None:
    env, backend = environment(), MemoryStateBackend("file:///c", max_state_size=10)
    assert env.set_state_backend(backend) is env
    assert env.get_state_backend() is backend
    assert written(env) == backend.to_options()


def test_another_backend_leaves_nothing_of_the_one_before() -> None:
    env = environment()
    env.set_state_backend(MemoryStateBackend("file:///c", "file:///s", max_state_size=10))
    env.set_state_backend(HashMapStateBackend())
    assert written(env) == {"state.backend.type": "hashmap"}
    env.set_state_backend(FsStateBackend("file:///c", "file:///s"))
    env.set_default_savepoint_directory("file:///other")
    env.set_state_backend(EmbeddedRocksDBStateBackend())
    assert written(env) == {
        "state.backend.type": "rocksdb",
        "execution.checkpointing.savepoint-dir": "file:/other",
    }


def test_options_that_come_later_win() -> None:
    env = environment()
    env.set_state_backend(MemoryStateBackend(max_state_size=10))
    env.configure(Configuration.from_dict({"state.backend": "rocksdb", "state.backend.rocksdb.localdir": "/a,/b"}))
    backend = env.get_state_backend()
    assert isinstance(backend, EmbeddedRocksDBStateBackend)
    assert backend.get_db_storage_paths() == ["/a", "/b"]
    assert written(env) == {"state.backend": "rocksdb", "state.backend.rocksdb.localdir": "/a,/b"}


def test_options_are_shown_as_a_backend() -> None:
    assert isinstance(environment(state_backend_type="hashmap").get_state_backend(), HashMapStateBackend)
    assert isinstance(environment(state_backend="rocksdb").get_state_backend(), EmbeddedRocksDBStateBackend)
    with pytest.raises(ConfigurationError, match="no state backend 'forst'"):
        environment(state_backend="forst").get_state_backend()


def test_a_backend_may_be_changed_until_a_job_starts(tmp_path: Any) -> None:
    env, backend = environment(), EmbeddedRocksDBStateBackend()
    env.set_state_backend(backend)
    backend.set_db_storage_paths(str(tmp_path))
    stream = env.from_collection([1, 2, 3]).key_by(lambda n: n).map(lambda n: n)
    assert sorted(stream.execute_and_collect()) == [1, 2, 3]
    assert written(env)["state.backend.rocksdb.localdir"] == str(tmp_path)
    assert (tmp_path / "penstock-state").is_dir()


def test_what_has_no_effect_is_warned_of() -> None:
    env, backend = environment(), EmbeddedRocksDBStateBackend(True)
    backend.set_predefined_options(PredefinedOptions.FLASH_SSD_OPTIMIZED)
    backend.set_number_of_transfer_threads(8)
    env.set_state_backend(backend)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(env.from_collection([1]).execute_and_collect())
    text = "\n".join(str(warning.message) for warning in caught)
    for key in ("checkpointing.incremental", "rocksdb.predefined-options", "transfer.thread.num"):
        assert key in text


@pytest.mark.parametrize("backend", [None, "rocksdb", HashMapStateBackend])
def test_only_backends_are_taken(backend: Any) -> None:
    with pytest.raises(ConfigurationError, match="takes a StateBackend"):
        environment().set_state_backend(backend)


def test_a_backend_of_ones_own_is_refused() -> None:
    class Mine(StateBackend):
        pass

    env = environment()
    env.set_state_backend(HashMapStateBackend())
    with pytest.raises(NotSupportedError, match="Mine is no backend"):
        env.set_state_backend(Mine())
    assert isinstance(env.get_state_backend(), HashMapStateBackend)


# -- where checkpoints and savepoints go ---------------------------------------------------------------------------


def test_the_default_directory_of_savepoints() -> None:
    env = environment(state_savepoints_dir="/older")
    assert env.get_default_savepoint_directory() == "/older"
    assert env.set_default_savepoint_directory("file:///newer/") is env
    assert env.get_default_savepoint_directory() == "file:/newer"
    for path, shown in (("/plain", "/plain"), ("relative", "relative"), ("/", "/")):
        assert env.set_default_savepoint_directory(path).get_default_savepoint_directory() == shown
    for nothing in (None, ""):
        with pytest.raises(ProgramError, match="takes a path"):
            env.set_default_savepoint_directory(nothing)  # type: ignore[arg-type]


def test_checkpoint_storages_are_written_into_the_options() -> None:
    env = environment()
    checkpoints = env.get_checkpoint_config()
    assert checkpoints.get_checkpoint_storage() is None
    assert checkpoints.set_checkpoint_storage(JobManagerCheckpointStorage(max_state_size=10)) is checkpoints
    limited = env.get_checkpoint_config().get_checkpoint_storage()
    assert isinstance(limited, JobManagerCheckpointStorage) and limited.get_max_state_size() == 10
    checkpoints.set_checkpoint_storage_dir("file:///c")
    stored = checkpoints.get_checkpoint_storage()
    assert isinstance(stored, FileSystemCheckpointStorage) and stored.get_checkpoint_path() == "file:/c"
    plain = environment(state_checkpoints_dir="/older").get_checkpoint_config().get_checkpoint_storage()
    assert isinstance(plain, FileSystemCheckpointStorage) and plain.get_checkpoint_path() == "file:/older"
    with pytest.raises(ConfigurationError, match="set_checkpoint_storage_dir"):
        checkpoints.set_checkpoint_storage("file:///c")  # type: ignore[arg-type]


def test_old_names_can_be_imported_as_from_pyflink() -> None:
    pyflink_alias.install()
    for module in ("pyflink.datastream", "pyflink.datastream.state_backend"):
        found = importlib.import_module(module)
        assert found.MemoryStateBackend is MemoryStateBackend
        assert found.FsStateBackend is FsStateBackend
        assert issubclass(found.RocksDBStateBackend, StateBackend)
