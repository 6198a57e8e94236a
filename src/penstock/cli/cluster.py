"""`penstock cluster start|stop|status`: the manager as a daemon of this home."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli.run import add_settings

if TYPE_CHECKING:
    from penstock.common.configuration import Configuration

_START_SECONDS = 60.0
_END_SECONDS = 10.0
_POLL_SECONDS = 0.1


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(metavar="action", required=True)
    start = actions.add_parser("start", help="start the manager, in the background", allow_abbrev=False)
    add_settings(start)
    start.add_argument("--foreground", action="store_true", help="stay in this terminal")
    start.set_defaults(action=_start)
    stop = actions.add_parser("stop", help="end the manager; its jobs run on, unless they are cancelled")
    stop.add_argument("--cancel-jobs", action="store_true", help="cancel the jobs first")
    add_settings(stop)
    stop.set_defaults(action=_stop)
    status = actions.add_parser("status", help="whether a manager runs, and where", allow_abbrev=False)
    status.add_argument("--json", action="store_true", help="for scripts")
    add_settings(status)
    status.set_defaults(action=_status)


def execute(arguments: argparse.Namespace) -> int:
    action: Callable[[argparse.Namespace], int] = arguments.action
    return action(arguments)


def _start(arguments: argparse.Namespace) -> int:
    from penstock.client import find_manager
    from penstock.common.errors import JobExecutionError

    configuration = _configuration(arguments)
    home = _home(configuration)
    if arguments.foreground:
        return _serve(configuration, home)
    running = find_manager(home)
    if running is not None:
        print(f"a manager runs already: {running.url}")
        return 0
    log = _log_file(configuration, home)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JobExecutionError(
            f"{log.parent} cannot be made ({error.strerror}): PENSTOCK_HOME, or env.log.dir for the log, is to be a "
            "directory that you may write to"
        ) from None
    settings = [part for key, value in arguments.settings for part in ("-D", f"{key}={value}")]
    with open(log, "ab") as output:
        before = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-m", "penstock.cli.main", "cluster", "start", "--foreground", *settings],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "PENSTOCK_HOME": str(home)},
        )
    deadline = time.monotonic() + _START_SECONDS
    while find_manager(home) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            said = log.read_bytes()[before:].decode(errors="replace").splitlines()[-10:]
            raise JobExecutionError(f"the manager did not start (log: {log}):\n" + "\n".join(said))
        time.sleep(_POLL_SECONDS)
    _print_address(home)
    return 0


def _serve(configuration: Configuration, home: Path) -> int:
    from penstock.manager.service import ManagerService

    pid_file = _pid_file(configuration, home)
    service = ManagerService(home, configuration, _log_file(configuration, home))
    pid_file.parent.mkdir(parents=True, exist_ok=True)
    pid_file.write_text(f"{os.getpid()}\n")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: service.stop())
    print(f"penstock: the manager listens at {service.url}", flush=True)
    try:
        service.run()
    finally:
        pid_file.unlink(missing_ok=True)
    return 0


def _stop(arguments: argparse.Namespace) -> int:
    from penstock.client import find_manager

    configuration = _configuration(arguments)
    home = _home(configuration)
    client = find_manager(home)
    if client is None:
        print(f"no manager runs in {home}")
        return 0
    running = [job for job in client.jobs() if job["end-time"] == -1 and job["state"] != "SUSPENDED"]
    if arguments.cancel_jobs:
        for job in running:
            client.job(job["jid"]).cancel()
        while any(client.job(job["jid"]).status() not in _ENDED for job in running):
            time.sleep(_POLL_SECONDS)
        running = []
    pid = _address(home)["pid"]
    client.shut_down()
    deadline = time.monotonic() + _END_SECONDS
    while find_manager(home) is not None or (_is_there(pid) and time.monotonic() < deadline):
        time.sleep(_POLL_SECONDS)
    print("the manager has ended")
    waiting = sum(bool(job["penstock"]["waiting"]) for job in running)
    if len(running) > waiting:
        print(f"jobs that run on: {len(running) - waiting}; the next manager of {home} finds them")
    if waiting:
        print(f"jobs that wait: {waiting}; the next manager starts them")
    return 0


def _is_there(pid: int | None) -> bool:
    """It leaves its address first and the home last, and whoever starts the next one needs the home."""
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # of another user
    return True


_ENDED = ("FINISHED", "CANCELED", "FAILED")


def _status(arguments: argparse.Namespace) -> int:
    from penstock.client import find_manager

    home = _home(_configuration(arguments))
    client = find_manager(home)
    if client is None:
        words = f"no manager runs in {home}: start one with `penstock cluster start`"
        print(json.dumps({"running": False}) if arguments.json else words)
        return 1
    overview = client.overview()
    if arguments.json:
        print(json.dumps({"running": True, **_address(home), **overview}, indent=2))
        return 0
    _print_address(home)
    print(
        f"jobs: {overview['jobs-running']} running, {overview['penstock']['jobs-waiting']} waiting, "
        f"{overview['jobs-finished']} finished, {overview['jobs-cancelled']} cancelled, "
        f"{overview['jobs-failed']} failed; slots: {overview['slots-available']} of {overview['slots-total']} free"
    )
    return 0


def _print_address(home: Path) -> None:
    address = _address(home)
    print(f"the manager of {home} runs as process {address['pid']}")
    print(f"  {address['page']}")


def _address(home: Path) -> dict[str, Any]:
    from penstock.client.access import read_access
    from penstock.client.jobs import MANAGER_DIRECTORY

    access = read_access(home / MANAGER_DIRECTORY)
    if access is None:
        return {"url": None, "page": None, "pid": None}
    return {"url": access.url, "page": access.page, "pid": access.pid}


def _configuration(arguments: argparse.Namespace) -> Configuration:
    from penstock.common.configuration import Configuration
    from penstock.common.options import validate_key

    for key, _ in arguments.settings:
        validate_key(key)
    return Configuration.from_dict(dict(arguments.settings))


def _home(configuration: Configuration) -> Path:
    from penstock.common.options import value_of
    from penstock.control.job_home import penstock_home

    return penstock_home(value_of(configuration, "penstock.home")).absolute()


def _log_file(configuration: Configuration, home: Path) -> Path:
    from penstock.common.options import value_of

    return Path(value_of(configuration, "env.log.dir") or home / "logs") / "manager.log"


def _pid_file(configuration: Configuration, home: Path) -> Path:
    from penstock.common.options import value_of

    return Path(value_of(configuration, "env.pid.dir") or home / "manager") / "penstock-manager.pid"
