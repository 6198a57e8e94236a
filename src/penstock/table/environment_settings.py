"""EnvironmentSettings: streaming or batch, and what the built-in catalog is called."""

from __future__ import annotations

from typing import Any

from penstock.common.configuration import Configuration

__all__ = ["EnvironmentSettings"]


class EnvironmentSettings:
    """How a TableEnvironment is made: ``EnvironmentSettings.in_streaming_mode()`` or ``in_batch_mode()``."""

    class Builder:
        """Collects settings."""

        def __init__(self) -> None:
            self._settings = EnvironmentSettings()

        def with_configuration(self, config: Configuration) -> EnvironmentSettings.Builder:
            self._settings._configuration.add_all(config)
            return self

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            self._settings._configuration.set("execution.runtime-mode", "BATCH")
            return self

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            self._settings._configuration.set("execution.runtime-mode", "STREAMING")
            return self

        def with_built_in_catalog_name(self, built_in_catalog_name: str) -> EnvironmentSettings.Builder:
            self._settings._catalog = built_in_catalog_name
            return self

        def with_built_in_database_name(self, built_in_database_name: str) -> EnvironmentSettings.Builder:
            self._settings._database = built_in_database_name
            return self

        def build(self) -> EnvironmentSettings:
            return self._settings

    def __init__(self, j_environment_settings: Any = None) -> None:
        self._configuration = Configuration()
        self._catalog = "default_catalog"
        self._database = "default_database"

    def get_built_in_catalog_name(self) -> str:
        return self._catalog

    def get_built_in_database_name(self) -> str:
        return self._database

    def is_streaming_mode(self) -> bool:
        return str(self._configuration.get_string("execution.runtime-mode", "STREAMING")).upper() != "BATCH"

    def get_configuration(self) -> Configuration:
        return self._configuration

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        return EnvironmentSettings.new_instance().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        return EnvironmentSettings.new_instance().in_batch_mode().build()
