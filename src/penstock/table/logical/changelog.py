"""Which kinds of changes each node produces: a subset of insert, update, delete; and who cannot take updates."""

from __future__ import annotations

from penstock.columns.typed.nodes import InputRef, Invoke, SubqueryTest, SubqueryValue, Typed, walk
from penstock.table.logical import nodes as plan
from penstock.table.logical.time_bounds import is_interval_join
from penstock.table.logical.upsert_keys import columns_are_time
from penstock.table.logical.window_columns import has_window, is_window_join, window_columns
from penstock.table.sql.errors import SqlValidationError

Kinds = frozenset[str]
INSERTS: Kinds = frozenset("I")
ALL: Kinds = frozenset("IUD")


def kinds(node: plan.Relation) -> Kinds:
    """The changes that a node emits, found from its inputs; a node that cannot take what it gets is refused."""
    given = [kinds(source) for source in node.inputs()]
    match node:
        case plan.Scan():
            return frozenset(node.definition.changelog) if node.definition is not None else INSERTS
        case plan.Values() | plan.Unnest() | plan.TableFunctionScan():
            return INSERTS
        case plan.Project():
            return given[0] | _with_subqueries(node.expressions)
        case plan.Filter():
            return given[0] | _with_subqueries((node.condition,))
        case plan.Snapshot() | plan.Sink():
            return given[0]
        case plan.WindowAssignment():
            return _inserts_only(node, given[0], f"Window function {node.kind}")
        case plan.ToChangelog():
            return INSERTS
        case plan.FromChangelog(in_batch=True):
            return frozenset("D")
        case plan.FromChangelog():
            _inserts_only(node, given[0], "FROM_CHANGELOG")
            return ALL
        case plan.RowWindowAggregation():
            return _inserts_only(node, given[0], "A window of rows")
        case plan.Match():
            return _inserts_only(node, given[0], "MATCH_RECOGNIZE")
        case plan.Aggregation():
            return _aggregation(node, given[0])
        case plan.OverAggregation():
            return _inserts_only(node, given[0], "OVER") if _on_time(node) else given[0] | frozenset("UD")
        case plan.JoinRelation():
            return _join(node, given)
        case plan.Correlation() | plan.TemporalJoin() | plan.LookupJoin():
            return given[0]
        case plan.SetRelation():
            return _set_operation(node, given[0] | given[1])
        case plan.Sort():
            return _inserts_only(node, given[0], "ORDER BY") if _temporal(node) else given[0]
        case plan.Limit():
            return ALL
        case plan.Rank() if has_window(window_columns(node.source), node.partition_by):
            return _inserts_only(node, given[0], "Top-N of windows")
        case plan.Deduplicate() if has_window(window_columns(node.source), node.keys):
            return _inserts_only(node, given[0], "Deduplication in windows")
        case plan.Rank():
            return INSERTS if given[0] == INSERTS and node.limit and not node.order_by else ALL
        case plan.Deduplicate():
            _inserts_only(node, given[0], "Deduplicate")
            return ALL if node.last else INSERTS
        case plan.Expand() | plan.Replication() | plan.DropUpdateBefore() | plan.SinkMaterialize():
            return given[0]
        case plan.ChangelogNormalize() | plan.TableAggregation():
            return ALL
    raise NotImplementedError(type(node).__name__)


def _with_subqueries(expressions: tuple[Typed, ...]) -> Kinds:
    """IN and EXISTS become semi joins, which add what the subquery emits; their negation and values take rows back."""
    found: Kinds = frozenset()
    for node in expressions:
        negated = [part for part in walk(node) if isinstance(part, Invoke) and part.function == "not"]
        below_not = [part for negation in negated for part in walk(negation)]
        for part in walk(node):
            if isinstance(part, SubqueryValue) or (
                isinstance(part, SubqueryTest) and (part.every or part in below_not)
            ):
                return ALL
            if isinstance(part, SubqueryTest):
                found |= kinds(part.plan)
    return found


def _set_operation(node: plan.SetRelation, both: Kinds) -> Kinds:
    if node.kind == "UNION":
        return both
    return frozenset("IU") if node.kind == "INTERSECT" and not node.keep_all and both == INSERTS else ALL


def _inserts_only(node: plan.Relation, given: Kinds, what: str) -> Kinds:
    if given != INSERTS:
        producer = _producer(node.inputs()[0])
        raise SqlValidationError(
            f"{what} does not take updates or deletions, which {type(producer).__name__} produces.", node.position
        )
    return INSERTS


def _producer(node: plan.Relation) -> plan.Relation:
    """The lowest node that makes more than inserts out of inserts."""
    for source in node.inputs():
        if kinds(source) != INSERTS:
            return _producer(source)
    return node


def windowed_keys(node: plan.Aggregation) -> bool:
    """Whether the groups are windows: keyed by start and end of those that a window function gave."""
    return has_window(window_columns(node.source), node.keys)


def _aggregation(node: plan.Aggregation, given: Kinds) -> Kinds:
    if windowed_keys(node):
        return INSERTS
    return frozenset("IU") if given == INSERTS else ALL


def _join(node: plan.JoinRelation, given: list[Kinds]) -> Kinds:
    if given[0] == given[1] == INSERTS and (is_window_join(node) or is_interval_join(node)):
        return INSERTS
    if node.kind in ("INNER", "SEMI"):
        return given[0] | given[1]
    return ALL


def _on_time(node: plan.OverAggregation) -> bool:
    return all(
        call.order_by and isinstance(call.order_by[0].operand, InputRef) and call.order_by[0].operand.time is not None
        for call in node.calls
    )


def _temporal(node: plan.Sort) -> bool:
    return columns_are_time(node.keys[:1])


def mode_text(node: plan.Relation) -> str:
    """`changelogMode=[I,UA,D]`, as EXPLAIN CHANGELOG_MODE shows it when updates come in both halves."""
    found = kinds(node)
    update = "UB,UA" if node.update_before else "UA"
    words = [word for kind, word in (("I", "I"), ("U", update), ("D", "D")) if kind in found]
    return f"changelogMode=[{','.join(words)}]"
