"""The SQL client without its prompt: runs statements one after the other and shows what they give."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from penstock.cli.sql.results import MODES, show
from penstock.cli.sql.statement_text import cut, without_comments
from penstock.cli.sql.submission import submit
from penstock.common.configuration import Configuration
from penstock.common.errors import PenstockError, ProgramError
from penstock.common.options import validate, value_of
from penstock.table.sql import statements as st
from penstock.table.sql.dialect import parse_statement
from penstock.table.sql.errors import SqlError
from penstock.table.statement_set import StatementSet
from penstock.table.syntax.position import Position
from penstock.table.table_result import TableResult

if TYPE_CHECKING:
    from penstock.client import PenstockClient
    from penstock.table.table_environment import TableEnvironment

HELP = """\
A statement ends with a semicolon and may have several lines.
  HELP, QUIT or EXIT, CLEAR     commands of the client
  SET 'key' = 'value'           an option; SET lists those that are set, RESET takes them back
  SET 'sql-client.execution.result-mode' = 'table' | 'changelog' | 'tableau'
  BEGIN STATEMENT SET; INSERT ..; INSERT ..; END;   several inserts as one job
Tab completes keywords, tables, columns and functions. Ctrl-C ends a query, Ctrl-D the client.
"""


_RESULT_MODE = "sql-client.execution.result-mode"


class Leave(Exception):
    """QUIT was typed."""


class SqlClient:
    """With a manager INSERT is a job of it, and outlives the client."""

    def __init__(self, t_env: TableEnvironment, live: bool = False, manager: PenstockClient | None = None) -> None:
        self.t_env = t_env
        self._live = live
        self._manager = manager
        self._set: StatementSet | None = None
        self._inserts: list[str] = []  # of the set
        self._running: list[TableResult] = []

    def run_script(self, text: str, name: str) -> None:
        """All statements of a file; the first that fails ends it, and says where in the file."""
        found = cut(text)
        statements = list(found.statements)
        if without_comments(found.rest):
            statements.append((found.rest.strip(), text.count("\n", 0, len(text) - len(found.rest.lstrip())) + 1))
        for statement, line in statements:
            print(f"> {statement};")
            try:
                self.run(statement)
            except PenstockError as error:
                raise ProgramError(f"{name}, {_in_file(error, line)}") from error

    def run(self, statement: str) -> None:
        """One statement, without its semicolon."""
        words = without_comments(statement).rstrip(";").upper().split()
        if not words:
            return
        if words in (["QUIT"], ["EXIT"]):
            raise Leave
        if words == ["HELP"]:
            print(HELP)
        elif words == ["CLEAR"]:
            print("\x1b[H\x1b[2J", end="")
        else:
            self._execute(statement, parse_statement(statement))

    def _execute(self, text: str, statement: st.Statement) -> None:
        if isinstance(statement, st.BeginStatementSet):
            self._set, self._inserts = self.t_env.create_statement_set(), []
            print("[INFO] Begin a statement set.")
            return
        if self._set is not None:
            self._in_set(text, statement)
            return
        if self._manager is not None and isinstance(statement, (st.Insert, st.StatementSet)):
            self._hand_over(
                text.strip().removeprefix("EXECUTE").strip() if isinstance(statement, st.StatementSet) else text
            )
            return
        if isinstance(statement, st.SetOption) and statement.key is not None:
            _check(statement.key, statement.value or "")
        mode = self.mode if isinstance(statement, st.QueryStatement) else "TABLEAU"
        began = time.monotonic()
        result = self.t_env.execute_sql(text)
        if isinstance(statement, (st.Insert, st.StatementSet)) or (
            isinstance(statement, st.CreateTable) and statement.query
        ):
            self._submitted(result)
            return
        show(result, mode, self._option("sql-client.execution.max-table-result.rows"), self._live)
        if isinstance(statement, st.QueryStatement) and self._option("sql-client.display.print-time-cost"):
            print(f"({time.monotonic() - began:.2f} seconds)")

    def _in_set(self, text: str, statement: st.Statement) -> None:
        assert self._set is not None
        if isinstance(statement, st.EndStatementSet):
            inserts, self._set = self._set, None
            if self._manager is not None:
                self._hand_over("STATEMENT SET BEGIN " + "".join(f"{one};\n" for one in self._inserts) + "END")
            else:
                self._submitted(inserts.execute())
        elif isinstance(statement, st.Insert):
            self._set.add_insert_sql(text)
            self._inserts.append(text.rstrip().rstrip(";"))
            print("[INFO] Add SQL update statement to the statement set.")
        else:
            raise ProgramError("Only INSERT statements belong into a statement set: END closes it.")

    def _hand_over(self, text: str) -> None:
        assert self._manager is not None
        job = submit(text, self.t_env, self._manager)
        print(f"[INFO] SQL update statement has been successfully submitted to {self._manager.url}:")
        print(f"Job ID: {job}")

    def _submitted(self, result: TableResult) -> None:
        client = result.get_job_client()
        assert client is not None
        print("[INFO] SQL update statement has been successfully submitted:")
        print(f"Job ID: {client.get_job_id()}")
        self._running.append(result)

    @property
    def mode(self) -> str:
        return _mode(str(self._option(_RESULT_MODE)))

    @property
    def in_statement_set(self) -> bool:
        return self._set is not None

    def _option(self, key: str) -> int:
        found: int = value_of(self.t_env.get_config().get_configuration(), key)
        return found

    def running(self) -> list[TableResult]:
        """Jobs of INSERT statements that have not ended."""
        self._running = [result for result in self._running if _is_running(result)]
        return self._running

    def wait(self) -> None:
        """Until all jobs have ended: they run in this process."""
        for result in self._running:
            result.wait()
        self._running = []

    def cancel(self) -> None:
        for result in self.running():
            client = result.get_job_client()
            assert client is not None
            client.cancel().result()


def _is_running(result: TableResult) -> bool:
    client = result.get_job_client()
    if client is None:
        return False
    return not client.get_job_status().result().is_terminal_state()


def print_error(error: Exception, verbose: bool) -> None:
    sys.stdout.flush()
    if verbose:
        import traceback

        traceback.print_exception(error)
    else:
        print(f"[ERROR] {error}", file=sys.stderr)


def _in_file(error: PenstockError, line: int) -> str:
    """The error of a statement that begins on a line of a file: where it is there, not in the statement."""
    if not isinstance(error, SqlError) or error.position is None:
        return f"line {line}: {error}"
    place = Position(line + error.position.line - 1, error.position.column)
    _, end, picture = str(error).partition("\n")
    return f"{place}: {error.message}{end}{picture}"


def _mode(text: str) -> str:
    if text.upper() not in MODES:
        raise ProgramError(f"The result mode is {text.upper()!r}, but can be {', '.join(MODES)}.")
    return text.upper()


def _check(key: str, value: str) -> None:
    """A mistake is told where it is made, and not when the next job starts."""
    validate(Configuration.from_dict({key: value}))
    if key == _RESULT_MODE:
        _mode(value)
