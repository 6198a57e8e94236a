"""Data becomes keyed state: what a job would have in its state, had it processed the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from penstock.common.errors import ConfigurationError
from penstock.common.typeinfo import RowTypeInfo
from penstock.common.types import Row
from penstock.functions.state_descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
)
from penstock.runtime.coercion import coercer
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.saved_parts import Label, write_part
from penstock.runtime.savepoint import SavepointPart
from penstock.runtime.state_schema import DeclaredState
from penstock.state_processor.entries import entry_of_content

ENTRIES_PER_PIECE = 10_000
Selector = str | Sequence[str] | Callable[[Any], Any] | None
_PART = "_penstock_part"
_ABSENT = object()


@dataclass(frozen=True)
class Selectors:
    """Where in a record the key is, the value, and for map state the key in the map."""

    key: Selector
    value: Selector = None
    map_key: Selector = None

    def check(self, descriptor: StateDescriptor) -> None:
        name = descriptor.get_name()
        if self.key is None:
            raise ConfigurationError(f"state {name!r} from records: say where the key is, for example key='user'")
        if isinstance(descriptor, MapStateDescriptor) and self.map_key is None:
            raise ConfigurationError(f"map state {name!r} from records: say where the key in the map is (map_key=...)")

    def columns(self) -> list[str]:
        """The columns of a DataFrame that the key consists of."""
        if isinstance(self.key, str):
            return [self.key]
        if self.key is None or callable(self.key):
            raise ConfigurationError("with a Spark DataFrame, key is the name of a column, or several names")
        return list(self.key)


def is_spark_frame(data: Any) -> bool:
    return hasattr(data, "mapInArrow")


def contents(descriptor: StateDescriptor, data: Any, selectors: Selectors) -> dict[Any, Any]:
    """By key: what the state holds. A mapping is just that; records of tables are put together."""
    coerce = coercer(descriptor.type_info) or _same
    if isinstance(data, Mapping):
        return {key: coerce(content) for key, content in data.items()}
    selectors.check(descriptor)
    key_of, add = _selected(selectors.key), _adding(descriptor, selectors)
    gathered: dict[Any, Any] = {}
    for record in _records(data):
        key = key_of(record)
        gathered[key] = add(gathered.get(key, _ABSENT), record)
    return {key: coerce(content) for key, content in gathered.items()}


def _records(data: Any) -> Iterable[Any]:
    if hasattr(data, "to_batches"):
        return (record for batch in data.to_batches() for record in batch.to_pylist())
    if hasattr(data, "to_dict"):
        return data.to_dict("records")  # type: ignore[no-any-return]
    return data  # type: ignore[no-any-return]


def _selected(selector: Selector) -> Callable[[Any], Any]:
    if callable(selector):
        return selector
    if isinstance(selector, str):
        return lambda record: record[selector]
    names = list(selector or ())
    return lambda record: tuple(record[name] for name in names)


def _adding(descriptor: StateDescriptor, selectors: Selectors) -> Callable[[Any, Any], Any]:
    """A function from what a key has, and another record of it, to what it has then."""
    value_of = _value_of(descriptor, selectors.value)
    match descriptor:
        case ListStateDescriptor():
            return lambda content, record: [*_or(content, ()), value_of(record)]
        case MapStateDescriptor():
            map_key_of = _selected(selectors.map_key)
            return lambda content, record: {**_or(content, {}), map_key_of(record): value_of(record)}
        case ReducingStateDescriptor():
            reduce = descriptor.get_reduce_function().reduce
            return lambda content, record: value_of(record) if content is _ABSENT else reduce(content, value_of(record))
        case AggregatingStateDescriptor():
            function = descriptor.get_agg_function()
            return lambda content, record: function.add(
                value_of(record), function.create_accumulator() if content is _ABSENT else content
            )
    return lambda _, record: value_of(record)


def _or(content: Any, empty: Any) -> Any:
    return empty if content is _ABSENT else content


def _value_of(descriptor: StateDescriptor, selector: Selector) -> Callable[[Any], Any]:
    if selector is not None:
        return _selected(selector)
    row_type = getattr(descriptor, "elem_type_info", None) or getattr(descriptor, "value_type_info", None)
    row_type = row_type or descriptor.type_info
    if isinstance(row_type, RowTypeInfo):
        names = row_type.get_field_names()
        return lambda record: Row._of([record[name] for name in names], names)
    if isinstance(descriptor, AggregatingStateDescriptor):
        return _same
    raise ConfigurationError(
        f"state {descriptor.get_name()!r} from records: say where the value is, for example value='visits'"
    )


def _same(value: Any) -> Any:
    return value


def pieces_of(uid: str, descriptor: StateDescriptor, data: Iterable[tuple[Any, Any]], now: int) -> Iterator[Any]:
    """Labelled pieces for a part: contents by key, as a table writes them."""
    schema = DeclaredState.keyed(descriptor).schema
    label, entries = Label(uid, descriptor.get_name()), dict[Any, Any]()
    for key, content in data:
        entries[key] = entry_of_content(schema, content, now)
        if len(entries) == ENTRIES_PER_PIECE:
            yield label, (schema, entries)
            entries = {}
    if entries:
        yield label, (schema, entries)


# -- Spark -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SparkEntries:
    """Entries that are made of a Spark DataFrame, and written, in the executors."""

    frame: Any
    descriptor: StateDescriptor
    selectors: Selectors

    def write(self, directory: str, level: int, uid: str, now: int) -> list[SavepointPart]:
        """A part from each task; the rows of a key are brought together first."""
        descriptor, selectors = self.descriptor, self.selectors
        selectors.check(descriptor)
        columns = selectors.columns()

        def write_parts(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            records = (record for batch in batches for record in batch.to_pylist())
            first = next(records, None)
            if first is None:
                return
            grouped = _grouped(descriptor, selectors, _chained(first, records))
            part = write_part(directory, level, first[_PART], pieces_of(uid, descriptor, grouped, now))
            yield pa.RecordBatch.from_pydict({"part": [dumps(part)]})

        sorted_frame = self.frame.repartition(*columns).sortWithinPartitions(*columns)
        numbered = sorted_frame.selectExpr("*", f"spark_partition_id() as {_PART}")
        return [loads(bytes(row["part"])) for row in numbered.mapInArrow(write_parts, "part binary").collect()]


def _chained(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _grouped(descriptor: StateDescriptor, selectors: Selectors, records: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Neighbouring records of one key as its content."""
    coerce = coercer(descriptor.type_info) or _same
    key_of, add = _selected(selectors.key), _adding(descriptor, selectors)
    for key, of_key in groupby(records, key_of):
        content: Any = _ABSENT
        for record in of_key:
            content = add(content, record)
        yield key, coerce(content)
