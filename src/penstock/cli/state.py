"""`penstock state`: what is in a savepoint, without running the job, and in the state of a job that runs."""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from penstock.cli.locations import savepoint_location

if TYPE_CHECKING:
    from penstock.state_processor import SavepointReader

_Row = dict[str, Any]


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="action", required=True)
    listing = actions.add_parser("list", help="operators and their states", allow_abbrev=False)
    listing.add_argument("path", metavar="PATH|JOB", help="directory of the savepoint, or id of a job that runs")
    listing.add_argument("--json", action="store_true", help="for scripts")
    listing.set_defaults(action=_list)
    reading = actions.add_parser("read", help="the entries of one state", allow_abbrev=False)
    reading.add_argument("path", metavar="PATH", type=savepoint_location, help="directory of the savepoint")
    reading.add_argument("--uid", required=True, help="uid of the operator")
    what = reading.add_mutually_exclusive_group(required=True)
    what.add_argument("--state", metavar="NAME", help="name of the state")
    what.add_argument("--timers", action="store_true", help="the timers that had not fired")
    what.add_argument("--windows", action="store_true", help="what the windows of the operator hold")
    reading.add_argument("--key", help="only this key, as it is printed")
    reading.add_argument("--format", choices=tuple(_FORMATS), default="table", help="default: table")
    reading.set_defaults(action=_read)
    getting = actions.add_parser("get", help="a key of a running job", allow_abbrev=False)
    getting.add_argument("job", metavar="JOB", help="id of the job, or the beginning of it")
    getting.add_argument("uid", metavar="UID", help="uid of the operator")
    getting.add_argument("state", metavar="STATE", help="name of the state")
    getting.add_argument("key", metavar="KEY", help="the key, as JSON or as Python writes it")
    getting.add_argument(
        "--from-checkpoint",
        action="store_true",
        help="as of the newest checkpoint, not of the epoch that ends next",
    )
    getting.set_defaults(action=_get)


def execute(arguments: argparse.Namespace) -> int:
    action: Callable[[argparse.Namespace], int] = arguments.action
    return action(arguments)


def _list(arguments: argparse.Namespace) -> int:
    from penstock.state_processor import SavepointReader

    if _is_job(arguments.path):
        return _list_running(arguments)
    operators = SavepointReader.load(savepoint_location(arguments.path)).operators()
    if arguments.json:
        print(json.dumps([asdict(operator) for operator in operators]))
        return 0
    rows: list[_Row] = []
    for operator in operators:
        about = {"uid": operator.uid, "operator": operator.name, "of kind": operator.kind}
        parallelism = f"{operator.parallelism} of {operator.max_parallelism}"
        for state in operator.states:
            size = {"entries": f"{state.entries:,}", "bytes": f"{state.bytes:,}"}
            what = {"state": state.name, "kind": state.kind, "type": state.type or "-"}
            rows.append({**about, "parallelism": parallelism, **what, **size})
        if not operator.states:
            nothing = dict.fromkeys(("state", "kind", "type", "entries", "bytes"), "-")
            rows.append({**about, "parallelism": parallelism, **nothing})
    _print_table(rows)
    return 0


def _is_job(text: str) -> bool:
    return re.fullmatch("[0-9a-fA-F]{1,32}", text) is not None and not os.path.exists(text)


def _list_running(arguments: argparse.Namespace) -> int:
    """What `penstock state get` can be asked for."""
    from penstock.cli.job_client import JobClient
    from penstock.cli.submitted_jobs import job_with_driver

    operators = JobClient(job_with_driver(arguments.path)).own("/state")["operators"]
    if arguments.json:
        print(json.dumps(operators))
        return 0
    _print_table(
        {
            "uid": operator["uid"],
            "operator": operator["name"],
            "state": state["name"],
            "kind": state["kind"],
            "type": state["type"] or "-",
            "entries": "-" if state["entries"] is None else f"{state['entries']:,}",
        }
        for operator in operators
        for state in operator["states"]
    )
    return 0


def _read(arguments: argparse.Namespace) -> int:
    from penstock.state_processor import SavepointReader

    rows = _rows(SavepointReader.load(arguments.path), arguments)
    if arguments.key is not None:
        rows = (row for row in rows if arguments.key in (str(row["key"]), repr(row["key"])))
    _FORMATS[arguments.format](rows)
    return 0


def _get(arguments: argparse.Namespace) -> int:
    from urllib.parse import quote

    from penstock.cli.job_client import JobClient
    from penstock.cli.submitted_jobs import job_with_driver
    from penstock.common.errors import JobExecutionError

    path = f"/state/{quote(arguments.uid, safe='')}/{quote(arguments.state, safe='')}"
    query = {"key": arguments.key, "from": "checkpoint" if arguments.from_checkpoint else None}
    answer = JobClient(job_with_driver(arguments.job)).own(path, **query)
    if not answer["entries"]:
        raise JobExecutionError(
            f"the state {arguments.state!r} of {arguments.uid!r} had no key {arguments.key} "
            f"after epoch {answer['epoch']}"
        )
    for entry in answer["entries"]:
        print(json.dumps(entry["value"]))
    return 0


def _rows(reader: SavepointReader, arguments: argparse.Namespace) -> Iterable[_Row]:
    if arguments.timers:
        return [timer._asdict() for timer in reader.read_timers(arguments.uid)]
    if arguments.windows:
        windows = reader.read_window_state(arguments.uid)
        return ({"key": row.key, "window": row.namespace, "contents": row.value} for row in windows)
    if arguments.state in reader.operator_state_names(arguments.uid):
        found = reader.read_operator_state(arguments.uid, arguments.state)
    else:
        found = reader.read_keyed_state(arguments.uid, arguments.state)
    return ({name: getattr(row, name) for name in found.columns} for row in found)


def _print_table(found: Iterable[_Row]) -> None:
    from penstock.cli.tables import print_table

    rows = list(found)
    if not rows:
        print("nothing")
        return
    names = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    print_table([(name, lambda row, name=name: str(row[name])) for name in names], rows)  # type: ignore[misc]


def _print_json(rows: Iterable[_Row]) -> None:
    """One object a line; what JSON does not know is printed as Python writes it."""
    for row in rows:
        print(json.dumps({name: _plain(value) for name, value in row.items()}, default=repr))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name if isinstance(name, str) else repr(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _print_csv(rows: Iterable[_Row]) -> None:
    writer: csv.DictWriter[str] | None = None
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(sys.stdout, list(row), lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)


_FORMATS: dict[str, Callable[[Iterable[_Row]], None]] = {"table": _print_table, "json": _print_json, "csv": _print_csv}
