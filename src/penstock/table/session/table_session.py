"""A session: catalogs, options and the execution environment behind a TableEnvironment; plans become jobs here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from penstock.columns.kernels.datum import Session
from penstock.columns.typesystem.scalars import BigIntType
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.options import value_of
from penstock.control.running_job import RunningJob
from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
from penstock.graph.transformation import Node
from penstock.table.logical import nodes as plan
from penstock.table.logical.nodes import Field, Relation
from penstock.table.logical.rewrites import rewritten
from penstock.table.physical import ends
from penstock.table.physical.final_rows import final_rows, ordered_by_rank
from penstock.table.physical.planner import Planner
from penstock.table.session.catalogs import CatalogManager
from penstock.table.table_config import TableConfig
from penstock.table.table_result import TableResult


class TableSession:
    """One for each TableEnvironment."""

    def __init__(self, env: StreamExecutionEnvironment, catalog: str, database: str) -> None:
        self.env = env
        self.config = TableConfig(configuration=env._configuration)
        self.catalogs = CatalogManager(catalog, database)
        self.modules: list[str] = ["core"]
        self.used_modules: list[str] = ["core"]
        self._anonymous = 0

    @property
    def batch(self) -> bool:
        return str(self.env._configuration.get_string("execution.runtime-mode", "STREAMING")).upper() == "BATCH"

    @property
    def session(self) -> Session:
        return Session(self.config.get_local_timezone(), 0, self.catalogs.current_database)

    def anonymous_name(self) -> str:
        self._anonymous += 1
        return f"UnnamedTable${self._anonymous - 1}"

    # -- modules -----------------------------------------------------------------------------------------------

    def load_module(self, name: str) -> None:
        if name in self.modules:
            raise ProgramError(f"The module {name!r} is loaded already.")
        if name != "core":
            raise NotSupportedError(f"There is no module {name!r}: only 'core' can be loaded.")
        self.modules.append(name)
        self.used_modules.append(name)

    def unload_module(self, name: str) -> None:
        if name not in self.modules:
            raise ProgramError(f"There is no module {name!r} to unload.")
        self.modules.remove(name)
        self.used_modules = [used for used in self.used_modules if used != name]

    def use_modules(self, names: list[str]) -> None:
        for name in names:
            if name not in self.modules:
                raise ProgramError(f"The module {name!r} is not loaded.")
        if len(set(names)) < len(names):
            raise ProgramError("A module is named twice.")
        self.used_modules = names

    # -- plans become jobs -------------------------------------------------------------------------------------

    def prepared(self, relation: Relation, explained: bool = False) -> Relation:
        """The plan as it is carried out, or as EXPLAIN shows it."""
        materialize = str(value_of(self.env._configuration, "table.exec.sink.upsert-materialize")).upper()
        if materialize not in ("AUTO", "FORCE", "NONE"):
            raise ProgramError(f"table.exec.sink.upsert-materialize is AUTO, FORCE or NONE, not {materialize}.")
        relation = ordered_by_rank(relation) if self.batch else relation
        if isinstance(relation, plan.Sink) and relation.deletes:
            materialize = "NONE"  # the sink has the rows, the job has not seen them
        duplicates = bool(value_of(self.env._configuration, "table.exec.source.cdc-events-duplicate"))
        return rewritten(relation, materialize=materialize, explained=explained, duplicates=duplicates)

    def planner(self) -> Planner:
        return Planner(self.env, self.session, self.env._configuration, self.batch)

    def collect(self, relation: Relation) -> TableResult:
        """Runs a query for the program that asks."""
        relation = self.prepared(relation)
        planner = self.planner()

        def build() -> tuple[Node, ...]:
            return (ends.collected(final_rows(relation, planner), relation, planner),)

        [node], job = self._submitted(build, "collect")
        changes = planner.plan(relation).updating and not self.batch
        return TableResult(
            fields=relation.fields,
            batches=lambda: _batches(job, node),
            job=job,
            style="types" if self.batch else "changes",
            zone=self.session.zone,
            changes=changes,
        )

    def insert(self, sinks: list[plan.Sink]) -> TableResult:
        """Runs inserts as one job, and returns at once."""
        if not sinks:
            raise ProgramError("There is nothing to execute: the statement set has no INSERT.")
        planner = self.planner()
        relations = [self.prepared(sink) for sink in sinks]

        def build() -> tuple[Node, ...]:
            return tuple(self._sink(relation, planner) for relation in relations)

        names = [".".join(self.catalogs.full_name(sink.path)) for sink in sinks]
        _, job = self._submitted(build, f"insert-into_{','.join(dict.fromkeys(names))}")
        columns = [f"{name}_{number}" if names.count(name) > 1 else name for number, name in enumerate(names, 1)]
        result = TableResult(
            fields=tuple(Field(name, BigIntType(False)) for name in columns),
            batches=lambda: _unknown_counts(job, columns),
            job=job,
            style="raw",
        )
        if value_of(self.env._configuration, "table.dml-sync"):
            result.wait()
        return result

    def attach(self, sinks: list[plan.Sink]) -> None:
        """Leaves inserts in the program, to be run by its own execute()."""
        planner = self.planner()
        for sink in sinks:
            self._sink(self.prepared(sink), planner)

    def _sink(self, relation: Relation, planner: Planner) -> Node:
        assert isinstance(relation, plan.Sink)
        rows = planner.plan(relation.source) if relation.deletes else final_rows(relation.source, planner)
        found: Node = relation.definition.handle.sink(relation, rows, planner)
        return found

    def _submitted(self, build: Callable[[], tuple[Node, ...]], name: str) -> tuple[tuple[Node, ...], RunningJob]:
        """Builds after what the program has built, and takes it away again: it is not the program's to execute."""
        operators = self.env._operators
        before = len(operators)
        try:
            nodes = build()
            configured = self.env._configuration.get_string("pipeline.name", None)
            return nodes, self.env._submit_ends(configured or name, nodes)
        finally:
            del operators[before:]


def _batches(job: RunningJob, node: Node) -> Iterator[pa.RecordBatch]:
    yield from job.collected(node)


def _unknown_counts(job: RunningJob, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """-1 for each sink, when the job has ended: as in Flink, nobody counts."""
    future: Any = job.result_future()
    future.result()
    yield pa.RecordBatch.from_arrays([pa.array([-1])] * len(columns), [f"f{place}" for place in range(len(columns))])
