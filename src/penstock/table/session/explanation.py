"""EXPLAIN: the plan as it was written and as it is carried out, with what was asked for beside it."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.common.errors import NotSupportedError
from penstock.graph.explain import execution_plan_json
from penstock.graph.stream_graph import build_stream_graph
from penstock.graph.transformation import Node
from penstock.table.explain_detail import ExplainDetail
from penstock.table.logical.changelog import mode_text
from penstock.table.logical.explain import explain
from penstock.table.logical.nodes import Relation, Sink
from penstock.table.physical import ends
from penstock.table.physical.final_rows import final_rows
from penstock.table.session.table_session import TableSession

DETAILS = {
    "ESTIMATED_COST": ExplainDetail.ESTIMATED_COST,
    "CHANGELOG_MODE": ExplainDetail.CHANGELOG_MODE,
    "JSON_EXECUTION_PLAN": ExplainDetail.JSON_EXECUTION_PLAN,
    "PLAN_ADVICE": ExplainDetail.PLAN_ADVICE,
}

_ABSENT = {ExplainDetail.ESTIMATED_COST: "ESTIMATED_COST", ExplainDetail.PLAN_ADVICE: "PLAN_ADVICE"}


def explanation(relations: Sequence[Relation], session: TableSession, details: Sequence[int] = ()) -> str:
    for detail, name in _ABSENT.items():
        if detail in details:
            raise NotSupportedError(f"EXPLAIN {name}: plans here have no estimated costs and no advice; leave it out.")
    note = mode_text if ExplainDetail.CHANGELOG_MODE in details else (lambda _: "")
    planned = [session.prepared(relation) for relation in relations]
    parts = [
        "== Abstract Syntax Tree ==\n" + "\n\n".join(explain(relation) for relation in relations),
        "== Optimized Execution Plan ==\n" + "\n\n".join(explain(relation, note) for relation in planned),
    ]
    if ExplainDetail.JSON_EXECUTION_PLAN in details:
        parts.append("== Physical Execution Plan ==\n" + _json(planned, session))
    return "\n\n".join(parts) + "\n"


def _json(relations: Sequence[Relation], session: TableSession) -> str:
    operators = session.env._operators
    before = len(operators)
    planner = session.planner()
    try:
        nodes = tuple(_end(relation, session, planner) for relation in relations)
        request = session.env._request(None, nodes)
        return execution_plan_json(build_stream_graph(request.sinks, request.parallelism, request.max_parallelism))
    finally:
        del operators[before:]


def _end(relation: Relation, session: TableSession, planner: object) -> Node:
    if isinstance(relation, Sink):
        return session._sink(relation, planner)  # type: ignore[arg-type]
    return ends.collected(final_rows(relation, planner), relation, planner)  # type: ignore[arg-type]
