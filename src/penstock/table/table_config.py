"""TableConfig: the options of a TableEnvironment."""

from __future__ import annotations

import datetime
from typing import Any

from penstock.columns.kernels.time_zone import zone_of
from penstock.common.configuration import Configuration
from penstock.common.errors import NotSupportedError
from penstock.table.sql_dialect import SqlDialect

__all__ = ["TableConfig"]

_ZONE = "table.local-time-zone"
_TTL = "table.exec.state.ttl"
_CODE_LENGTH = "table.generated-code.max-length"
_EXECUTABLE = "python.executable"


class TableConfig:
    """Options by Flink's keys; ``get_configuration()`` is the environment's own configuration."""

    def __init__(self, j_table_config: Any = None, *, configuration: Configuration | None = None) -> None:
        self._configuration = Configuration() if configuration is None else configuration

    def get(self, key: str, default_value: str) -> str:
        return str(self._configuration.get_string(key, default_value))

    def set(self, key: str, value: str) -> TableConfig:
        self._configuration.set(key, value)
        return self

    def get_local_timezone(self) -> str:
        found = str(self._configuration.get_string(_ZONE, "default"))
        return "UTC" if found == "default" else found

    def set_local_timezone(self, timezone_id: str) -> None:
        zone_of(timezone_id)
        self._configuration.set(_ZONE, timezone_id)

    def get_max_generated_code_length(self) -> int:
        return int(self._configuration.get_integer(_CODE_LENGTH, 4000))

    def set_max_generated_code_length(self, max_generated_code_length: int) -> None:
        """Kept and of no effect: no code is generated."""
        self._configuration.set(_CODE_LENGTH, max_generated_code_length)

    def set_idle_state_retention(self, duration: datetime.timedelta) -> None:
        self._configuration.set(_TTL, f"{int(duration.total_seconds() * 1000)} ms")

    def get_idle_state_retention(self) -> datetime.timedelta:
        from penstock.common.option_values import parse_duration

        millis = parse_duration(str(self._configuration.get_string(_TTL, "0 ms")))
        return datetime.timedelta(milliseconds=millis)

    def get_configuration(self) -> Configuration:
        return self._configuration

    def add_configuration(self, configuration: Configuration) -> None:
        self._configuration.add_all(configuration)

    def to_map(self) -> dict[str, str]:
        return self._configuration.to_dict()

    def get_sql_dialect(self) -> int:
        return SqlDialect.DEFAULT

    def set_sql_dialect(self, sql_dialect: int) -> None:
        if sql_dialect == SqlDialect.HIVE:
            raise NotSupportedError("The HIVE dialect is not there: write the statements in Flink SQL.")

    def set_python_executable(self, python_exec: str) -> None:
        self._configuration.set(_EXECUTABLE, python_exec)

    def get_python_executable(self) -> str:
        return str(self._configuration.get_string(_EXECUTABLE, "python"))

    @staticmethod
    def get_default() -> TableConfig:
        return TableConfig()
