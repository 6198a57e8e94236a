"""A program that has changed since its savepoint goes on with its state, or is refused before anything is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.blueprints import chained, edge, job, operator

from penstock.common import Encoder, Row, Time, Types
from penstock.common.errors import JobExecutionError
from penstock.connectors.collecting import CollectSink
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSink
from penstock.datastream.functions import KeyedBroadcastProcessFunction, KeySelector, MapFunction
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.engines.local.executor import LocalExecutor
from penstock.engines.local.memory_store import MemoryStore
from penstock.functions.checkpointed import CheckpointedFunction
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.exchange import ExchangeRow, writer_for
from penstock.runtime.hosting import forget_containers, run_level
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.partitioning import ByKey
from penstock.runtime.report import SubtaskReport, read_report
from penstock.runtime.state_log import StateLog

_GET = {
    ValueStateDescriptor: "get_state",
    ListStateDescriptor: "get_list_state",
    MapStateDescriptor: "get_map_state",
    ReducingStateDescriptor: "get_reducing_state",
    AggregatingStateDescriptor: "get_aggregating_state",
}
Use = Callable[[Any, int], Any]


class _Keeping(KeyedProcessFunction):
    """Asks for one state, in open() or only when it needs it, and does to it what the test says."""

    def __init__(self, descriptor: StateDescriptor, use: Use, late: bool = False) -> None:
        self.descriptor = descriptor
        self.use = use
        self.late = late

    def open(self, runtime_context: Any) -> None:
        self.context = runtime_context
        if not self.late:
            self.state = self.ask()

    def ask(self) -> Any:
        return getattr(self.context, _GET[type(self.descriptor)])(self.descriptor)

    def process_element(self, value: int, ctx: Any) -> Any:
        state = self.ask() if self.late else self.state
        yield ctx.get_current_key(), self.use(state, value)


def _run(
    descriptor: StateDescriptor, use: Use, *, late: bool = False, sink: str | None = None, **options: Any
) -> tuple[dict[Any, Any], str | None]:
    """The last result of each key, and the savepoint if the job was stopped."""
    executor = LocalExecutor(epoch_records=10, forget=True, **options)
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    numbers = env.from_collection(list(range(60)), Types.INT()).uid("numbers")
    kept = numbers.key_by(lambda n: n % 3).process(_Keeping(descriptor, use, late)).uid("keeping").name("the keeper")
    if sink is not None:
        texts = kept.map(str, Types.STRING()).uid("texts")
        texts.sink_to(FileSink.for_row_format(sink, Encoder.simple_string_encoder()).build()).uid("sink")
        env.execute()
        return {}, executor.savepoint_path
    return dict(kept.execute_and_collect()), executor.savepoint_path


def _saved(directory: Path, descriptor: StateDescriptor, use: Use) -> str:
    _, path = _run(descriptor, use, stop_after=3, savepoint_directory=str(directory))
    assert path is not None
    return path


def _count(state: Any, value: int) -> Any:
    state.update((state.value() or 0) + 1)
    return state.value()


_OLD = Types.ROW_NAMED(["visits", "last"], [Types.INT(), Types.INT()])


def _visit(state: Any, value: int) -> Any:
    row = state.value() or Row(visits=0, last=-1)
    state.update(Row(visits=row.visits + 1, last=value))
    return state.value()


def _visit_with_country(state: Any, value: int) -> Any:
    row = state.value()
    state.update(Row(visits=row.visits + 1, last=value, country=row.country))
    return state.value()


_NEW_NAMES, _NEW_TYPES = ["visits", "last", "country"], [Types.LONG(), Types.INT(), Types.STRING()]


@pytest.mark.parametrize("late", [False, True], ids=["asked in open", "asked late"])
@pytest.mark.parametrize("country", [None, "?"])
def test_a_row_gains_a_field(tmp_path: Path, late: bool, country: str | None) -> None:
    path = _saved(tmp_path, ValueStateDescriptor("row", _OLD), _visit)
    new = Types.ROW_NAMED(_NEW_NAMES, _NEW_TYPES)
    if country is not None:
        new = new.with_defaults({"country": country})
    results, _ = _run(ValueStateDescriptor("row", new), _visit_with_country, late=late, start_from=path)
    assert results == {key: Row(visits=20, last=57 + key, country=country) for key in (0, 1, 2)}


def test_converted_state_is_saved_in_its_new_form(tmp_path: Path) -> None:
    path: str | None = _saved(tmp_path, ValueStateDescriptor("row", _OLD), _visit)
    descriptor = ValueStateDescriptor("row", Types.ROW_NAMED(_NEW_NAMES, _NEW_TYPES).with_defaults({"country": "?"}))
    _, path = _run(descriptor, _visit_with_country, start_from=path, stop_after=0, savepoint_directory=str(tmp_path))
    assert path is not None
    metadata = json.loads((Path(path) / "_metadata").read_text())["savepoint"]
    keeping = next(op for op in metadata["operators"] if op["uid"] == "keeping")
    names = [name for name, _ in keeping["states"][0]["schema"]["type"]["fields"]]
    assert names == _NEW_NAMES
    plain = ValueStateDescriptor("row", Types.ROW_NAMED(_NEW_NAMES, _NEW_TYPES))
    results, _ = _run(plain, _visit_with_country, start_from=path)
    assert {row.country for row in results.values()} == {"?"}, "the default was written when there was one"


@pytest.mark.parametrize(("old", "new"), [(Types.SHORT(), Types.INT()), (Types.INT(), Types.LONG())])
def test_an_integer_becomes_wider(tmp_path: Path, old: Any, new: Any) -> None:
    path = _saved(tmp_path, ValueStateDescriptor("n", old), _count)
    results, _ = _run(ValueStateDescriptor("n", new), _count, start_from=path)
    assert results == {0: 20, 1: 20, 2: 20}


def _add(state: Any, value: int) -> Any:
    state.add(value)
    return state.get()


def _append(state: Any, value: int) -> Any:
    state.add(value)
    return sorted(map(type(next(iter(state.get()))), state.get())), {type(item) for item in state.get()}


def _put(state: Any, value: int) -> Any:
    state.put(value % 2, value)
    return sorted(state.items())


def _sum(a: Any, b: Any) -> Any:
    return a + b


@pytest.mark.parametrize(
    ("before", "after", "use"),
    [
        (ListStateDescriptor("s", Types.INT()), ListStateDescriptor("s", Types.LONG()), _append),
        (MapStateDescriptor("s", Types.INT(), Types.INT()), MapStateDescriptor("s", Types.LONG(), Types.LONG()), _put),
        (ReducingStateDescriptor("s", _sum, Types.INT()), ReducingStateDescriptor("s", _sum, Types.DOUBLE()), _add),
        (ValueStateDescriptor("s", Types.INT()), ValueStateDescriptor("s", None), _count),
        (ValueStateDescriptor("s", None), ValueStateDescriptor("s", Types.INT()), _count),
    ],
)
def test_every_kind_of_state_goes_on(tmp_path: Path, before: StateDescriptor, after: StateDescriptor, use: Use) -> None:
    undisturbed, _ = _run(before, use)
    path = _saved(tmp_path, before, use)
    results, _ = _run(after, use, start_from=path)
    assert results == undisturbed


def test_time_to_live_is_switched_on_and_off(tmp_path: Path) -> None:
    plain, living = ValueStateDescriptor("n", Types.INT()), ValueStateDescriptor("n", Types.INT())
    living.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
    assert _run(living, _count, start_from=_saved(tmp_path, plain, _count))[0] == {0: 20, 1: 20, 2: 20}
    assert _run(plain, _count, start_from=_saved(tmp_path, living, _count))[0] == {0: 20, 1: 20, 2: 20}


@pytest.mark.parametrize("late", [False, True], ids=["asked in open", "asked late"])
@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (
            ValueStateDescriptor("s", Types.LONG()),
            ValueStateDescriptor("s", Types.INT()),
            "saved as value state of LONG, but the program declares it as value state of INT: LONG cannot become INT",
        ),
        (
            ValueStateDescriptor("s", Types.INT()),
            ValueStateDescriptor("s", Types.STRING()),
            "INT cannot become STRING",
        ),
        (
            ValueStateDescriptor("s", Types.INT()),
            ListStateDescriptor("s", Types.INT()),
            "a value state cannot become a list state",
        ),
        (
            ValueStateDescriptor("s", None),
            ValueStateDescriptor("s", Types.STRING()),
            "is no value of the declared type String",
        ),
    ],
    ids=["narrower", "other", "kind", "untyped values that do not fit"],
)
def test_a_state_that_cannot_go_on_is_refused_before_anything_is_written(
    tmp_path: Path, before: StateDescriptor, after: StateDescriptor, why: str, late: bool
) -> None:
    path = _saved(tmp_path / "savepoints", before, _count)
    output = tmp_path / "output"
    with pytest.raises(JobExecutionError) as refused:
        _run(after, lambda state, value: value, late=late, start_from=path, sink=str(output))
    message = str(refused.value)
    assert why in message
    assert "the state 's' of the operator 'the keeper' (uid keeping)" in message
    assert "Declare it as it was, or give it another name" in message
    assert [file for file in output.rglob("*") if file.is_file() and not file.name.startswith(".")] == []


def test_a_state_that_is_no_longer_asked_for_is_kept(tmp_path: Path) -> None:
    path: str | None = _saved(tmp_path, ValueStateDescriptor("old", Types.INT()), _count)
    _, path = _run(
        ValueStateDescriptor("new", Types.INT()),
        _count,
        start_from=path,
        stop_after=1,
        savepoint_directory=str(tmp_path),
    )
    results, _ = _run(ValueStateDescriptor("old", Types.LONG()), _count, start_from=path)
    assert all(10 < count <= 20 for count in results.values())


def _reduce(type_info: Any, **options: Any) -> tuple[list[Any], str | None]:
    executor = LocalExecutor(epoch_records=10, **options)
    env = StreamExecutionEnvironment(executor=executor)
    fields = type_info.get_field_names()[1:]
    rows = env.from_collection(list(range(60)), Types.INT()).uid("numbers")
    rows = rows.map(lambda n: Row(key=n % 3, **dict.fromkeys(fields, n)), type_info).uid("rows")
    sums = rows.key_by(lambda row: row.key).reduce(
        lambda a, b: Row(key=a.key, **{name: (a[name] or 0) + b[name] for name in fields})
    )
    return list(sums.uid("sums").execute_and_collect()), executor.savepoint_path


def test_the_type_of_a_stream_is_the_type_of_what_it_is_reduced_to(tmp_path: Path) -> None:
    one = Types.ROW_NAMED(["key", "sum"], [Types.INT(), Types.INT()])
    two = Types.ROW_NAMED(["key", "sum", "more"], [Types.INT(), Types.LONG(), Types.LONG()])
    before, path = _reduce(one, stop_after=2, savepoint_directory=str(tmp_path))
    after, _ = _reduce(two, start_from=path)
    numbers = [n for n in range(60) if n % 3 == 0]
    last = [row for row in after if row.key == 0][-1]
    assert (last.sum, last.more) == (sum(numbers), sum(numbers[len(before) // 3 :]))
    with pytest.raises(
        JobExecutionError, match=r"operator 'Reduce' \(uid sums\).*field 'sum': INT cannot become SHORT"
    ):
        _reduce(Types.ROW_NAMED(["key", "sum"], [Types.INT(), Types.SHORT()]), start_from=path)


# -- state without keys ------------------------------------------------------------------------------------------------


class _Members(MapFunction, CheckpointedFunction):
    def __init__(self, type_info: Any, union: bool) -> None:
        self.type_info = type_info
        self.union = union

    def initialize_state(self, context: Any) -> None:
        store, descriptor = context.get_operator_state_store(), ListStateDescriptor("members", self.type_info)
        self.state = store.get_union_list_state(descriptor) if self.union else store.get_list_state(descriptor)
        self.found = list(self.state.get())

    def snapshot_state(self, context: Any) -> None:
        self.state.update([7])

    def map(self, value: int) -> Any:
        return self.found


def _members(type_info: Any, union: bool, parallelism: int, **options: Any) -> tuple[list[Any], str | None]:
    executor = LocalExecutor(epoch_records=10, **options)
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(parallelism)
    stream = env.from_collection(list(range(60))).uid("n").rebalance().map(_Members(type_info, union)).uid("members")
    return list(stream.execute_and_collect()), executor.savepoint_path


@pytest.mark.parametrize("union", [False, True])
@pytest.mark.parametrize("parallelism", [2, 3])
def test_operator_state_is_converted_too(tmp_path: Path, union: bool, parallelism: int) -> None:
    _, path = _members(Types.INT(), union, 2, stop_after=2, savepoint_directory=str(tmp_path))
    results, _ = _members(Types.DOUBLE(), union, parallelism, start_from=path)
    found = [item for items in results for item in items]
    assert found and {type(item) for item in found} == {float}
    with pytest.raises(JobExecutionError, match=r"'members' of the operator 'Map' \(uid members\) was saved as"):
        _members(Types.STRING(), union, parallelism, start_from=path)
    with pytest.raises(JobExecutionError, match="cannot become"):
        _members(Types.INT(), not union, parallelism, start_from=path)


class _Rules(KeyedBroadcastProcessFunction):
    def __init__(self, descriptor: MapStateDescriptor) -> None:
        self.descriptor = descriptor

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield sorted(ctx.get_broadcast_state(self.descriptor).items())

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        ctx.get_broadcast_state(self.descriptor).put(value, 1)
        yield from ()


def _rules(value_type: Any, **options: Any) -> tuple[list[Any], str | None]:
    executor = LocalExecutor(epoch_records=10, **options)
    env = StreamExecutionEnvironment(executor=executor)
    descriptor = MapStateDescriptor("rules", Types.STRING(), value_type)
    rules = env.from_collection(["a"]).uid("rules").broadcast(descriptor)
    keyed = env.from_collection(list(range(60))).uid("n").key_by(lambda n: n % 3)
    stream = keyed.connect(rules).process(_Rules(descriptor)).uid("applying")
    return list(stream.execute_and_collect()), executor.savepoint_path


def test_broadcast_state_is_converted_too(tmp_path: Path) -> None:
    _, path = _rules(Types.INT(), stop_after=2, savepoint_directory=str(tmp_path))
    results, _ = _rules(Types.DOUBLE(), start_from=path)
    assert results[-1] == [("a", 1.0)] and type(results[-1][0][1]) is float
    with pytest.raises(JobExecutionError, match=r"'rules' of .*the values: INT cannot become STRING"):
        _rules(Types.STRING(), start_from=path)


# -- operators ---------------------------------------------------------------------------------------------------------


def _program(
    *, uids: bool = True, before: bool = False, behind: bool = False, name: str = "count", **options: Any
) -> tuple[list[Any], str | None]:
    executor = LocalExecutor(epoch_records=10, **options)
    env = StreamExecutionEnvironment(executor=executor)
    numbers = env.from_collection(list(range(60)), Types.INT()).uid("numbers")
    if before:
        numbers = numbers.map(lambda n: n, Types.INT())
    counting = numbers.key_by(lambda n: n % 3).process(_Keeping(ValueStateDescriptor("n", Types.INT()), _count))
    counting = (counting.uid("counting") if uids else counting).name(name)
    if behind:
        counting = counting.key_by(lambda r: r[0]).process(_Keeping(ValueStateDescriptor("m", Types.INT()), _count))
        counting = counting.uid("behind")
    return list(counting.execute_and_collect()), executor.savepoint_path


def test_operators_are_added(tmp_path: Path) -> None:
    before, path = _program(stop_after=2, savepoint_directory=str(tmp_path))
    after, _ = _program(before=True, behind=True, start_from=path)
    assert dict(after) == {key: (60 - len(before)) // 3 for key in (0, 1, 2)}, "the new one starts with nothing"
    assert len(before) + len(after) == 60


def test_an_operator_is_removed(tmp_path: Path) -> None:
    before, path = _program(behind=True, stop_after=2, savepoint_directory=str(tmp_path))
    with pytest.raises(JobExecutionError, match=r"\(uid behind\), which this program does not have.*\.uid\('behind'\)"):
        _program(start_from=path)
    after, _ = _program(start_from=path, allow_non_restored_state=True)
    assert len(before) + len(after) == 60 and dict(after) == {0: 20, 1: 20, 2: 20}


def test_a_name_may_change_also_without_uid(tmp_path: Path) -> None:
    _, path = _program(uids=False, stop_after=2, savepoint_directory=str(tmp_path))
    after, _ = _program(uids=False, name="another", start_from=path)
    assert dict(after) == {0: 20, 1: 20, 2: 20}


def test_without_uid_an_operator_is_not_found_again_in_a_changed_program(tmp_path: Path) -> None:
    _, path = _program(uids=False, stop_after=2, savepoint_directory=str(tmp_path))
    with pytest.raises(JobExecutionError, match=r"state of the operator 'count' .*give all operators with state") as no:
        _program(uids=False, before=True, start_from=path)
    found = re.search(r"\.uid\('([0-9a-f]{32})'\)", str(no.value))
    assert found is not None


# -- going on from the last epoch --------------------------------------------------------------------------------------


class _Modulo(KeySelector):
    def get_key(self, value: int) -> int:
        return value % 3


def _level(descriptor: StateDescriptor, use: Use, late: bool = False) -> JobBlueprint:
    by_key = edge(ByKey(_Modulo()), 1, 1)
    keeping = operator(2, "keyed_process", _Keeping(descriptor, use, late), level=1)
    sink = operator(3, "sink", CollectSink(), level=1, sink=True)
    return job([operator(1, "source"), keeping, sink], [by_key, chained(1, 2, 3, level=1)])


def _rows(job_: JobBlueprint, numbers: list[int]) -> list[ExchangeRow]:
    rows: list[ExchangeRow] = []
    writer = writer_for(job_.edges[0], 0, 1000, rows.append)
    writer.emit(Batch(numbers))
    writer.flush()
    return rows


def _epoch(log: StateLog, job_: JobBlueprint, numbers: list[int], run_id: str) -> SubtaskReport:
    *_, report = run_level(LevelBlob.of(job_, 1, run_id), 0, _rows(job_, numbers), log)
    return read_report(report.payload)


@pytest.mark.parametrize("late", [False, True], ids=["asked in open", "asked late"])
def test_a_changed_program_goes_on_from_its_last_epoch(late: bool) -> None:
    log, old = StateLog(MemoryStore()), _level(ValueStateDescriptor("row", _OLD), _visit)
    for numbers in ([0, 1, 2], [3, 4], [5]):
        assert _epoch(log, old, numbers, "old").failure is None
    row_type = Types.ROW_NAMED(_NEW_NAMES, _NEW_TYPES)
    new = _level(ValueStateDescriptor("row", row_type.with_defaults({"country": "?"})), _visit_with_country, late)
    newest = _level(ValueStateDescriptor("row", row_type.with_defaults({"country": "!"})), _visit_with_country, late)
    visits = []
    for job_, numbers in ((new, [6]), (new, [6]), (newest, [7]), (newest, [8])):
        forget_containers()
        report = _epoch(log, job_, numbers, "new")
        assert report.failure is None
        visits += [(row.visits, row.last, row.country) for _, row in report.committables[3]]
    assert visits == [(3, 6, "?"), (4, 6, "?"), (3, 7, "?"), (3, 8, "?")]


def test_a_program_that_does_not_fit_to_its_last_epoch_leaves_it_as_it_is() -> None:
    log, old = StateLog(MemoryStore()), _level(ValueStateDescriptor("row", _OLD), _visit)
    assert _epoch(log, old, [0, 1, 2], "old").failure is None
    token = log.token()
    forget_containers()
    failure = _epoch(log, _level(ValueStateDescriptor("row", Types.STRING()), _visit), [], "new").failure
    assert failure is not None and "the state 'row' of the operator 'keyed_process 2' (uid uid-2)" in failure.message
    assert log.token() == token
    forget_containers()
    assert _epoch(log, old, [0], "old again").failure is None
