"""What user functions log with Python's `logging`: kept with the operator that says it, and sent to the driver."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.options import value_of
from penstock.runtime.blueprint import OperatorBlueprint

_NAMES_OF_FLINK = {"TRACE": "DEBUG", "ALL": "DEBUG", "FATAL": "CRITICAL", "OFF": "CRITICAL"}
_MOST_LINES = 10_000  # of one subtask in one epoch; what a loop logs must not outgrow the epoch's data


@dataclass(frozen=True)
class LogLine:
    """One message; `str()` is its line in the job's log."""

    created: float  # seconds since 1970
    level: int
    logger: str
    operator: str
    subtask: int  # counted from 0
    parallelism: int
    message: str

    def __str__(self) -> str:
        moment = datetime.fromtimestamp(self.created).isoformat(" ", "milliseconds")
        where = f"{self.operator} ({self.subtask + 1}/{self.parallelism})"
        return f"{moment} {logging.getLevelName(self.level):<7} [{where}] {self.logger}: {self.message}"


@dataclass
class UserLog:
    """The lines of one container since its last report."""

    subtask: int
    lines: list[LogLine] = field(default_factory=list)
    dropped: int = 0

    def take(self) -> list[LogLine]:
        lines, self.lines = self.lines, []
        if self.dropped:
            last = lines[-1]
            text = f"{self.dropped} more messages were dropped: an epoch keeps {_MOST_LINES} of a subtask"
            lines.append(LogLine(last.created, logging.WARNING, __name__, "-", self.subtask, 1, text))
            self.dropped = 0
        return lines


class _ToUserLog(logging.Handler):
    """On the root logger of a worker; silent while no user code runs."""

    def __init__(self) -> None:
        super().__init__()
        self.log: UserLog | None = None
        self.operator: OperatorBlueprint | None = None

    def emit(self, record: logging.LogRecord) -> None:
        log, operator = getattr(_own, "speaker", (self.log, self.operator))
        if log is None:
            return
        if len(log.lines) >= _MOST_LINES:
            log.dropped += 1
            return
        name, parallelism = ("-", 1) if operator is None else (operator.name, operator.parallelism)
        try:
            text = self.format(record)
        except Exception as error:  # a message that does not fit to its arguments must not end the job
            text = f"{record.msg!r} cannot be formatted: {error}"
        log.lines.append(LogLine(record.created, record.levelno, record.name, name, log.subtask, parallelism, text))


_handler = _ToUserLog()
_own = threading.local()  # who speaks in a thread that belongs to one operator
_before: dict[str, int] = {}  # the levels of the loggers that the job of this process overrides


def set_levels(default: str, overrides: Mapping[str, str]) -> None:
    """From which level on messages are kept; Flink's names are known besides Python's."""
    root = logging.getLogger()
    if _handler not in root.handlers:
        root.addHandler(_handler)
    root.setLevel(level_of(default))
    for name, level in _before.items():  # a worker of Spark's has run other jobs before
        logging.getLogger(name).setLevel(level)
    _before.clear()
    for name, text in overrides.items():
        logger = logging.getLogger(name)
        _before[name] = logger.level
        logger.setLevel(level_of(text))


def level_of(name: str) -> int:
    wanted = name.strip().upper()
    found = logging.getLevelNamesMapping().get(_NAMES_OF_FLINK.get(wanted, wanted))
    if found is None:
        raise ConfigurationError(f"{name!r} is no level of python.logging.*: write DEBUG, INFO, WARN or ERROR")
    return found


def levels_of(configuration: Configuration) -> tuple[str, dict[str, str]]:
    """The default, and those of single loggers; checked here, because workers would fail later."""
    default = value_of(configuration, "python.logging.default.level")
    overrides = value_of(configuration, "python.logging.level.overrides") or {}
    for name in (default, *overrides.values()):
        level_of(name)
    return default, overrides


@contextmanager
def logging_to(log: UserLog) -> Iterator[None]:
    before, _handler.log = _handler.log, log
    try:
        yield
    finally:
        _handler.log = before


def speaking(operator: OperatorBlueprint | None) -> OperatorBlueprint | None:
    """Says whose code runs from now on; returns whose ran before."""
    before, _handler.operator = _handler.operator, operator
    return before


def thread_speaks_for() -> Callable[[], None]:
    """To be called at the start of a new thread: what it logs is said by the operator whose code runs here now."""
    speaker = (_handler.log, _handler.operator)

    def speak() -> None:
        _own.speaker = speaker

    return speak
