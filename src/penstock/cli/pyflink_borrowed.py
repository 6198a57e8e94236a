"""Names that PyFlink's modules import for their own use, and that programs import from there: some of Flink's own
examples do. Read by the alias only; Penstock's modules offer what is theirs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

_HOMES = {
    "common": "Configuration Duration Encoder Row Time",
    "common.serialization": "DeserializationSchema SerializationSchema",
    "common.typeinfo": "RowTypeInfo TypeInformation Types",
    "datastream": "OutputTag ReduceFunction RuntimeContext SinkFunction SourceFunction TimeDomain TimerService",
    "datastream.connectors.base": "DeliveryGuarantee Sink Source StreamTransformer SupportsPreprocessing",
    "datastream.connectors.file_system": "BulkFormat StreamFormat",
    "datastream.connectors.kafka": "KafkaOffsetsInitializer",
    "datastream.formats.avro": "AvroRowDeserializationSchema AvroRowSerializationSchema AvroSchema",
    "datastream.formats.csv": "CsvRowDeserializationSchema CsvRowSerializationSchema",
    "datastream.formats.json": "JsonRowDeserializationSchema JsonRowSerializationSchema",
    "datastream.state": "AggregatingState AggregatingStateDescriptor BroadcastState ListState ListStateDescriptor"
    " MapState MapStateDescriptor ReadOnlyBroadcastState ReducingState ReducingStateDescriptor State StateDescriptor"
    " ValueState ValueStateDescriptor",
    "metrics": "MetricGroup",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_SCHEMAS = "DeserializationSchema SerializationSchema"
_BORROWED = {
    "common": "AvroRowDeserializationSchema AvroRowSerializationSchema CsvRowDeserializationSchema"
    " CsvRowSerializationSchema JsonRowDeserializationSchema JsonRowSerializationSchema",
    "datastream.connectors.cassandra": "Duration",
    "datastream.connectors.dynamic_kafka": "DeserializationSchema KafkaOffsetsInitializer Source",
    "datastream.connectors.elasticsearch": "DeliveryGuarantee Sink",
    "datastream.connectors.file_system": "Duration Encoder Sink SinkFunction Source StreamTransformer"
    " SupportsPreprocessing",
    "datastream.connectors.hybrid_source": "Source",
    "datastream.connectors.jdbc": "RowTypeInfo SinkFunction",
    "datastream.connectors.kafka": f"{_SCHEMAS} DeliveryGuarantee Row Sink SinkFunction Source SourceFunction"
    " StreamTransformer SupportsPreprocessing TypeInformation Types",
    "datastream.connectors.number_seq": "Source",
    "datastream.connectors.rabbitmq": f"{_SCHEMAS} SinkFunction SourceFunction",
    "datastream.formats.avro": f"{_SCHEMAS} TypeInformation",
    "datastream.formats.csv": f"{_SCHEMAS} StreamFormat TypeInformation",
    "datastream.formats.json": f"{_SCHEMAS} TypeInformation",
    "datastream.formats.orc": "Configuration",
    "datastream.formats.parquet": "AvroSchema BulkFormat Configuration StreamFormat",
    "datastream.functions": f"{_HOMES['datastream.state'].replace(' State StateDescriptor', '')} MetricGroup TimeDomain"
    " TimerService",
    "datastream.state": "Duration Time TypeInformation Types",
    "datastream.window": "MetricGroup OutputTag ReduceFunction ReducingState ReducingStateDescriptor RuntimeContext"
    " State StateDescriptor Time Types ValueStateDescriptor",
}


def lend(module: ModuleType, place: str) -> None:
    """Lets a module of Penstock give what PyFlink's at the same place has borrowed; nothing is imported yet."""
    borrowed = _BORROWED.get(place)
    if borrowed is None:
        return
    names = frozenset(borrowed.split())
    own: Callable[[str], Any] | None = vars(module).get("__getattr__")

    def __getattr__(name: str) -> Any:  # noqa: N807 - what Python asks a module for
        if name in names:
            return getattr(import_module(f"penstock.{_HOME_OF[name]}"), name)
        if own is not None:
            return own(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__getattr__ = __getattr__  # type: ignore[method-assign]
