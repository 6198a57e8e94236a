"""`penstock sql`: a client for people at a keyboard, and for scripts."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.client import PenstockClient
    from penstock.common.configuration import Configuration

FAILED = 1


def configure(parser: argparse.ArgumentParser) -> None:
    from penstock.cli.run import _parallelism, _setting

    parser.add_argument("-f", "--file", metavar="FILE", help="run the statements of this file, and leave")
    parser.add_argument("-i", "--init", metavar="FILE", help="run the statements of this file first")
    parser.add_argument("-p", "--parallelism", type=_parallelism, metavar="N", help="default parallelism")
    parser.add_argument(
        "-D",
        dest="settings",
        type=_setting,
        action="append",
        default=[],
        metavar="key=value",
        help="set an option of the session; may be given several times",
    )
    parser.add_argument("--master", metavar="URL", help="Spark master, for example local[4] or spark://host:7077")
    parser.add_argument(
        "-e", "--environment", metavar="FILE", help="options of the session, one `key: value` in each line"
    )
    parser.add_argument(
        "--no-manager", action="store_true", help="run INSERT in this process, though a manager runs in the home"
    )
    parser.add_argument("--history", metavar="FILE", help="where typed statements are kept")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.cli.sql.client import Leave, SqlClient, print_error
    from penstock.common.configuration import Configuration
    from penstock.common.errors import PenstockError
    from penstock.common.run_options import RunOptions, set_run_options
    from penstock.table.environment_settings import EnvironmentSettings
    from penstock.table.table_environment import TableEnvironment

    for file in filter(None, (arguments.file, arguments.init, arguments.environment)):
        if not os.path.isfile(file):
            print(f"penstock sql: there is no file {file}", file=sys.stderr)
            return 2
    given = {**_options_in(arguments.environment), **dict(arguments.settings)}
    set_run_options(
        RunOptions(
            parallelism=arguments.parallelism,
            configuration=given,
            master=arguments.master,
            working_directory=os.getcwd(),
        )
    )
    interactive = arguments.file is None
    configuration = Configuration.from_dict(given)
    if not interactive and "sql-client.execution.result-mode" not in given:
        configuration.set("sql-client.execution.result-mode", "TABLEAU")
    settings = EnvironmentSettings.new_instance().with_configuration(configuration).build()
    manager = None if arguments.no_manager else _manager(configuration)
    client = SqlClient(TableEnvironment.create(settings), interactive and sys.stdout.isatty(), manager)
    try:
        for file in filter(None, (arguments.init, arguments.file)):
            client.run_script(Path(file).read_text("utf-8"), file)
        if interactive:
            _talk(client, arguments.history)
        client.wait()
    except Leave:
        client.wait()
    except KeyboardInterrupt:
        client.cancel()
        return 130
    except PenstockError as error:
        client.cancel()
        print_error(error, False)
        return FAILED
    return 0


def _options_in(file: str | None) -> dict[str, str]:
    """`key: value` or `key = value` in each line; # begins a comment."""
    found = {}
    for line in Path(file).read_text("utf-8").splitlines() if file else ():
        text = line.split("#", 1)[0].strip()
        if text:
            sign = min((sign for sign in (":", "=") if sign in text), key=text.index, default=":")
            key, _, value = text.partition(sign)
            found[key.strip()] = value.strip().strip("'\"")
    return found


def _manager(configuration: Configuration) -> PenstockClient | None:
    from penstock.client import find_manager
    from penstock.common.options import value_of
    from penstock.control.job_home import penstock_home

    return find_manager(penstock_home(value_of(configuration, "penstock.home")).absolute())


def _talk(client: object, history: str | None) -> None:
    from penstock.cli.sql.client import HELP, SqlClient
    from penstock.cli.sql.prompt import talk
    from penstock.common.options import value_of
    from penstock.control.job_home import penstock_home

    assert isinstance(client, SqlClient)
    home = penstock_home(value_of(client.t_env.get_config().get_configuration(), "penstock.home"))
    print(HELP)
    talk(client, Path(history) if history else home / "sql-history")
    running = client.running()
    if running:
        print(f"{len(running)} jobs still run in this process; Ctrl-C cancels them.")
