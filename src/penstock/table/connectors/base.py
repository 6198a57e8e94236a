"""What a connector of tables is: options that are checked, and how rows come in or go out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.columns.kernels.datum import Session
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.option_values import parse_boolean, parse_duration
from penstock.runtime.table.row_type import TableRowType
from penstock.table.logical.nodes import Fields
from penstock.table.sql.errors import suggestion

if TYPE_CHECKING:
    from penstock.common.typeinfo import RowTypeInfo
    from penstock.functions.lookup import LookupFunction
    from penstock.functions.sink import Sink
    from penstock.functions.source import Source
    from penstock.runtime.sources.base import SourcePlanner
    from penstock.runtime.table.lookup_cache import CacheSettings
from penstock.runtime.table.whole_table import Reloads


@dataclass(frozen=True)
class ConnectorTable:
    """The table that a connector is asked for: columns that it has to give or take, and its options."""

    path: tuple[str, ...]
    fields: Fields  # as the connector sees them: stored ones, in their order
    options: Mapping[str, str]
    primary_key: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()  # column and key
    session: Session = field(default_factory=Session)
    bounded: bool = False  # a batch program: the source has to end
    overwrite: bool = False
    static_partition: tuple[tuple[str, Any], ...] = ()  # of INSERT .. PARTITION (day = '2024-01-01')
    declared: Fields | None = None  # all physical ones, where `fields` are only those that are read

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def row_type(self) -> TableRowType:
        return TableRowType([one.name for one in self.fields], [one.data_type for one in self.fields])

    @property
    def physical(self) -> Fields:
        keys = {column for column, _ in self.metadata}
        return tuple(one for one in self.fields if one.name not in keys)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.options.get(key, default)
        if value is None:
            raise ProgramError(f"The table {self.name} needs the option '{key}' of its connector.")
        return value

    def number(self, key: str, default: int) -> int:
        found: int = self._parsed(key, int, "a whole number", default)
        return found

    def boolean(self, key: str, default: bool) -> bool:
        found: bool = self._parsed(key, parse_boolean, "true or false", default)
        return found

    def millis(self, key: str, default: int | None = None) -> int | None:
        found: int | None = self._parsed(key, parse_duration, "a duration such as '10 s'", default)
        return found

    def chosen(self, key: str, values: tuple[str, ...], default: str) -> str:
        value = self.options.get(key, default)
        if value.lower() not in values:
            raise ProgramError(f"'{key}' of the table {self.name} is '{value}', but can be {', '.join(values)}.")
        return value.lower()

    def prefixed(self, prefix: str) -> dict[str, str]:
        """The options of a part, without its prefix."""
        return {key[len(prefix) :]: value for key, value in self.options.items() if key.startswith(prefix)}

    def _parsed(self, key: str, parse: Callable[[str], Any], what: str, default: Any) -> Any:
        if key not in self.options:
            return default
        try:
            return parse(self.options[key])
        except ValueError as error:
            raise ProgramError(f"'{key}' of the table {self.name} must be {what}: {error}") from None


@dataclass(frozen=True)
class TableSource:
    """Where rows come from: a planner of epochs or a source of splits, whose records are rows of the table's columns.

    Records are batches of the table's columns or rows of its values; or Rows of a stream's type, if that is given.
    """

    source: SourcePlanner | Source
    name: str
    parallelism: int | None = None
    stream_type: RowTypeInfo | None = None


@dataclass(frozen=True)
class TableSink:
    """Where rows go: as batches of the table's columns, or as Rows of a stream's type, if that is given."""

    sink: Sink
    name: str
    parallelism: int | None = None
    stream_type: RowTypeInfo | None = None


@dataclass(frozen=True)
class TableRowsByKey:
    """How rows are found by key, and what may be remembered of them."""

    function: LookupFunction
    cache: CacheSettings | Reloads | None = None


class TableConnector:
    """Base of all connectors. Options outside `options` and the prefixes are refused."""

    name = ""
    options: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    metadata_keys: tuple[str, ...] = ()
    looks_up = False  # whether rows can be found by key, for joins as of PROCTIME()
    looks_up_primary_keys = False  # and only by the whole primary key
    overwrites = False  # whether INSERT OVERWRITE replaces what is there

    def changelog(self, table: ConnectorTable) -> str:
        """The kinds of changes that reading the table gives."""
        return "I"

    def upserts(self, table: ConnectorTable) -> bool:
        """Whether updates that are read come without the row as it was, to be found by the primary key."""
        return False

    def reads_some_columns(self, options: Mapping[str, str]) -> bool:
        """Whether it costs less to read some of the columns, which are then the `fields` of the table."""
        return False

    def accepts(self, table: ConnectorTable) -> str:
        """The kinds of changes that can be written."""
        return "I"

    def by_key(self, table: ConnectorTable) -> bool:
        """Whether what is written finds its rows by the primary key, so that nobody needs the row as it was."""
        return False

    def source(self, table: ConnectorTable) -> TableSource:
        raise NotSupportedError(f"The connector '{self.name}' cannot be read from: the table {table.name} is a sink.")

    def lookup(self, table: ConnectorTable, key: list[str]) -> TableRowsByKey:
        raise NotSupportedError(f"The connector '{self.name}' of {table.name} cannot look up rows by key.")

    def sink(self, table: ConnectorTable) -> TableSink:
        raise NotSupportedError(
            f"The connector '{self.name}' cannot be written to: the table {table.name} is a source."
        )

    def check(self, table: ConnectorTable) -> None:
        """Refuses options and metadata that the connector does not know."""
        known = (*self.options, "connector", "property-version")
        for key in table.options:
            if key not in known and not key.startswith(self.prefixes or ("\0",)):
                raise ProgramError(
                    f"The connector '{self.name}' of the table {table.name} has no option '{key}'."
                    f"{suggestion(key, self.options)}"
                )
        for column, key in table.metadata:
            if key not in self.metadata_keys:
                raise ProgramError(
                    f"The connector '{self.name}' has no metadata '{key}' for the column {column!r} of {table.name}."
                    f"{suggestion(key, self.metadata_keys)}"
                )
