"""A two-phase commit sink: every transaction is a file, which gets its final name when it is committed.

    python examples/transactional_files.py DIRECTORY

See "The classic base classes" in docs/connectors-own.md.
"""

from __future__ import annotations

import contextlib
import os
import sys
import uuid
from pathlib import Path
from typing import IO, Any

from penstock.common import WatermarkStrategy
from penstock.connectors import TwoPhaseCommitSinkFunction
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource


class TransactionalFiles(TwoPhaseCommitSinkFunction[Any, str]):
    """Lines go to `.pending-<id>`; a transaction is the id, and a committed one is the file `<id>.txt`."""

    def __init__(self, directory: str) -> None:
        super().__init__()
        self._directory = Path(directory)

    def open(self, runtime_context: Any) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        self._files: dict[str, IO[str]] = {}

    def begin_transaction(self) -> str:
        transaction = uuid.uuid4().hex
        self._files[transaction] = self._pending(transaction).open("w", encoding="utf-8")
        return transaction

    def invoke(self, transaction: str, value: Any, context: Any) -> None:  # type: ignore[override]
        self._files[transaction].write(f"{value}\n")

    def pre_commit(self, transaction: str) -> None:
        with self._files.pop(transaction) as file:
            file.flush()
            os.fsync(file.fileno())

    def commit(self, transaction: str) -> None:
        with contextlib.suppress(FileNotFoundError):  # it was committed before the crash
            self._pending(transaction).rename(self._directory / f"{transaction}.txt")

    def abort(self, transaction: str) -> None:
        if transaction in self._files:
            self._files.pop(transaction).close()
        self._pending(transaction).unlink(missing_ok=True)

    def _pending(self, transaction: str) -> Path:
        return self._directory / f".pending-{transaction}"


def main(directory: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_source(NumberSequenceSource(1, 1000), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.add_sink(TransactionalFiles(directory)).name("transactional files")
    env.execute("numbers in files")
    files = [path for path in Path(directory).iterdir() if not path.name.startswith(".")]
    lines = [line for path in files for line in path.read_text().split()]
    print(f"{len(lines)} lines in {len(files)} files, {len(set(lines))} different")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
