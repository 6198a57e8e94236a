"""The command `penstock`: parses the command line and hands it to the chosen verb."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from penstock import __version__
from penstock.cli import (
    cancel,
    checkpoint,
    cluster,
    drive,
    history,
    info,
    plan,
    resume,
    run,
    savepoint,
    sql,
    state,
    stop,
)
from penstock.cli import list as list_jobs
from penstock.common.errors import PenstockError


@dataclass(frozen=True)
class Verb:
    """One sub-command: what it takes, and what it does (returning the exit code)."""

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    execute: Callable[[argparse.Namespace], int]
    hidden: bool = False  # not for people


VERBS = (
    Verb("run", "run a program", run.configure, run.execute),
    Verb("sql", "run SQL statements, typed or from a file", sql.configure, sql.execute),
    Verb(
        "run-application",
        "run a manager and one program, which live and die together",
        run.configure_application,
        run.execute_application,
    ),
    Verb("plan", "show the graph of a program without running it", plan.configure, plan.execute),
    Verb("cluster", "start and stop the manager", cluster.configure, cluster.execute),
    Verb("list", "show the jobs that run or wait, and those that died", list_jobs.configure, list_jobs.execute),
    Verb("info", "show what is known about a job", info.configure, info.execute),
    Verb("cancel", "end a job at once", cancel.configure, cancel.execute),
    Verb("stop", "take a savepoint and end a job in order", stop.configure, stop.execute),
    Verb("checkpoint", "take a checkpoint now", checkpoint.configure, checkpoint.execute),
    Verb("savepoint", "take or remove a savepoint", savepoint.configure, savepoint.execute),
    Verb("state", "look into a savepoint, or into the state of a running job", state.configure, state.execute),
    Verb("resume", "start a job again that died or failed", resume.configure, resume.execute),
    Verb("history", "show jobs that have ended", history.configure, history.execute),
    Verb("drive", "run a job for the manager", drive.configure, drive.execute, hidden=True),
)
FAILED = 1
MISUSED = 2


class _Parser(argparse.ArgumentParser):
    """Names the nearest word instead of all that there are."""

    def error(self, message: str) -> NoReturn:
        found = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        known = re.findall(r"[\w-]+", found[2]) if found else []
        nearest = difflib.get_close_matches(found[1], known, n=1) if found else []
        if found and nearest:
            message = f"there is no '{found[1]}': did you mean '{nearest[0]}'?"
        super().error(message)


def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    parser = _parser(verb for verb in VERBS if not verb.hidden or verb.name in argv[:1])
    if not argv:
        parser.print_help(sys.stderr)
        return MISUSED
    arguments, left = parser.parse_known_args(argv)
    if left:  # said with what the verb takes, and not with the names of all verbs
        arguments.parser.error(f"unrecognized arguments: {' '.join(left)}")
    verb: Verb = arguments.verb
    try:
        return verb.execute(arguments)
    except PenstockError as error:
        print(f"penstock {verb.name}: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # whoever read has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes at its end
        return FAILED


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _parser(known: Iterable[Verb]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog="penstock",
        description="Flink-style stream processing for Python on Apache Spark.",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=30),
    )
    parser.add_argument("--version", action="version", version=f"penstock {__version__}")
    verbs = parser.add_subparsers(metavar="command", required=True)
    for verb in known:
        verb_parser = verbs.add_parser(
            verb.name, help=verb.summary, description=f"{_capital(verb.summary)}.", allow_abbrev=False
        )
        verb_parser.set_defaults(verb=verb, parser=verb_parser)
        verb.configure(verb_parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
