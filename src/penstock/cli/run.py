"""`penstock run`: runs a program in this process, as `python script.py` would, with the chosen options."""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.cli import script
from penstock.cli.locations import savepoint_location
from penstock.cli.program_packages import make_importable

if TYPE_CHECKING:
    from penstock.common.run_options import RunOptions
    from penstock.control.progress import JobProgress

FINISHED_OR_STOPPED = 0
FAILED = 1
WRONG_USAGE = 2
INTERRUPTED_WITHOUT_A_JOB = 130


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-d",
        "--detached",
        action="store_true",
        help="submit to the manager (penstock cluster) and return",
    )
    parser.add_argument("--ui", action="store_true", help="serve the web page while the job runs, on rest.port")
    _add_program(parser)


def configure_application(parser: argparse.ArgumentParser) -> None:
    _add_program(parser)


def add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-D",
        dest="settings",
        type=_setting,
        action="append",
        default=[],
        metavar="key=value",
        help="set a configuration option; may be given several times",
    )


def add_script(parser: argparse.ArgumentParser) -> None:
    """The program, and what decides about its graph."""
    parser.add_argument("--pyflink", action="store_true", help="let the program's imports of pyflink mean penstock")
    parser.add_argument("-p", "--parallelism", type=_parallelism, metavar="N", help="default parallelism")
    add_settings(parser)
    parser.add_argument("--name", metavar="NAME", help="name of the job")
    parser.add_argument("-v", "--verbose", action="store_true", help="show Spark's log and whole tracebacks")
    parser.add_argument("script", metavar="script.py", help="the program")
    arguments = parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the program")
    arguments.required = False  # argparse would say that the rest, which may be empty, is missing


def _add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--master", metavar="URL", help="Spark master, for example local[4] or spark://host:7077")
    parser.add_argument(
        "--job-id",
        metavar="ID",
        type=_job_id,
        help="32 hexadecimal digits; goes on from that job's last epoch if it has one, and runs no job a second time",
    )
    add_take_over(parser)
    parser.add_argument(
        "-s",
        "--from-savepoint",
        dest="savepoint_path",
        type=savepoint_location,
        metavar="PATH",
        help="start with the state of this savepoint or checkpoint, or of the newest checkpoint in this directory",
    )
    parser.add_argument(
        "--allow-non-restored-state",
        action="store_true",
        help="leave out state of the savepoint whose operator is not in the program any more",
    )
    add_script(parser)


def add_take_over(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--take-over",
        action="store_true",
        help="take the job from a driver that is there but does not answer; that one can commit nothing any more",
    )


def execute(arguments: argparse.Namespace) -> int:
    if not is_there(arguments.script, "run"):
        return WRONG_USAGE
    from penstock.common.errors import PenstockError

    try:
        if arguments.detached:
            _check_detached(arguments)
            return _submit(arguments)
        options = _run_options(arguments)
        options.web_page = arguments.ui
        if arguments.ui:  # the page shows flame graphs, as that of a manager does
            options.configuration.setdefault("rest.flamegraph.enabled", "true")
    except PenstockError as error:
        return report_penstock_error(error, arguments.script, arguments.verbose)
    return run_program(options, arguments.script)


def is_there(script_path: str, verb: str) -> bool:
    if not os.path.isfile(script_path):
        what = "is a directory" if os.path.isdir(script_path) else "does not exist"
        print(f"penstock {verb}: the program {script_path} {what}", file=sys.stderr)
        return False
    return True


def execute_application(arguments: argparse.Namespace) -> int:
    """The job's own process is its manager: it serves the web page, restarts by the strategy, and ends with the job."""
    arguments.detached, arguments.ui = False, True
    return execute(arguments)


def _check_detached(arguments: argparse.Namespace) -> None:
    from penstock.common.errors import ConfigurationError

    if arguments.ui:
        raise ConfigurationError("--ui is for a job of this process: the manager that takes a job with -d has a page")
    if arguments.take_over:
        raise ConfigurationError("--take-over is for a job of this process: `penstock resume JOB --take-over`")


def _submit(arguments: argparse.Namespace) -> int:
    from penstock.client import find_manager
    from penstock.common.configuration import Configuration
    from penstock.common.errors import JobExecutionError
    from penstock.common.options import value_of
    from penstock.control.job_home import penstock_home

    options = _run_options(arguments)
    home = penstock_home(value_of(Configuration.from_dict(options.configuration), "penstock.home")).absolute()
    manager = find_manager(home)
    if manager is None:
        raise JobExecutionError(f"no manager runs in {home}: start one with `penstock cluster start`")
    settings = dict(options.configuration)
    if options.master is not None:
        settings["spark.master"] = options.master
    job_id = manager.submit(
        arguments.script,
        options.arguments,
        parallelism=options.parallelism,
        savepoint=options.savepoint_path,
        allow_non_restored_state=options.allow_non_restored_state,
        name=options.job_name,
        pyflink=options.pyflink_imports,
        configuration=settings,
        job_id=options.job_id,
        upload=False,
    )
    print(job_id)
    return FINISHED_OR_STOPPED


def _run_options(arguments: argparse.Namespace) -> RunOptions:
    from penstock.common.errors import ConfigurationError

    if arguments.allow_non_restored_state and arguments.savepoint_path is None:
        raise ConfigurationError(
            "--allow-non-restored-state is about the state of a savepoint: give that with --from-savepoint PATH"
        )
    if arguments.take_over and arguments.job_id is None:
        raise ConfigurationError("--take-over needs to know which job: give its id with --job-id ID")
    return replace(
        program_options(arguments),
        master=arguments.master,
        job_id=arguments.job_id,
        show_status=terminal_can_show_status(),
        savepoint_path=arguments.savepoint_path,
        allow_non_restored_state=arguments.allow_non_restored_state,
        take_over=arguments.take_over,
    )


def program_options(arguments: argparse.Namespace) -> RunOptions:
    """Of what add_script() takes."""
    from penstock.common.run_options import RunOptions

    if arguments.settings:
        from penstock.common.options import validate_key

        for key, _ in arguments.settings:
            validate_key(key)
    return RunOptions(
        parallelism=arguments.parallelism,
        configuration=dict(arguments.settings),
        job_name=arguments.name,
        verbose=arguments.verbose,
        pyflink_imports=arguments.pyflink,
        script_path=os.path.abspath(arguments.script),
        arguments=tuple(arguments.args),
        working_directory=os.getcwd(),
    )


def terminal_can_show_status() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def run_program(options: RunOptions, script_path: str) -> int:
    """Runs the program with these options in this process; gives the exit code."""
    from penstock.common.errors import PenstockError
    from penstock.common.run_options import set_run_options
    from penstock.control.progress import set_progress_listener

    if options.pyflink_imports:
        from penstock.cli import pyflink_alias

        pyflink_alias.install()
    set_run_options(options)
    options.environment_expected = lambda: _start_spark_ahead(options)
    watch = _JobWatch(options.show_status)
    set_progress_listener(watch.on_progress)
    try:
        make_importable(options.configuration)
        script.run_as_main(script_path, list(options.arguments))
    except KeyboardInterrupt:
        watch.close()
        return FINISHED_OR_STOPPED if watch.job_was_stopped else INTERRUPTED_WITHOUT_A_JOB
    except PenstockError as error:
        watch.close()
        return report_penstock_error(error, script_path, options.verbose)
    except Exception as error:
        watch.close()
        if not options.verbose:
            script.cut_own_frames(error)
        sys.excepthook(type(error), error, error.__traceback__)
        return FAILED
    finally:
        watch.close()
        set_progress_listener(None)
    return FINISHED_OR_STOPPED


def _start_spark_ahead(options: RunOptions) -> None:
    """Its JVM takes seconds to start, in which the program builds its graph, and the engine is loaded."""
    from penstock.common.configuration import Configuration
    from penstock.common.options import value_of
    from penstock.control.job_home import penstock_home
    from penstock.engines.spark.gateway import start_jvm_ahead

    configuration = Configuration.from_dict(options.configuration)
    spark = {key: value for key, value in options.configuration.items() if key.startswith("spark.")}
    log_file = penstock_home(value_of(configuration, "penstock.home")) / "logs" / "spark.log"
    start_jvm_ahead(options.master, spark, log_file, options.verbose)


def report_penstock_error(error: Exception, script_path: str, verbose: bool) -> int:
    """These messages are written for the user; the way through our code to them is of interest only to us."""
    from penstock.common.errors import JobExecutionError

    sys.stdout.flush()
    if verbose:
        sys.excepthook(type(error), error, error.__traceback__)
        return FAILED
    print(f"penstock: {error}", file=sys.stderr)
    user_line = script.innermost_user_line(error, script_path)
    if user_line and not isinstance(error, JobExecutionError):  # that one names the line that matters itself
        print(f"  at {user_line}", file=sys.stderr)
    return FAILED


class _JobWatch:
    """Listens to the job: draws the status line, and knows whether Ctrl-C hit a job or only the program."""

    def __init__(self, show_status: bool) -> None:
        self._last: JobProgress | None = None
        self._status_line = None
        if show_status:
            from penstock.cli.status_line import StatusLine

            self._status_line = StatusLine()
            self._status_line.guard_standard_streams()

    @property
    def job_was_stopped(self) -> bool:
        """The executor stops its job before it lets the interrupt through: a job once seen is stopped now."""
        return self._last is not None and self._last.state.name != "FAILED"

    def on_progress(self, progress: JobProgress) -> None:
        self._last = progress
        if self._status_line is not None:
            self._status_line.update(
                progress.state.name,
                progress.epoch,
                progress.records_in,
                progress.records_out,
                progress.rate,
                progress.watermark_lag_ms,
            )

    def close(self) -> None:
        if self._status_line is not None:
            self._status_line.close()


def _job_id(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{32}", text):
        raise argparse.ArgumentTypeError(f"a job id has 32 hexadecimal digits (0-9, a-f), got {text!r}")
    return text


def _parallelism(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=value")
    return key.strip(), value.strip()
