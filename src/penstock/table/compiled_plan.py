"""Compiled plans, which are refused: a statement is its own plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.table.table_result import TableResult

__all__ = ["CompiledPlan"]

NO_PLANS = (
    "Plans are not compiled to files or JSON: the same statement always gives the same plan with the same uids, so that"
    " savepoints fit. Keep the SQL text instead."
)


class CompiledPlan:
    """Refused."""

    def __init__(self, j_compiled_plan: Any, t_env: Any) -> None:
        raise NotSupportedError(NO_PLANS)

    def as_json_string(self) -> str:
        raise NotSupportedError(NO_PLANS)

    def as_smile_bytes(self) -> bytes:
        raise NotSupportedError(NO_PLANS)

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False) -> None:
        raise NotSupportedError(NO_PLANS)

    def get_flink_version(self) -> str:
        raise NotSupportedError(NO_PLANS)

    def print_json_string(self) -> None:
        raise NotSupportedError(NO_PLANS)

    def execute(self) -> TableResult:
        raise NotSupportedError(NO_PLANS)

    def explain(self, *extra_details: int) -> str:
        raise NotSupportedError(NO_PLANS)

    def print_explain(self, *extra_details: int) -> None:
        raise NotSupportedError(NO_PLANS)
