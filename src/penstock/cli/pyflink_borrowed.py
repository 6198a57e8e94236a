"""Names that PyFlink's modules import for their own use, and that programs import from there: some of Flink's own
examples do, and so do editors. Read by the alias only; Penstock's modules offer what is theirs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

# By the module that lends: where each name is at home.
_BORROWED: dict[str, dict[str, str]] = {
    "common": {
        "datastream.formats.avro": "AvroRowDeserializationSchema AvroRowSerializationSchema",
        "datastream.formats.csv": "CsvRowDeserializationSchema CsvRowSerializationSchema",
        "datastream.formats.json": "JsonRowDeserializationSchema JsonRowSerializationSchema",
    },
    "datastream.async_data_stream": {
        "common.time": "Time",
        "common.typeinfo": "TypeInformation",
        "datastream.data_stream": "DataStream",
    },
    "datastream.async_retry_strategies": {
        "datastream.functions": "AsyncRetryPredicate AsyncRetryStrategy",
    },
    "datastream.connectors.cassandra": {
        "common.time": "Duration",
    },
    "datastream.connectors.dynamic_kafka": {
        "common.serialization": "DeserializationSchema",
        "datastream.connectors.base": "Source",
        "datastream.connectors.kafka": "KafkaOffsetsInitializer",
    },
    "datastream.connectors.elasticsearch": {
        "datastream.connectors.base": "DeliveryGuarantee Sink",
    },
    "datastream.connectors.file_system": {
        "common.serialization": "BulkWriterFactory Encoder RowDataBulkWriterFactory",
        "common.time": "Duration",
        "common.utils": "JavaObjectWrapper",
        "datastream.connectors.base": "Sink Source StreamTransformer SupportsPreprocessing",
        "datastream.functions": "SinkFunction",
    },
    "datastream.connectors.hybrid_source": {
        "datastream.connectors.base": "Source",
    },
    "datastream.connectors.jdbc": {
        "common.typeinfo": "RowTypeInfo",
        "datastream.functions": "SinkFunction",
    },
    "datastream.connectors.kafka": {
        "common.serialization": "DeserializationSchema SerializationSchema",
        "common.typeinfo": "TypeInformation Types",
        "common.types": "Row",
        "datastream.connectors.base": "DeliveryGuarantee Sink Source StreamTransformer SupportsPreprocessing",
        "datastream.functions": "SinkFunction SourceFunction",
    },
    "datastream.connectors.number_seq": {
        "datastream.connectors.base": "Source",
    },
    "datastream.connectors.rabbitmq": {
        "common.serialization": "DeserializationSchema SerializationSchema",
        "datastream.functions": "SinkFunction SourceFunction",
    },
    "datastream.data_stream": {
        "common.execution_config": "ExecutionConfig",
        "common.typeinfo": "RowTypeInfo TypeInformation Types",
        "common.types": "Row",
        "common.watermark_strategy": "TimestampAssigner WatermarkStrategy",
        "datastream.connectors.base": "Sink",
        "datastream.functions": (
            "AggregateFunction AllWindowFunction BroadcastProcessFunction CoFlatMapFunction CoMapFunction "
            "CoProcessFunction FilterFunction FlatMapFunction Function KeySelector "
            "KeyedBroadcastProcessFunction KeyedCoProcessFunction KeyedProcessFunction MapFunction "
            "NullByteKeySelector Partitioner PassThroughAllWindowFunction PassThroughWindowFunction "
            "ProcessAllWindowFunction ProcessFunction ProcessWindowFunction ReduceFunction RuntimeContext "
            "SinkFunction WindowFunction"
        ),
        "datastream.output_tag": "OutputTag",
        "datastream.slot_sharing_group": "SlotSharingGroup",
        "datastream.state": (
            "AggregatingStateDescriptor ListStateDescriptor MapStateDescriptor ReducingState "
            "ReducingStateDescriptor StateDescriptor"
        ),
        "datastream.window": (
            "CountSlidingWindowAssigner CountTumblingWindowAssigner CountWindowSerializer "
            "GlobalWindowSerializer MergingWindowAssigner TimeWindowSerializer Trigger WindowAssigner "
            "WindowOperationDescriptor"
        ),
    },
    "datastream.formats.avro": {
        "common.io": "InputFormat",
        "common.serialization": "BulkWriterFactory DeserializationSchema SerializationSchema",
        "common.typeinfo": "TypeInformation",
        "datastream.utils": "ResultTypeQueryable",
    },
    "datastream.formats.csv": {
        "common.serialization": (
            "BulkWriterFactory DeserializationSchema RowDataBulkWriterFactory SerializationSchema"
        ),
        "common.typeinfo": "TypeInformation",
        "datastream.connectors.file_system": "StreamFormat",
    },
    "datastream.formats.json": {
        "common.serialization": "DeserializationSchema SerializationSchema",
        "common.typeinfo": "TypeInformation",
    },
    "datastream.formats.orc": {
        "common.configuration": "Configuration",
        "common.serialization": "BulkWriterFactory RowDataBulkWriterFactory",
    },
    "datastream.formats.parquet": {
        "common.configuration": "Configuration",
        "common.serialization": "BulkWriterFactory RowDataBulkWriterFactory",
        "datastream.connectors.file_system": "BulkFormat StreamFormat",
        "datastream.formats.avro": "AvroSchema",
    },
    "datastream.functions": {
        "datastream.state": (
            "AggregatingState AggregatingStateDescriptor BroadcastState ListState ListStateDescriptor "
            "MapState MapStateDescriptor ReadOnlyBroadcastState ReducingState ReducingStateDescriptor "
            "ValueState ValueStateDescriptor"
        ),
        "datastream.time_domain": "TimeDomain",
        "datastream.timerservice": "TimerService",
        "metrics.metricbase": "MetricGroup",
    },
    "datastream.output_tag": {
        "common.typeinfo": "RowTypeInfo TypeInformation Types",
    },
    "datastream.state": {
        "common.time": "Duration Time",
        "common.typeinfo": "TypeInformation Types",
    },
    "datastream.stream_execution_environment": {
        "common.execution_config": "ExecutionConfig",
        "common.io": "InputFormat",
        "datastream.checkpoint_config": "CheckpointConfig",
        "datastream.checkpointing_mode": "CheckpointingMode",
        "datastream.slot_sharing_group": "SlotSharingGroup",
        "datastream.utils": "ResultTypeQueryable",
    },
    "datastream.utils": {
        "common.configuration": "Configuration",
        "common.typeinfo": (
            "BasicArrayTypeInfo ExternalTypeInfo ListTypeInfo MapTypeInfo ObjectArrayTypeInfo "
            "PrimitiveArrayTypeInfo RowTypeInfo TupleTypeInfo TypeInformation"
        ),
        "common.types": "Row RowKind",
    },
    "datastream.window": {
        "common.serializer": "TypeSerializer",
        "common.time": "Time",
        "common.typeinfo": "Types",
        "datastream.functions": "ReduceFunction RuntimeContext",
        "datastream.output_tag": "OutputTag",
        "datastream.state": "ReducingState ReducingStateDescriptor State StateDescriptor ValueStateDescriptor",
        "metrics.metricbase": "MetricGroup",
    },
    "table.catalog": {
        "common.configuration": "Configuration",
        "table.resolved_expression": "ResolvedExpression",
        "table.schema": "Schema",
        "table.table_schema": "TableSchema",
        "table.types": "DataType",
    },
    "table.compiled_plan": {
        "table.explain_detail": "ExplainDetail",
    },
    "table.expression": {
        "table.types": "DataTypes",
    },
    "table.expressions": {
        "table.udf": "UserDefinedFunctionWrapper",
    },
    "table.statement_set": {
        "table.explain_detail": "ExplainDetail",
    },
    "table.table": {
        "table.explain_detail": "ExplainDetail",
        "table.expressions": "col with_columns without_columns",
        "table.udf": (
            "UserDefinedAggregateFunctionWrapper UserDefinedScalarFunctionWrapper UserDefinedTableFunctionWrapper"
        ),
    },
    "table.table_environment": {
        "table.explain_detail": "ExplainDetail",
        "table.types": "RowField RowType",
        "table.udf": "AggregateFunction TableAggregateFunction UserDefinedFunctionWrapper udaf udtaf",
    },
    "table.table_pipeline": {
        "table.explain_detail": "ExplainDetail",
    },
    "table.table_result": {
        "common.types": "RowKind",
    },
    "table.udf": {
        "metrics.metricbase": "MetricGroup",
        "table.expression": "Expression",
    },
}


def lend(module: ModuleType, place: str) -> None:
    """Lets a module of Penstock give what PyFlink's at the same place has borrowed; nothing is imported yet."""
    homes = {name: home for home, names in _BORROWED.get(place, {}).items() for name in names.split()}
    if not homes:
        return
    own: Callable[[str], Any] | None = vars(module).get("__getattr__")

    def __getattr__(name: str) -> Any:  # noqa: N807 - what Python asks a module for
        if name in homes:
            return getattr(import_module(f"penstock.{homes[name]}"), name)
        if own is not None:
            return own(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__getattr__ = __getattr__  # type: ignore[method-assign]
