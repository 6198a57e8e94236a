"""`penstock plan`: the graph of a program without running it, for people or as `GET /jobs/:job/plan` would show it."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from typing import TYPE_CHECKING, Any

from penstock.cli import run, script
from penstock.cli.program_packages import make_importable

if TYPE_CHECKING:
    from penstock.graph.job_request import JobRequest


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for scripts: as GET /jobs/:job/plan of the REST interface")
    run.add_script(parser)


class _Planned(BaseException):
    """The program has come to its first job, and is left there; no `except Exception` of it may go on."""

    def __init__(self, plan: Any) -> None:
        super().__init__()
        self.plan = plan


def execute(arguments: argparse.Namespace) -> int:
    """What the program prints on its way goes to standard error."""
    from penstock.common.errors import PenstockError
    from penstock.common.run_options import set_run_options

    if not run.is_there(arguments.script, "plan"):
        return run.WRONG_USAGE
    try:
        options = run.program_options(arguments)
        options.instead_of_running = _leave
        if options.pyflink_imports:
            from penstock.cli import pyflink_alias

            pyflink_alias.install()
        set_run_options(options)
        with contextlib.redirect_stdout(sys.stderr):
            make_importable(options.configuration)
            script.run_as_main(arguments.script, list(options.arguments))
    except _Planned as planned:
        if arguments.json:
            print(json.dumps(planned.plan))
        else:
            _print(planned.plan["plan"])
        return run.FINISHED_OR_STOPPED
    except PenstockError as error:
        return run.report_penstock_error(error, arguments.script, arguments.verbose)
    except Exception as error:
        if not arguments.verbose:
            script.cut_own_frames(error)
        sys.excepthook(type(error), error, error.__traceback__)
        return run.FAILED
    print(f"penstock plan: the program {arguments.script} has no job: it calls no execute()", file=sys.stderr)
    return run.FAILED


def _print(plan: Any) -> None:
    from penstock.cli import tables

    names = {node["id"]: node["description"] for node in plan["nodes"]}

    def inputs(node: Any) -> str:
        return "\n".join(f"{names[each['id']]} ({each['ship_strategy'].lower()})" for each in node["inputs"]) or "-"

    tables.print_facts([("job", plan["name"]), ("type", plan["type"].lower())])
    tables.print_table(
        (
            ("operator", lambda node: node["description"]),
            ("kind", lambda node: node["penstock"]["kind"]),
            ("parallelism", lambda node: tables.text(node["parallelism"])),
            ("reads from", inputs),
            ("uid", lambda node: node["id"]),
            ("at", lambda node: tables.text(node["penstock"]["origin"])),
        ),
        plan["nodes"],
    )


def _leave(request: JobRequest) -> None:
    from penstock.common.job_status import JobStatus
    from penstock.control.job_record import record_of
    from penstock.manager.job_files import describe_record
    from penstock.plan.translation import translate
    from penstock.rest.job_views import plan
    from penstock.runtime.blueprint import JobSettings

    blueprint = translate(request, JobSettings("0" * 32, request.name))
    raise _Planned(plan(describe_record(record_of(blueprint), (), JobStatus.CREATED)))
