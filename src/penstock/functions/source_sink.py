"""User-written sources and sinks, and the refusal of Java ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.functions.base import Function

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from penstock.common.watermark_strategy import Watermark

__all__ = ["JavaFunctionWrapper", "SinkFunction", "SourceFunction"]


class JavaFunctionWrapper:
    """In PyFlink the holder of a Java function. Penstock has no Java functions and refuses them."""

    def __init__(self, j_function: Any) -> None:
        _refuse_java_function(type(self).__name__, j_function, "write the function in Python")

    def get_java_function(self) -> NoReturn:
        raise NotSupportedError("Penstock functions are Python objects: there is no Java function to get")


class SourceFunction(Function):
    """A source written in Python: subclass it and pass it to ``env.add_source``.

    Example::

        class Numbers(SourceFunction):
            def run(self, ctx):
                self.running = True
                for number in range(1000):
                    if not self.running:
                        return
                    ctx.collect(number)

            def cancel(self):
                self.running = False

    PyFlink's class of this name wraps a Java source; that is refused here.
    """

    class SourceContext(ABC):
        """How a source emits records, watermarks and idleness."""

        @abstractmethod
        def collect(self, value: Any) -> None:
            """Emit a record without timestamp."""

        @abstractmethod
        def collect_with_timestamp(self, value: Any, timestamp: int) -> None:
            """Emit a record with its event time in epoch milliseconds."""

        @abstractmethod
        def emit_watermark(self, watermark: int | Watermark) -> None:
            """Declare that no more records at or before this timestamp will follow."""

        @abstractmethod
        def mark_as_temporarily_idle(self) -> None:
            """Declare that watermarks should not wait for this source until it emits again."""

        @abstractmethod
        def get_checkpoint_lock(self) -> AbstractContextManager[Any]:
            """While it is held no snapshot is taken: emit and advance your position as one step."""

        @abstractmethod
        def close(self) -> None:
            """Called by the runtime when the source has ended."""

    def __new__(cls, *args: Any, **kwargs: Any) -> SourceFunction:
        if cls is SourceFunction:
            _refuse_bare_base(
                "SourceFunction",
                (*args, *kwargs.values()),
                "subclass SourceFunction and implement run(ctx) and cancel(), "
                "or use a source of penstock.datastream.connectors with env.from_source",
            )
        return super().__new__(cls)

    def __init__(self, source_func: Any = None) -> None:
        if source_func is not None:
            _refuse_java_function(type(self).__name__, source_func, "implement run(ctx) and cancel() in Python")

    @abstractmethod
    def run(self, ctx: SourceFunction.SourceContext) -> None:
        """Emit records until there are no more, or until :meth:`cancel` was called."""

    def cancel(self) -> None:  # noqa: B027 - a source that ends by itself needs none
        """Make :meth:`run` return soon; called from another thread."""

    def _as_source(self) -> Any:
        """The Source that does the work of a function which is one only by name; None for others."""
        return None


class SinkFunction(Function):
    """A sink written in Python: subclass it and pass it to ``ds.add_sink``.

    PyFlink's class of this name wraps a Java sink; that is refused here.
    """

    class Context(ABC):
        """What a sink may ask about the record that it is given."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """The clock of the machine, in epoch milliseconds."""

        @abstractmethod
        def current_watermark(self) -> int:
            """The watermark of this operator."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """The record's timestamp, or None when it has none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> SinkFunction:
        if cls is SinkFunction:
            _refuse_bare_base(
                "SinkFunction",
                (*args, *kwargs.values()),
                "subclass SinkFunction and implement invoke(value, context), "
                "or use a sink of penstock.datastream.connectors with ds.sink_to",
            )
        return super().__new__(cls)

    def __init__(self, sink_func: Any = None) -> None:
        if sink_func is not None:
            _refuse_java_function(type(self).__name__, sink_func, "implement invoke(value, context) in Python")

    @abstractmethod
    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        """Write one record."""

    def finish(self) -> None:  # noqa: B027 - optional for sinks
        """Called after the last record of a bounded stream: write out what is still buffered."""

    def _as_sink(self) -> Any:
        """The Sink that does the work of a function which is one only by name; None for others."""
        return None


def _refuse_java_function(class_name: str, given: Any, instead: str) -> NoReturn:
    described = f"Java class {given!r}" if isinstance(given, str) else f"{type(given).__name__} object"
    raise NotSupportedError(
        f"{class_name} was given the {described}, but Penstock runs on Python workers without Flink's Java "
        f"runtime: {instead}"
    )


def _refuse_bare_base(class_name: str, arguments: tuple[Any, ...], instead: str) -> NoReturn:
    """Before Python complains about abstract methods, which would not help who brings a Java class name."""
    if arguments:
        _refuse_java_function(class_name, arguments[0], instead)
    raise ProgramError(f"{class_name} is a base class: {instead}")
