"""Connectors: sources and sinks that reach outside of a job.

Names are loaded when they are first used, so that workers do not pay for what they do not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.datastream.connectors.base import DeliveryGuarantee, Sink, Source

if TYPE_CHECKING:
    from penstock.datastream.connectors.file_system import BucketAssigner as BucketAssigner
    from penstock.datastream.connectors.file_system import FileEnumeratorProvider as FileEnumeratorProvider
    from penstock.datastream.connectors.file_system import FileSink as FileSink
    from penstock.datastream.connectors.file_system import FileSource as FileSource
    from penstock.datastream.connectors.file_system import FileSourceBuilder as FileSourceBuilder
    from penstock.datastream.connectors.file_system import FileSplitAssignerProvider as FileSplitAssignerProvider
    from penstock.datastream.connectors.file_system import OutputFileConfig as OutputFileConfig
    from penstock.datastream.connectors.file_system import RollingPolicy as RollingPolicy
    from penstock.datastream.connectors.file_system import StreamFormat as StreamFormat
    from penstock.datastream.connectors.file_system import StreamingFileSink as StreamingFileSink
    from penstock.datastream.connectors.number_seq import NumberSequenceSource as NumberSequenceSource

__all__ = ["DeliveryGuarantee", "Sink", "Source"]

_NAMES_BY_MODULE = {
    "number_seq": "NumberSequenceSource",
    "file_system": "BucketAssigner FileEnumeratorProvider FileSink FileSource FileSourceBuilder"
    " FileSplitAssignerProvider OutputFileConfig RollingPolicy StreamFormat StreamingFileSink",
    "jdbc": "JdbcSink JdbcConnectionOptions JdbcExecutionOptions",
    "kafka": "KafkaSource FlinkKafkaConsumer FlinkKafkaProducer Semantic",
    "dynamic_kafka": "DynamicKafkaSource DynamicKafkaSourceBuilder KafkaMetadataService"
    " KafkaRecordDeserializationSchema KafkaStreamSetSubscriber KafkaStreamSubscriber StreamPatternSubscriber"
    " SingleClusterTopicMetadataService",
    "pulsar": "PulsarSource PulsarSourceBuilder StartCursor StopCursor",
    "rabbitmq": "RMQSource RMQSink RMQConnectionConfig",
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
