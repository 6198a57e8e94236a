"""Runs the programs of docs/connectors as they are written there, with the addresses of the tests' own servers."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.services.processes import wait_until

from penstock.common.errors import JobCancelledError
from penstock.datastream import StreamExecutionEnvironment

_PAGES = Path(__file__).resolve().parents[2] / "docs" / "connectors"
_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


class ConnectorPage:
    """A page of docs/connectors. Its first block is a complete program, later ones go on with its names."""

    def __init__(self, name: str, env: StreamExecutionEnvironment, monkeypatch: pytest.MonkeyPatch) -> None:
        self._blocks = _BLOCK.findall((_PAGES / f"{name}.md").read_text())
        self._env = env
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(StreamExecutionEnvironment, "get_execution_environment", staticmethod(lambda: env))
        self._module = ModuleType("__main__")  # one of its own, so that its functions travel as those of a script
        monkeypatch.setitem(sys.modules, "__main__", self._module)

    def run(
        self, changes: dict[str, str], block: int = 0, until: Callable[[], bool] | None = None, **names: Any
    ) -> None:
        """`until` is for a program that does not end by itself: when it is true, the job is cancelled."""
        if until is not None:
            self._monkeypatch.setattr(self._env, "execute", lambda name: self._run_until(name, until))
        program = self._blocks[block]
        for written, meant in changes.items():
            assert written in program, f"the page does not say {written!r} any more"
            program = program.replace(written, meant)
        vars(self._module).update(names)
        exec(compile(program, "page", "exec"), vars(self._module))

    def _run_until(self, name: str, done: Callable[[], bool]) -> None:
        """Jobs in this process end before execute() does, so that it needs a thread of its own."""
        executor = self._env._executor
        failure: list[BaseException] = []

        def execute() -> None:
            try:
                StreamExecutionEnvironment.execute(self._env, name)
            except BaseException as error:
                failure.append(error)

        job = threading.Thread(target=execute)
        job.start()
        try:
            wait_until(lambda: bool(failure) or done(), f"what the job {name!r} shall do", 60)
        finally:
            executor._job.cancel()  # type: ignore[attr-defined]
            job.join()
        assert len(failure) == 1 and isinstance(failure[0], JobCancelledError), failure
