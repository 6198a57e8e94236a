"""INSERT as a job of a manager, which outlives the client: its plan is compiled here and run there."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.common.configuration import Configuration
from penstock.table.session.plan_documents import compiled

if TYPE_CHECKING:
    from penstock.client import PenstockClient
    from penstock.table.table_environment import TableEnvironment

_PROGRAM = '''\
"""A plan that `penstock sql` compiled."""

from penstock.table import EnvironmentSettings, TableEnvironment
from penstock.table.plan_reference import PlanReference

PLAN = {plan!r}

t_env = TableEnvironment.create(EnvironmentSettings.in_{mode}_mode())
t_env.execute_plan(PlanReference.from_json_string(PLAN)).wait()
'''
_OF_THE_CLIENT = ("sql-client.", "table.")  # the plan has the second, the manager needs neither


def submit(text: str, t_env: TableEnvironment, manager: PenstockClient) -> str:
    """The id of the job. Paths in the tables' options are looked up on the manager's machine."""
    document = compiled(text, t_env._session)
    mode = "batch" if document["batch"] else "streaming"
    options: Configuration = t_env.get_config().get_configuration()
    settings = {key: value for key, value in options.to_dict().items() if not key.startswith(_OF_THE_CLIENT)}
    parallelism = settings.pop("parallelism.default", None)
    settings.pop("execution.runtime-mode", None)
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "insert.py"
        program.write_text(_PROGRAM.format(plan=json.dumps(document), mode=mode), "utf-8")
        return manager.submit(
            program,
            name=settings.pop("pipeline.name", None) or " ".join(text.split())[:80],
            parallelism=None if parallelism is None else int(parallelism),
            configuration=settings,
        )
