"""What the methods of streams leave in the graph."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.datastream.recording_executor import environment

from penstock.common.errors import ProgramError
from penstock.common.time import Duration
from penstock.common.typeinfo import Types
from penstock.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.data_stream import (
    BroadcastConnectedStream,
    BroadcastStream,
    CachedDataStream,
    ConnectedStreams,
    DataStream,
    KeyedStream,
)
from penstock.datastream.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    SinkFunction,
)
from penstock.datastream.slot_sharing_group import SlotSharingGroup
from penstock.datastream.state import MapStateDescriptor
from penstock.functions.output_tag import OutputTag
from penstock.graph.transformation import Chaining, Node
from penstock.runtime.operators.registry import OPERATORS
from penstock.runtime.partitioning import ByKey

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
PICKLED = Types.PICKLED_BYTE_ARRAY()
RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())


class SomeMap(MapFunction):
    def map(self, value: Any) -> Any:
        return value


class SomeFlatMap(FlatMapFunction):
    def flat_map(self, value: Any) -> Any:
        yield value


class SomeFilter(FilterFunction):
    def filter(self, value: Any) -> bool:
        return True


class SomeProcess(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class SomeKeyedProcess(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value


class SomeCoMap(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return value

    def map2(self, value: Any) -> Any:
        return value


class SomeCoFlatMap(CoFlatMapFunction):
    def flat_map1(self, value: Any) -> Any:
        yield value

    def flat_map2(self, value: Any) -> Any:
        yield value


class _TwoInputs:
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield value

    def process_element2(self, value: Any, ctx: Any) -> Any:
        yield value


class SomeCoProcess(_TwoInputs, CoProcessFunction):
    pass


class SomeKeyedCoProcess(_TwoInputs, KeyedCoProcessFunction):
    pass


class _WithBroadcast:
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        yield value


class SomeBroadcast(_WithBroadcast, BroadcastProcessFunction[Any, Any, Any]):
    pass


class SomeKeyedBroadcast(_WithBroadcast, KeyedBroadcastProcessFunction[Any, Any, Any, Any]):
    pass


class SomeSink(SinkFunction):
    def invoke(self, value: Any, context: Any) -> None:
        pass


class EveryMillisecond(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return 1


def pairs() -> DataStream:
    env, _ = environment()
    return env.from_collection([("a", 1)], PAIR)


def keyed() -> KeyedStream:
    return pairs().key_by(lambda pair: pair[0], Types.STRING())


def both(first: DataStream) -> ConnectedStreams:
    return first.connect(first.get_execution_environment().from_collection([1], Types.INT()))


def both_keyed() -> ConnectedStreams:
    return both(pairs()).key_by(lambda pair: pair[0], lambda number: number)


def with_rules(first: DataStream) -> BroadcastConnectedStream:
    rules = first.get_execution_environment().from_collection([1], Types.INT())
    return first.connect(rules.broadcast(RULES))


def operator(stream: DataStream) -> Node:
    return stream._operator_nodes("the test")[0]


def input_labels(stream: DataStream) -> list[list[str | None]]:
    return [
        [None if up.partitioning is None else up.partitioning.label for up in streams]
        for streams in operator(stream).inputs
    ]


@pytest.mark.parametrize(
    ("stream", "kind", "name", "type_info"),
    [
        (lambda: pairs().map(str), "map", "Map", PICKLED),
        (lambda: pairs().map(SomeMap(), Types.STRING()), "map", "Map", Types.STRING()),
        (lambda: pairs().flat_map(list), "flat_map", "FlatMap", PICKLED),
        (lambda: pairs().filter(bool), "filter", "Filter", PAIR),
        (lambda: pairs().process(SomeProcess()), "process", "PROCESS", PICKLED),
        (lambda: pairs().project(1), "map", "Projection", Types.TUPLE([Types.INT()])),
        (lambda: keyed().map(str), "map", "Map", PICKLED),
        (lambda: keyed().map(SomeMap(), PAIR), "keyed_map", "Map", PAIR),
        (lambda: keyed().flat_map(list, PAIR), "flat_map", "FlatMap", PAIR),
        (lambda: keyed().flat_map(SomeFlatMap()), "keyed_flat_map", "FlatMap", PICKLED),
        (lambda: keyed().filter(bool), "filter", "Filter", PAIR),
        (lambda: keyed().filter(SomeFilter()), "keyed_filter", "Filter", PAIR),
        (lambda: keyed().process(SomeKeyedProcess()), "keyed_process", "KEYED PROCESS", PICKLED),
        (lambda: keyed().reduce(max), "reduce", "Reduce", PAIR),
        (lambda: keyed().sum(1), "reduce", "Reduce", PAIR),
        (lambda: both(pairs()).map(SomeCoMap()), "co_map", "Co-Map", PICKLED),
        (lambda: both(pairs()).flat_map(SomeCoFlatMap()), "co_flat_map", "Co-Flat Map", PICKLED),
        (lambda: both(pairs()).process(SomeCoProcess()), "co_process", "Co-Process", PICKLED),
        (lambda: both_keyed().map(SomeCoMap(), PAIR), "keyed_co_map", "Co-Map", PAIR),
        (lambda: both_keyed().flat_map(SomeCoFlatMap()), "keyed_co_flat_map", "Co-Flat Map", PICKLED),
        (lambda: both_keyed().process(SomeCoProcess()), "keyed_co_process", "Co-Process", PICKLED),
        (lambda: both_keyed().process(SomeKeyedCoProcess()), "keyed_co_process", "Keyed Co-Process", PICKLED),
        (lambda: with_rules(pairs()).process(SomeBroadcast()), "broadcast", "Co-Process-Broadcast", PICKLED),
        (
            lambda: with_rules(keyed()).process(SomeKeyedBroadcast(), PAIR),
            "keyed_broadcast",
            "Keyed-Co-Process-Broadcast",
            PAIR,
        ),
        (
            lambda: pairs().assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps()),
            "timestamps",
            "Timestamps/Watermarks",
            PAIR,
        ),
        (lambda: pairs().process(SomeProcess()).get_side_output(OutputTag("t", PAIR)), "pass", "Map", PAIR),
    ],
)
def test_each_operation_becomes_one_operator(stream: Any, kind: str, name: str, type_info: Any) -> None:
    built = stream()
    node = operator(built)
    assert (node.kind, node.name, built.get_name()) == (kind, name, name)
    assert built.get_type() == node.output_type == type_info
    assert kind in OPERATORS
    assert node.origin.file == __file__


def test_the_origin_is_the_users_line() -> None:
    node = operator(pairs().map(str))
    assert "pairs().map(str)" in node.origin.text


def test_key_by_keeps_selector_and_declared_type() -> None:
    (upstream,) = keyed()._upstreams
    assert isinstance(upstream.partitioning, ByKey)
    assert upstream.partitioning.selector.get_key(("a", 1)) == "a"
    assert upstream.partitioning.key_type == Types.STRING()


def test_keying_again_forgets_the_first_key() -> None:
    again = keyed().key_by(lambda pair: pair[1])
    assert [up.partitioning.selector.get_key(("a", 1)) for up in again._upstreams] == [1]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("strategy", "label"),
    [
        ("shuffle", "SHUFFLE"),
        ("rebalance", "REBALANCE"),
        ("rescale", "RESCALE"),
        ("forward", "FORWARD"),
        ("broadcast", "BROADCAST"),
        ("global_", "GLOBAL"),
    ],
)
def test_exchange_strategies_are_on_the_edge_to_the_next_operator(strategy: str, label: str) -> None:
    exchanged = getattr(pairs(), strategy)()
    assert exchanged.get_type() == PAIR
    assert input_labels(exchanged.map(str)) == [[label]]


def test_the_last_exchange_wins() -> None:
    assert input_labels(pairs().rebalance().broadcast().shuffle().map(str)) == [["SHUFFLE"]]


def test_partition_custom_takes_callables() -> None:
    stream = pairs().partition_custom(lambda key, count: key % count, lambda pair: pair[1])
    (upstream,) = operator(stream.map(str)).upstreams
    custom: Any = upstream.partitioning
    assert custom.partitioner.partition(custom.selector.get_key(("a", 5)), 3) == 2


def test_union_is_several_upstreams_of_one_input() -> None:
    first = pairs()
    second = first.map(lambda pair: pair, PAIR)
    mapped = first.union(second.rebalance(), first).map(str)
    assert input_labels(mapped) == [[None, "REBALANCE", None]]


def test_union_refuses_different_types() -> None:
    first = pairs()
    with pytest.raises(ProgramError, match="Cannot union streams of different types: TupleTypeInfo.* and Integer"):
        first.union(first.map(len, Types.INT()))


def test_connected_streams_are_two_inputs() -> None:
    assert input_labels(both(pairs().rebalance()).map(SomeCoMap())) == [["REBALANCE"], [None]]
    assert input_labels(both_keyed().map(SomeCoMap())) == [["HASH"], ["HASH"]]


def test_the_broadcast_side_is_the_second_input_and_brings_its_descriptors() -> None:
    stream = with_rules(keyed()).process(SomeKeyedBroadcast())
    assert input_labels(stream) == [["HASH"], ["BROADCAST"]]
    assert operator(stream).params["descriptors"] == [RULES]


def test_streams_of_two_environments_do_not_meet() -> None:
    with pytest.raises(ProgramError, match="belong to two"):
        pairs().union(pairs())
    with pytest.raises(ProgramError, match="belong to two"):
        pairs().connect(pairs()).map(SomeCoMap())


def test_side_output_records_its_type_and_can_be_named() -> None:
    main = pairs().process(SomeProcess())
    side = main.get_side_output(OutputTag("late", Types.STRING())).name("late ones").set_parallelism(2)
    assert operator(main).side_output_types == {"late": Types.STRING()}
    assert operator(main).name == "PROCESS"
    (upstream,) = operator(side).upstreams
    assert (upstream.node, upstream.side_output) == (operator(main), "late")
    assert (operator(side).name, operator(side).parallelism) == ("late ones", 2)


def test_one_side_output_has_one_type() -> None:
    main = pairs().process(SomeProcess())
    main.get_side_output(OutputTag("late"))
    with pytest.raises(ProgramError, match="'late' of 'PROCESS' was read with the type Pickled"):
        main.get_side_output(OutputTag("late", Types.STRING()))


def test_settings_reach_the_node() -> None:
    stream = pairs().map(str).name("text").uid("text-1").set_parallelism(2).set_max_parallelism(16)
    stream.set_description("as text").slot_sharing_group("heavy").start_new_chain()
    node = operator(stream)
    assert (node.name, node.uid, node.parallelism, node.max_parallelism) == ("text", "text-1", 2, 16)
    assert (node.description, node.slot_sharing_group, node.chaining) == ("as text", "heavy", Chaining.HEAD)
    assert operator(stream.disable_chaining()).chaining is Chaining.NEVER
    assert operator(stream.set_parallelism(-1)).parallelism is None


def test_sinks_have_settings_too() -> None:
    sink = pairs().print("id").name("out").uid("u").set_parallelism(1).set_description("d").disable_chaining()
    (node,) = sink._operator_nodes("")
    assert (node.kind, node.name, node.uid, node.parallelism, node.description) == ("sink", "out", "u", 1, "d")
    assert node.is_sink
    assert (node.function._identifier, node.params["type_info"]) == ("id", PAIR)


def test_a_keyed_stream_prints_without_identifier() -> None:
    (node,) = keyed().print("ignored")._operator_nodes("")
    assert node.function._identifier is None


def test_a_sink_function_becomes_a_sink() -> None:
    (node,) = pairs().add_sink(SomeSink())._operator_nodes("")
    assert (node.kind, node.is_sink) == ("sink_function", True)


def test_operators_take_the_environments_parallelism_of_the_moment() -> None:
    source = pairs()
    early = source.map(str)
    source.get_execution_environment().set_parallelism(5)
    assert (operator(early).parallelism, operator(early.map(str)).parallelism) == (3, 5)


def test_force_non_parallel_fixes_one() -> None:
    stream = pairs().map(str).force_non_parallel()
    assert (operator(stream).parallelism, operator(stream).max_parallelism) == (1, 1)
    with pytest.raises(ProgramError, match="must be 1"):
        stream.set_parallelism(2)


def test_a_collection_cannot_be_read_in_parallel() -> None:
    source = pairs()
    assert operator(source.set_parallelism(1)).parallelism == 1
    with pytest.raises(ProgramError, match="parallelism of non parallel operator must be 1: 'Collection Source'"):
        source.set_parallelism(2)


def test_watermarks_without_assigner_stay_beside_their_input() -> None:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    assert operator(pairs().assign_timestamps_and_watermarks(strategy)).parallelism == 1
    with_assigner = strategy.with_timestamp_assigner(EveryMillisecond())
    node = operator(pairs().assign_timestamps_and_watermarks(with_assigner))
    assert (node.parallelism, node.function) == (3, with_assigner)


def test_the_watermarks_of_a_source_follow_its_settings() -> None:
    env, _ = environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    stream = env.from_source(NumberSequenceSource(1, 9), strategy, "numbers").set_parallelism(2)
    (upstream,) = stream._upstreams
    assert (upstream.node.kind, upstream.node.function, upstream.node.parallelism) == ("timestamps", strategy, 2)
    (source,) = upstream.node.upstreams
    assert (source.node.name, source.node.parallelism, stream.get_name()) == ("numbers", 2, "numbers")
    assert stream.get_type() == Types.LONG()


def test_a_source_without_watermarks_is_one_node() -> None:
    env, _ = environment()
    stream = env.from_source(NumberSequenceSource(1, 9), WatermarkStrategy.no_watermarks(), "numbers")
    assert [up.node.kind for up in stream._upstreams] == ["source"]


def test_the_plan_shows_names_and_ways() -> None:
    stream = keyed().sum(1).name("total")
    stream.print()
    nodes = json.loads(stream.get_execution_environment().get_execution_plan())["nodes"]
    assert [(node["type"], node["parallelism"]) for node in nodes] == [
        ("Source: Collection Source", 1),
        ("total", 3),
        ("Sink: Print to Std. Out", 3),
    ]
    assert nodes[1]["predecessors"][0]["ship_strategy"] == "HASH"


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: keyed().name("x"), r"name\(\) is not possible on a KeyedStream"),
        (lambda: keyed().set_parallelism(2), "not possible on a KeyedStream"),
        (lambda: pairs().rebalance().uid("x"), "exchange REBALANCE, which is no operator"),
        (lambda: keyed().rebalance(), "Cannot override partitioning for KeyedStream"),
        (lambda: keyed().broadcast(RULES), "Cannot override partitioning for KeyedStream"),
        (lambda: keyed().get_side_output(OutputTag("x")), "not possible on a KeyedStream"),
        (lambda: keyed().process(SomeProcess()), "KeyedProcessFunction is required.*SomeProcess"),  # type: ignore[arg-type]
        (lambda: both(pairs()).process(SomeKeyedCoProcess()), "needs two keyed streams"),
        (lambda: with_rules(keyed()).process(SomeBroadcast()), "non-keyed DataStream"),
        (lambda: with_rules(pairs()).process(SomeKeyedBroadcast()), "keyed DataStream"),
        (lambda: pairs().map(1), r"map\(\): expected a MapFunction or a callable"),  # type: ignore[arg-type]
        (lambda: pairs().map(str, Types.STRING), r"call it: Types.STRING\(\)"),  # type: ignore[arg-type]
        (lambda: pairs().project(2), "has no field 2; use indexes from 0 to 1"),
        (lambda: pairs().map(str).project(0), "Only Tuple DataStreams can be projected"),
        (lambda: pairs().map(str).set_parallelism(0), "at least 1"),
        (lambda: pairs().map(str).set_max_parallelism(40000), "between 1 and 32768. Found: 40000"),
        (lambda: pairs().map(str).uid(""), "non-empty"),
        (lambda: pairs().connect(5), "takes a DataStream or a BroadcastStream"),  # type: ignore[call-overload]
        (lambda: pairs().sink_to(SomeSink()), r"goes to add_sink\(\)"),
        (lambda: pairs().execute_and_collect(limit=0), "Limit must be greater than 0"),
        (lambda: list(pairs()), r"use ds.execute_and_collect\(\)"),
        (lambda: BroadcastStream(pairs(), ["rules"]), "takes MapStateDescriptors"),  # type: ignore[list-item]
    ],
)
def test_mistakes_are_told_while_building(attempt: Any, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        attempt()


def test_a_cached_stream_is_the_stream() -> None:
    stream = pairs().map(str)
    with pytest.warns(UserWarning, match="no effect"):
        cached = stream.cache()
    assert isinstance(cached, CachedDataStream)
    assert cached.map(len)._nodes[0].inputs == stream.map(len)._nodes[0].inputs
    cached.invalidate()


def test_the_resources_of_a_slot_sharing_group_are_warned_of() -> None:
    group = SlotSharingGroup.builder("big").set_cpu_cores(2).set_task_heap_memory_mb(10).build()
    with pytest.warns(UserWarning, match="have no effect"):
        pairs().map(str).slot_sharing_group(group)


def test_a_buffer_timeout_is_checked_and_warned_of() -> None:
    with pytest.warns(UserWarning, match="has no effect"):
        pairs().map(str).set_buffer_timeout(50)
    with pytest.raises(ProgramError, match="non-negative or -1"):
        pairs().map(str).set_buffer_timeout(-2)


def test_a_hash_is_the_identity_as_it_is() -> None:
    mapped = pairs().map(str).set_uid_hash("AB" * 16)
    assert mapped._nodes[0].uid == "ab" * 16
    with pytest.raises(ProgramError, match="32 character"):
        mapped.set_uid_hash("my-map")
