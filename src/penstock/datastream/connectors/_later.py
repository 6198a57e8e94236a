"""Connectors and formats of PyFlink that Penstock does not have: importing them works, using them says why not."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.common.errors import NotSupportedError

_UNPLANNED = "it could not be tried against a real server yet"
_WRITE_YOUR_OWN = (
    "write a Sink (create_writer, and create_committer for exactly once) or a Source around the system's own Python"
    " client: docs/connectors-own.md has both with a complete example"
)

# module -> why, what to do instead, names (Outer.Inner for nested classes)
LATER: dict[str, tuple[str, str, str]] = {
    "connectors.kinesis": (
        _UNPLANNED,
        _WRITE_YOUR_OWN,
        "KinesisShardAssigner KinesisDeserializationSchema WatermarkTracker FlinkKinesisConsumer"
        " PartitionKeyGenerator KinesisStreamsSink KinesisStreamsSinkBuilder KinesisFirehoseSink"
        " KinesisFirehoseSinkBuilder",
    ),
    "connectors.pulsar": (
        _UNPLANNED,
        _WRITE_YOUR_OWN,
        "StartCursor StopCursor RangeGenerator PulsarSource PulsarSourceBuilder TopicRoutingMode MessageDelayer"
        " PulsarSink PulsarSinkBuilder",
    ),
}


class _RefusedClass(type):
    """Lets programs name the class and its members; calling either raises."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def refuse_member(*args: Any, **kwargs: Any) -> NoReturn:
            raise NotSupportedError(f"{cls.__name__}.{name}: {vars(cls)['_reason']}")

        return refuse_member


def _refuse(cls: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise NotSupportedError(f"{cls.__name__}: {cls._reason}")


def refused_classes(module: str) -> dict[str, type]:
    """The classes of a module that is not there yet, by name."""
    why, instead, names = LATER[module.split("penstock.datastream.")[-1]]
    reason = f"Penstock does not have this yet: {why}. Until then, {instead}."
    classes: dict[str, type] = {}
    for qualified in names.split():
        outer, _, inner = qualified.rpartition(".")
        members = {
            "__module__": module,
            "__qualname__": qualified,
            "__doc__": f"Not supported: {reason}",
            "__new__": _refuse,
            "_reason": reason,
        }
        refused = _RefusedClass(inner, (), members)
        if outer:
            setattr(classes[outer], inner, refused)
        else:
            classes[inner] = refused
    return classes
