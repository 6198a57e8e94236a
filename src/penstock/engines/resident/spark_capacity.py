"""How many tasks a cluster can ever run at the same time: asked before a job waits for slots that do not exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext

from penstock.engines.resident.slot_limits import task_cores, tasks_by_settings, tasks_on
from penstock.engines.spark.session import settings_of

_STANDALONE = "spark://"


def most_tasks(context: SparkContext) -> int | None:
    """Of this application, also if others use the cluster just now; None: nobody knows."""
    settings = settings_of(context)
    limits = tasks_by_settings(str(context.master), settings), _of_standalone_master(context, settings)
    return min((limit for limit in limits if limit is not None), default=None)


def _of_standalone_master(context: SparkContext, settings: Mapping[str, str]) -> int | None:
    """On all workers that there are."""
    if not str(context.master).startswith(_STANDALONE):
        return None
    addresses = str(context.master).removeprefix(_STANDALONE).split(",")
    try:
        states = (_master_state(context, address) for address in addresses)
        state = next((state for state in states if state is not None), None)
        if state is None:
            return None
        app = next((app for app in state.activeApps() if app.id() == context.applicationId), None)
        return None if app is None else _tasks_of(app, state.workers(), settings)
    except (Py4JError, TypeError):  # another version of Spark has other messages
        return None


def _master_state(context: SparkContext, address: str) -> Any:
    """As the master's own web page asks for it; None if another one leads."""
    java: Any = context._jvm
    host, _, port = address.rpartition(":")
    rpc = context._jsc.sc().schedulerBackend().rpcEnv()
    master = rpc.setupEndpointRef(java.org.apache.spark.rpc.RpcAddress(host, int(port)), "Master")
    state = master.askSync(
        _singleton(java.org.apache.spark.deploy, "DeployMessages$RequestMasterState$"),
        _singleton(java.scala.reflect, "ClassTag$").Any(),
    )
    return state if str(state.status()) == "ALIVE" else None


def _singleton(package: Any, name: str) -> Any:
    return getattr(getattr(package, name), "MODULE$")


def _tasks_of(app: Any, workers: Iterable[Any], settings: Mapping[str, str]) -> int:
    wanted = app.desc()
    cores = wanted.coresPerExecutor()
    alive = [(int(w.cores()), int(w.memory())) for w in workers if str(w.state()) == "ALIVE"]
    return tasks_on(
        alive,
        task_cores(settings),
        int(wanted.memoryPerExecutorMB()),
        int(cores.get()) if cores.isDefined() else None,
        int(app.coresGranted()) + int(app.coresLeft()),
    )
