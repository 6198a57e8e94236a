"""Sources that users can write: splits, an enumerator on the driver that finds them, readers in the workers.

A *split* is a part of the outside that can be read on its own: a partition, a file, a range of keys. A *position* says
how far a split was read. The job keeps split and position with every epoch, so that whoever goes on after a failure, in
whatever process, reads on from there: the same position must always lead to the same records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.common.errors import NotSupportedError
from penstock.functions.source_sink import JavaFunctionWrapper

if TYPE_CHECKING:
    from penstock.common.typeinfo import TypeInformation
    from penstock.functions.bad_records import BadRecord, BadRecords
    from penstock.functions.sink import Records
    from penstock.metrics import MetricGroup

__all__ = ["EnumeratorContext", "Fetch", "ReaderContext", "Source", "SourceReader", "Split", "SplitEnumerator"]


@dataclass(frozen=True)
class Split:
    """A part of the outside. Subclass it for more fields; all of them must be picklable.

    `start` is the position at which reading begins.
    """

    split_id: str
    start: Any = None


@dataclass(frozen=True)
class Fetch:
    """Records of one split that follow each other, and the position after them."""

    split_id: str
    records: list[Any] | Records
    position: Any
    timestamps: list[int] | None = None  # event times in epoch milliseconds, of a list of records
    finished: bool = False  # nothing can ever follow in this split
    bad: Sequence[BadRecord] = ()  # what could not be decoded; the source's `bad_records` says what becomes of it


@dataclass(frozen=True)
class EnumeratorContext:
    job_id: str
    operator_uid: str
    parallelism: int


@dataclass(frozen=True)
class ReaderContext:
    job_id: str
    operator_uid: str
    subtask: int
    parallelism: int
    metrics: MetricGroup


class SplitEnumerator(ABC):
    """Finds splits, on the driver. All methods are called in one thread of its own: they may block."""

    discovery_interval_ms: int | None = None
    """How long after a discovery the next one begins; None: there is only one."""

    news_interval_ms: int = 100
    """How often :meth:`has_news` is asked."""

    def restore_state(self, state: Any) -> None:
        """Before :meth:`open`, when the job goes on: what :meth:`snapshot_state` has given."""

    def open(self) -> None:
        """Connect."""

    @abstractmethod
    def discover(self) -> Iterable[Split]:
        """The splits that there are; those with ids that were given before are left alone."""

    def snapshot_state(self) -> Any:
        """What a new enumerator needs; asked after each :meth:`discover`. Picklable, None for nothing."""
        return None

    def has_news(self, positions: Mapping[str, Any]) -> bool:
        """Whether splits have more than these positions. Engines that read in batches start none without news."""
        return True

    def on_commit(self, positions: Mapping[str, Any]) -> None:
        """The job has completed an epoch up to these positions, and never asks for anything before them again."""

    def close(self) -> None:
        """Disconnect. Called when the job ends, in whatever way."""


class SourceReader(ABC):
    """Reads splits in a worker, one reader for each subtask. It lives, with its connections, as long as its worker."""

    def open(self) -> None:
        """Connect. Called before the first split is added."""

    @abstractmethod
    def add_split(self, split: Split, position: Any) -> None:
        """From now on read this split too, from this position on. `position` is `split.start` for a new one."""

    def remove_split(self, split_id: str) -> None:
        """Read it no more. It may be added again, at another position."""

    def pause_splits(self, split_ids: Collection[str]) -> None:
        """Until the next call read exactly these splits no further: their event time is ahead of their group's.

        A reader that cannot goes on with all of them; its source as a whole waits all the same.
        """

    @abstractmethod
    def fetch(self, max_records: int) -> Fetch | None:
        """The next records of any of the splits, about so many at most; None when there are none just now.

        It may wait a few milliseconds for them, not longer. Split after split gets its turn if the reader is fair.
        """

    def on_commit(self, positions: Mapping[str, Any]) -> None:
        """The job has completed an epoch up to these positions of this reader's splits."""

    def close(self) -> None:
        """Disconnect. Also called after failures."""


class Source(JavaFunctionWrapper):
    """The beginning of a stream, for ``env.from_source``. Subclass it: it is pickled, so let others connect.

    Example::

        class Pages(Source):
            bounded = True

            def create_enumerator(self, context):
                return Shelves()

            def create_reader(self, context):
                return PageReader()

    docs/connectors-own.md has a complete one. PyFlink's class of this name wraps a Java source; that is refused here.
    """

    bounded: bool = False
    """Whether it ends: every split finishes, and the only discovery finds them all."""

    bad_records: BadRecords | None = None
    """What becomes of the `bad` of a Fetch; None: the job fails."""

    def __init__(self, source: Any = None) -> None:
        if source is not None:
            super().__init__(source)

    def create_enumerator(self, context: EnumeratorContext) -> SplitEnumerator:
        """Called on the driver."""
        raise self._unreadable("create_enumerator")

    def create_reader(self, context: ReaderContext) -> SourceReader:
        """Called in the workers."""
        raise self._unreadable("create_reader")

    def get_produced_type(self) -> TypeInformation | None:
        """The type of the records, when the source knows it."""
        return None

    def _unreadable(self, method: str) -> NotSupportedError:
        return NotSupportedError(
            f"{type(self).__name__} cannot be read by Penstock: it has no {method}(context). Use one of Penstock's own"
            " sources, or write that method (docs/connectors-own.md)."
        )

    def _planner(self) -> Any:
        """What plans this source on the driver, for sources that do not work by splits."""
        return None
