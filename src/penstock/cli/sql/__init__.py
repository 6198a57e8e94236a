"""`penstock sql`: a client for people at a keyboard, and for scripts."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

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
    parser.add_argument("--history", metavar="FILE", help="where typed statements are kept")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.cli.sql.client import Leave, SqlClient, print_error
    from penstock.common.configuration import Configuration
    from penstock.common.errors import PenstockError
    from penstock.common.run_options import RunOptions, set_run_options
    from penstock.table.environment_settings import EnvironmentSettings
    from penstock.table.table_environment import TableEnvironment

    for file in filter(None, (arguments.file, arguments.init)):
        if not os.path.isfile(file):
            print(f"penstock sql: there is no file {file}", file=sys.stderr)
            return 2
    given = dict(arguments.settings)
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
    client = SqlClient(TableEnvironment.create(settings), live=interactive and sys.stdout.isatty())
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
