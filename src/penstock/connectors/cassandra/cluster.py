"""How a cluster of Cassandra is reached, and statements that are sent to it side by side."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any

from penstock.common.errors import JobExecutionError, NotSupportedError
from penstock.common.utils import refuse_java_object
from penstock.connectors.reaching import package, reach

__all__ = ["ClusterBuilder", "HostCluster", "Statements"]

_SIDE_BY_SIDE = 1_024  # requests in flight, if nobody says how many


class ClusterBuilder:
    """Says how to connect. Subclass it where more than host and port is needed::

        class Production(ClusterBuilder):
            def build_cluster(self):
                login = PlainTextAuthProvider("writer", os.environ["CASSANDRA_PASSWORD"])
                return Cluster(["node1", "node2"], auth_provider=login)

    It is pickled, and asked in the workers.
    """

    def __init__(self, j_cluster_builder: Any = None) -> None:
        refuse_java_object(
            type(self).__name__, "j_cluster_builder", j_cluster_builder, "Write a subclass with build_cluster()."
        )

    def build_cluster(self) -> Any:
        """A ``cassandra.cluster.Cluster``, which is shut down by whoever asked for it."""
        raise NotSupportedError(f"{type(self).__name__} has no build_cluster(), which says how Cassandra is reached.")


class HostCluster(ClusterBuilder):
    """One node, by which the driver finds the others."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__()
        self._host = host
        self._port = port

    def build_cluster(self) -> Any:
        return package("cassandra.cluster", "cassandra").Cluster([self._host], port=self._port)


def connected(builder: ClusterBuilder) -> tuple[Any, str]:
    """A session, and how to name the cluster to people."""
    if (driver := logging.getLogger("cassandra")).level == logging.NOTSET:
        driver.setLevel(logging.CRITICAL)  # it shows each attempt with its traceback, and warns of its own defaults
    cluster = builder.build_cluster()
    name = f"Cassandra at {', '.join(map(_host, cluster.contact_points))}, port {cluster.port}"
    cluster.shutdown()

    def attempt() -> Any:
        """One that could not connect cannot be used again."""
        cluster = builder.build_cluster()
        try:
            return cluster.connect()
        except BaseException:
            cluster.shutdown()
            raise

    return reach(name, attempt, is_away), name


def is_away(error: Exception) -> bool:
    nobody = package("cassandra.cluster", "cassandra").NoHostAvailable
    late = package("cassandra", "cassandra").OperationTimedOut
    return isinstance(error, (nobody, late)) and not _refused(error)


def _host(place: Any) -> str:
    return str(place[0]) if isinstance(place, tuple) else str(place)


def _refused(error: Any) -> bool:
    """A login that is wrong does not become right by waiting."""
    refusal = package("cassandra", "cassandra").AuthenticationFailed
    return any(isinstance(reason, refusal) for reason in getattr(error, "errors", {}).values())


class Statements:
    """One prepared statement, sent for many rows. Which of two writes of a row counts is settled by their timestamps,
    which the driver gives them in the order in which they are sent."""

    def __init__(
        self,
        builder: ClusterBuilder,
        query: str,
        ignores_nulls: bool = False,
        side_by_side: int | None = None,
        patience_ms: int | None = None,
    ) -> None:
        self._session, self.name = connected(builder)
        try:
            self._statement = self._session.prepare(query)
        except BaseException:
            self.close()
            raise
        self._unset = package("cassandra.query", "cassandra").UNSET_VALUE if ignores_nulls else None
        self._room = threading.Semaphore(side_by_side or _SIDE_BY_SIDE)
        self._side_by_side = side_by_side
        self._patience = None if patience_ms is None else patience_ms / 1000
        self._changed = threading.Condition()
        self._in_flight = 0
        self._failures: list[BaseException] = []

    def send(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Returns when all are on their way; waits while as many as allowed are."""
        for row in rows:
            if not self._room.acquire(timeout=self._patience):
                raise JobExecutionError(
                    f"{self.name} has not answered one of {self._side_by_side} requests within {self._patience:g} s, as"
                    " set_max_concurrent_requests(...) asks for."
                )
            values = row if self._unset is None else [self._unset if value is None else value for value in row]
            with self._changed:
                self._in_flight += 1
            try:
                future = self._session.execute_async(self._statement, values)
            except BaseException:
                self._ended(None)
                raise
            future.add_callbacks(self._ended, self._ended)

    def _ended(self, answer: Any) -> None:
        """In a thread of the driver."""
        self._room.release()
        with self._changed:
            self._in_flight -= 1
            if isinstance(answer, BaseException):
                self._failures.append(answer)
            self._changed.notify_all()

    def wait(self) -> None:
        """Until all were answered; each has a timeout of the driver's."""
        with self._changed:
            self._changed.wait_for(lambda: self._in_flight == 0)

    def check(self, handle: Callable[[BaseException], None]) -> None:
        """Gives failures since the last time to who decides about them."""
        with self._changed:
            failures, self._failures = self._failures, []
        for failure in failures:
            handle(failure)

    def close(self) -> None:
        self._session.cluster.shutdown()
