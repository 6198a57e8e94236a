"""The state backend of an environment."""

from __future__ import annotations

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.options import value_of
from penstock.common.state_backend_names import (
    BACKEND,
    HASHMAP,
    LOCAL_DIRECTORIES,
    OLDER_BACKEND,
    chosen_backend,
    local_directories,
)
from penstock.datastream.state_backend import (
    INCREMENTAL,
    EmbeddedRocksDBStateBackend,
    HashMapStateBackend,
    StateBackend,
)


class StateBackendSetting:
    """The backend of an environment: an object and the options that it wrote, or just options."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._backend: StateBackend | None = None
        self._written: dict[str, str] = {}

    def set(self, backend: StateBackend) -> None:
        if not isinstance(backend, StateBackend):
            raise ConfigurationError(f"set_state_backend() takes a StateBackend, got {backend!r}")
        wanted = backend.to_options()
        self.forget()
        for key, text in wanted.items():
            self._configuration.set_string(key, text)
        self._backend, self._written = backend, wanted

    def get(self) -> StateBackend | None:
        """The one that was set, else what the options say; None when nobody has said anything."""
        if self._backend is not None:
            return self._backend
        if not any(self._configuration.contains_key(key) for key in (BACKEND, OLDER_BACKEND)):
            return None
        if chosen_backend(self._configuration) == HASHMAP:
            return HashMapStateBackend()
        return _rocksdb_of(self._configuration)

    def renew(self) -> None:
        """A backend may be changed after it was set, until a job starts."""
        if self._backend is not None and self._backend.to_options() != self._written:
            self.set(self._backend)

    def forget(self) -> None:
        """Takes back what the backend wrote, but not what others have written over it."""
        for key, text in self._written.items():
            if self._configuration.get_string(key, None) == text:
                self._configuration.remove_config(key)
        self._backend, self._written = None, {}


def _rocksdb_of(configuration: Configuration) -> EmbeddedRocksDBStateBackend:
    backend = EmbeddedRocksDBStateBackend(value_of(configuration, INCREMENTAL))
    backend.set_db_storage_paths(*local_directories(value_of(configuration, LOCAL_DIRECTORIES)))
    return backend
