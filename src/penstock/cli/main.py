"""The command `penstock`: parses the command line and hands it to the chosen verb."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock import __version__
from penstock.cli import run


@dataclass(frozen=True)
class Verb:
    """One sub-command: what it takes, and what it does (returning the exit code)."""

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    execute: Callable[[argparse.Namespace], int]


VERBS = (Verb("run", "run a program", run.configure, run.execute),)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    verb: Verb = arguments.verb
    return verb.execute(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="penstock", description="Flink-style stream processing for Python on Apache Spark."
    )
    parser.add_argument("--version", action="version", version=f"penstock {__version__}")
    verbs = parser.add_subparsers(metavar="command", required=True)
    for verb in VERBS:
        verb_parser = verbs.add_parser(verb.name, help=verb.summary, allow_abbrev=False)
        verb_parser.set_defaults(verb=verb)
        verb.configure(verb_parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
