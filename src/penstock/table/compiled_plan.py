"""Compiled plans: INSERT statements with all that they name, to be kept in a file and run later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.session.explanation import explanation
from penstock.table.session.plan_documents import Document, executed, explained
from penstock.table.table_result import TableResult

if TYPE_CHECKING:
    from penstock.table.table_environment import TableEnvironment

__all__ = ["CompiledPlan"]

NO_SMILE = "Plans are kept as JSON, not in Jackson's binary form: use as_json_string() and from_json_string()."


class CompiledPlan:
    """Made by ``t_env.compile_plan_sql(..)`` or ``t_env.load_plan(..)``."""

    def __init__(self, j_compiled_plan: Document, t_env: TableEnvironment) -> None:
        self._document = j_compiled_plan
        self._t_env = t_env

    def as_json_string(self) -> str:
        return json.dumps(self._document, indent=2)

    def as_smile_bytes(self) -> bytes:
        raise NotSupportedError(NO_SMILE)

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False) -> None:
        """Never overwrites: the plan of a running job should not change under it."""
        path = Path(file)
        if path.exists():
            if ignore_if_exists:
                return
            raise ProgramError(f"There is a plan {str(path)!r} already: remove it, or compile IF NOT EXISTS.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.as_json_string(), "utf-8")

    def get_flink_version(self) -> str:
        """The version of Penstock that compiled it."""
        return str(self._document["penstockVersion"])

    def print_json_string(self) -> None:
        print(self.as_json_string())

    def execute(self) -> TableResult:
        """Starts the job, and returns at once."""
        return executed(self._document, self._t_env._session)

    def explain(self, *extra_details: int) -> str:
        session = self._t_env._session
        return explained(self._document, session, lambda sinks: explanation(sinks, session, extra_details))

    def print_explain(self, *extra_details: int) -> None:
        print(self.explain(*extra_details))

    def __repr__(self) -> str:
        return f"CompiledPlan({self._document['statement']!r})"
