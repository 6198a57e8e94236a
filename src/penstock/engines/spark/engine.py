"""Epochs as micro-batches of one Structured Streaming query."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.common.errors import JobExecutionError
from penstock.common.failure import Failure
from penstock.common.options import MICRO_BATCH
from penstock.common.run_options import current_run_options
from penstock.control.engine import AttemptEnd, EngineJob, WorkerEnvironment
from penstock.control.job_home import JobHome
from penstock.control.micro_batches import MicroBatches
from penstock.engines.resident.file_state_store import is_location
from penstock.engines.spark.bounded_frame import BoundedFrame
from penstock.engines.spark.moved_checkpoint import settle_in
from penstock.engines.spark.planner_link import PlannerClient, PlannerServer
from penstock.engines.spark.query import start_query
from penstock.engines.spark.query_failure import failure_of_query, was_late
from penstock.engines.spark.query_planner import QueryPlanner
from penstock.engines.spark.session import has_died, spark_session
from penstock.engines.spark.worker_modules import collect_module_paths, ship_modules, unpack_archives
from penstock.graph.job_request import JobRequest
from penstock.graph.stream_graph import upstream_first

_DYING_SECONDS = 3.0
_STARTS = 5  # of a query in one attempt, when nothing but Python processes of the driver is late


class SparkEngine:
    """The session is shared by the jobs of the process; query, planner and server belong to one job."""

    name = MICRO_BATCH

    def __init__(self) -> None:
        self._session: SparkSession | None = None
        self._server: PlannerServer | None = None
        self._query: StreamingQuery | None = None

    def prepare(self, request: JobRequest, home: JobHome) -> WorkerEnvironment:
        read_bounded_frames(request)
        self._options = spark_options(request)
        self._frames = _frames_of(request)
        return WorkerEnvironment(
            collect_module_paths(request.dependencies, home.path / "python"),
            unpack_archives(request.dependencies, home.path / "archives"),
        )

    def open(self, job: EngineJob) -> None:
        self._job = job
        if any(map(is_location, job.completion.store.latest.snapshot_ids.values())):
            raise JobExecutionError(
                "the job ran on the resident engine so far, which keeps state in files of its own. Go on with "
                "penstock.engine: resident; to change the engine, stop the job with a savepoint and start from it (-s)"
            )
        options, home = current_run_options(), job.home
        log_file = home.home / "logs" / "spark.log"
        self._session = spark_session(options.master, self._options, log_file, options.verbose)
        ship_modules(self._session.sparkContext, job.blueprint.settings, home.path / "shipped")
        settle_in(home.spark_checkpoint)
        self._planner = QueryPlanner(MicroBatches(job.planner, job.completion, job.fence, job.tell))
        self._server = PlannerServer(self._planner)
        self._client = PlannerClient(self._server.address, self._server.key)

    def start(self, attempt: int) -> None:
        self._attempt, self._starts_left = attempt, _STARTS
        self._start_query()

    def _start_query(self) -> None:
        assert self._session is not None
        self._query = None
        self._starts_left -= 1
        self._planner.forget()
        job = self._job.blueprint
        try:
            self._query = start_query(
                self._session,
                replace(job, settings=replace(job.settings, attempt=self._attempt)),
                self._frames,
                self._client,
                job.settings.job_id,
                self._job.home.spark_checkpoint,
                self._planner.complete,
                self._planner.planning,
                self._job.savepoint,
            )
        except Exception as error:
            if not (self._starts_left and was_late(str(error))):
                raise
            self._start_query()

    def watch(self, seconds: float) -> AttemptEnd | None:
        assert self._session is not None and self._query is not None
        if has_died(self._session.sparkContext):
            return AttemptEnd(loss_of_the_jvm(self._job.home.job_id), can_restart=False)
        if not self._query.isActive:
            failure = self._planner.failure or failure_of_query(self._query)
            if not (self._starts_left and was_late(failure.message)):
                return AttemptEnd(failure)
            self._start_query()
        self._job.news.wait(seconds)
        return None

    def lost(self) -> Failure | None:
        """A dying process closes its connections before it is gone."""
        if self._session is None or not has_died(self._session.sparkContext, _DYING_SECONDS):
            return None
        return loss_of_the_jvm(self._job.home.job_id)

    def stop(self) -> None:
        query, self._query = self._query, None
        if query is not None and self._session is not None and not has_died(self._session.sparkContext):
            query.stop()

    def close(self) -> None:
        server, self._server = self._server, None
        try:
            self.stop()
        finally:
            if server is not None:
                server.close()


def loss_of_the_jvm(job_id: str) -> Failure:
    return Failure(
        "JobExecutionError",
        f"Spark's JVM has died under the job. Its files are kept: `penstock resume {job_id}` goes on from the last "
        "epoch. If nobody has killed the JVM, it may have been short of memory (spark.driver.memory).",
    )


def read_bounded_frames(request: JobRequest) -> None:
    """A bounded DataFrame is an ordinary source; only streaming ones are part of the Spark query."""
    for node in upstream_first(request.sinks):
        frame = node.params.get("spark_frame")
        if frame is not None and not frame.isStreaming:
            node.params = {"source": BoundedFrame(frame, node.params.get("event_time"))}


def spark_options(request: JobRequest) -> dict[str, str]:
    options = {key: value for key, value in request.configuration.items() if key.startswith("spark.")}
    if request.dependencies.executable is not None:
        options["spark.pyspark.python"] = request.dependencies.executable
    return options


def streaming_frames_of(request: JobRequest) -> list[DataFrame]:
    frames = [node.params.get("spark_frame") for node in upstream_first(request.sinks)]
    return [frame for frame in frames if frame is not None and frame.isStreaming]


def _frames_of(request: JobRequest) -> dict[int, DataFrame]:
    return {
        node.id: node.params["spark_frame"] for node in upstream_first(request.sinks) if "spark_frame" in node.params
    }
