"""Carries out a plan: each kind of relation has one rule, which adds operators after those of its inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from penstock.columns.kernels.datum import Session
from penstock.common.configuration import Configuration
from penstock.common.errors import NotSupportedError
from penstock.datastream.stream import DataStream
from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
from penstock.functions.source import Source
from penstock.graph.transformation import Node
from penstock.runtime.sources.base import SourcePlanner
from penstock.runtime.sources.splits import SplitPlanner
from penstock.table.logical import nodes
from penstock.table.logical.changelog import kinds
from penstock.table.logical.explain import explain, line_of
from penstock.table.logical.shared_plans import interchangeable
from penstock.table.logical.upsert_keys import upsert_keys
from penstock.table.physical import (
    aggregates,
    calc,
    changelog_functions,
    correlates,
    ends,
    joins,
    matching,
    overs,
    ranks,
    temporal_joins,
    windows,
)
from penstock.table.physical.table_stream import TableStream, common_parallelism, exchanged, row_type_of

# A rule gets the relation as its own type; the dictionary cannot say that.
Rule = Callable[[Any, "Planner"], TableStream]

RULES: dict[type[nodes.Relation], Rule] = {
    # ends.py
    nodes.Values: ends.values,
    nodes.Scan: ends.scan,
    # calc.py
    nodes.Project: calc.calc,
    nodes.Filter: calc.calc,
    nodes.SetRelation: calc.set_operation,
    # aggregates.py
    nodes.Aggregation: aggregates.aggregation,
    nodes.RowWindowAggregation: aggregates.row_window_aggregation,
    nodes.TableAggregation: aggregates.table_aggregation,
    nodes.Expand: aggregates.expand,
    nodes.Replication: aggregates.replication,
    # ranks.py
    nodes.Rank: ranks.rank,
    nodes.Deduplicate: ranks.deduplicate,
    nodes.ChangelogNormalize: ranks.normalize,
    nodes.DropUpdateBefore: ranks.drop_update_before,
    nodes.SinkMaterialize: ranks.materialize,
    # correlates.py
    nodes.Correlation: correlates.correlation,
    # joins.py
    nodes.JoinRelation: joins.join,
    # temporal_joins.py
    nodes.TemporalJoin: temporal_joins.temporal_join,
    nodes.LookupJoin: temporal_joins.lookup_join,
    # windows.py
    nodes.WindowAssignment: windows.assignment,
    # matching.py
    nodes.Match: matching.match,
    # changelog_functions.py
    nodes.ToChangelog: changelog_functions.to_changelog,
    nodes.FromChangelog: changelog_functions.from_changelog,
    # overs.py
    nodes.OverAggregation: overs.over,
    nodes.Sort: overs.sort,
    nodes.Unnest: correlates.alone,
    nodes.TableFunctionScan: correlates.alone,
}


class Planner:
    """Plans the relations of one job. Operators get uids from what they compute, which are the same in every run."""

    def __init__(
        self, env: StreamExecutionEnvironment, session: Session, options: Configuration, batch: bool = False
    ) -> None:
        self.env = env
        self.session = session
        self.options = options
        self.batch = batch  # inputs end, and only final results count
        self.shows_watermarks = False  # CURRENT_WATERMARK is asked for by what is planned now
        self._planned: dict[int, tuple[nodes.Relation, TableStream]] = {}
        self._uids: dict[str, int] = {}

    def plan(self, relation: nodes.Relation) -> TableStream:
        """The rows of a relation; one that is used twice, or written twice, is planned once."""
        known = self._planned.get(id(relation))
        if known is None:
            known = next((one for one in self._planned.values() if interchangeable(one[0], relation)), None)
        if known is None:
            rule = RULES.get(type(relation))
            if rule is None:
                raise NotSupportedError(f"{line_of(relation)} cannot be run yet.")
            known = self._planned[id(relation)] = (relation, rule(relation, self))
        return known[1]

    def wants_before(self, relation: nodes.Relation) -> bool:
        """Whether updates of this relation have to come with the row as it was before."""
        return relation.update_before

    # -- what rules build with ---------------------------------------------------------------------------------

    def source(
        self, relation: nodes.Relation, name: str, source: SourcePlanner | Source, fields: nodes.Fields | None = None
    ) -> TableStream:
        """Rows from outside, of the relation's columns, or of others that come before them."""
        found = source if isinstance(source, SourcePlanner) else (source._planner() or SplitPlanner(source))
        stream = self.env._source_stream(name, {"source": found}, row_type_of(fields or relation.fields), found)
        return self._table(stream, relation, "source", fields)

    def operator(
        self,
        relation: nodes.Relation,
        kind: str,
        inputs: Sequence[TableStream],
        params: dict[str, Any],
        *,
        keys: Sequence[Sequence[int] | None] | None = None,
        parallelism: int | None = None,
        fields: nodes.Fields | None = None,
        function: Any = None,
        name: str | None = None,
    ) -> TableStream:
        """An operator of a kind of the runtime's registry.

        `keys` names for each input the columns whose values bring rows together: () for all rows into one place (the
        operator then has parallelism 1), None for no exchange. Without any keys it stays beside its inputs. Its output
        type are the relation's columns, or `fields` where it gives others on the way.
        """
        keyed = zip(inputs, keys or [None] * len(inputs), strict=True)
        first, *others = [source.stream if key is None else exchanged(source, key) for source, key in keyed]
        stream = first._transform(
            kind,
            name or _name(relation),
            function,
            output_type=row_type_of(fields or relation.fields),
            params=params,
            other_inputs=tuple(others),
        )
        if keys is None:
            # As in Flink, so that the order of a single source survives.
            parallelism = parallelism or common_parallelism(stream._nodes[0].upstreams)
        elif any(key is not None and not len(key) for key in keys):
            parallelism = 1
        if parallelism is not None:
            stream._nodes[0].parallelism, stream._nodes[0].fixed_parallelism = parallelism, parallelism == 1
        return self._table(stream, relation, kind, fields)

    def converted(self, stream: DataStream, relation: nodes.Relation, label: str) -> TableStream:
        """A stream whose records are rows of this relation already."""
        return self._table(stream, relation, label)

    def sink(self, table: TableStream, relation: nodes.Relation, name: str, sink: Any) -> Node:
        """The end of a plan; the node to submit."""
        node = table.stream._prepared_for(sink)._sink("sink", name, sink)._operator_nodes("")[0]
        node.uid = self._uid(relation, "sink")
        node.parallelism = common_parallelism(node.upstreams) or node.parallelism
        return node

    def _table(
        self, stream: DataStream, relation: nodes.Relation, label: str, fields: nodes.Fields | None = None
    ) -> TableStream:
        if stream._nodes:
            node = stream._nodes[0]
            node.uid, node.uid_is_planned = self._uid(relation, label), True
            node.description = line_of(relation)
        return TableStream(
            stream,
            fields or relation.fields,
            kinds(relation),
            self.wants_before(relation),
            upsert_keys(relation),
        )

    def _uid(self, relation: nodes.Relation, label: str) -> str:
        text = hashlib.md5(explain(relation).encode(), usedforsecurity=False).hexdigest()[:16]
        uid = f"{label}-{text}"
        number = self._uids[uid] = self._uids.get(uid, 0) + 1
        return uid if number == 1 else f"{uid}-{number}"


def _name(relation: nodes.Relation) -> str:
    return line_of(relation).partition("(")[0]
