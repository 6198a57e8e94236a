"""State on disk: mappings that look like dictionaries and live in a RocksDB of the subtask.

The database is a working copy in the worker's own file system, as the dictionaries of the other backend are one in its
memory; what makes state durable is the log in Spark's store. Decoded values stay in memory while there is room, and
what an epoch touches stays until it is settled.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import tempfile
import uuid
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from penstock.runtime.key_bytes import key_bytes
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.state.table import ABSENT, DELETED

if TYPE_CHECKING:
    from rocksdict import Options, Rdict, WriteBatch

PAGES = 64  # the unit in which a store is copied to its log: keys are spread over pages by their bytes
_LENGTHS = struct.Struct("<II")
_OBJECT_BYTES = 200  # what a decoded entry takes in memory beside its content
_DIRECTORY = "penstock-state"


class DiskStore:
    """The database of one container. Keys in it are page, table and key, so that a page is a range."""

    def __init__(self, directory: str | None, memory: int) -> None:
        import rocksdict  # only those who ask for state on disk load it

        self.path = _new_directory(directory or tempfile.gettempdir())
        self._database: Any = rocksdict.Rdict(self.path, _options(memory // 2))
        self._unlogged = rocksdict.WriteOptions()
        # A crashed worker starts from Spark's store anyway. (A property, whatever the type stubs say.)
        self._unlogged.disable_wal = True  # type: ignore[method-assign,assignment]
        self._new_batch: Callable[..., WriteBatch] = rocksdict.WriteBatch
        self._cache_limit = memory // 4  # of two generations
        self._cached = 0
        self._maps: weakref.WeakSet[DiskMap] = weakref.WeakSet()
        self._guests: weakref.WeakSet[PagedTable] = weakref.WeakSet()
        self._replayed: tuple[int, Sequence[int]] | None = None
        self.close = weakref.finalize(self, _remove, self._database, self.path)

    # -- memory ------------------------------------------------------------------------------------------------

    def attach(self, table: PagedTable) -> None:
        self._guests.add(table)

    def register(self, mapping: DiskMap) -> None:
        self._maps.add(mapping)

    def cached(self, size: int) -> None:
        self._cached += size + _OBJECT_BYTES

    def trim(self) -> None:
        """Forgets what has not been used for a while: nothing that is held now has changes that are not settled."""
        if self._cached > self._cache_limit:
            self._cached = 0
            for mapping in self._maps:
                mapping.grow_old()

    # -- entries -----------------------------------------------------------------------------------------------

    def read(self, address: bytes) -> bytes | None:
        return self._database.get(address)  # type: ignore[no-any-return]

    def batch(self) -> WriteBatch:
        return self._new_batch(raw_mode=True)

    def write(self, batch: WriteBatch) -> None:
        self._database.write(batch, self._unlogged)

    def scan(self, prefix: bytes, start: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Entries that begin with the prefix, in order; from another place than the first of them on."""
        for address, content in self._database.items(from_key=start or prefix):
            if not address.startswith(prefix):
                return
            yield address, content

    def remove_range(self, prefix: bytes) -> None:
        batch = self.batch()
        batch.delete_range(prefix, _behind(prefix))
        self.write(batch)

    # -- pages -------------------------------------------------------------------------------------------------

    def page(self, number: int) -> bytes:
        """All entries of a page, in the form that load_page() takes."""
        blocks: list[bytes] = []
        for address, content in self.scan(bytes((number,))):
            blocks += (_LENGTHS.pack(len(address), len(content)), address, content)
        for address, content in filter(None, (table.page(number) for table in self._guests)):
            blocks += (_LENGTHS.pack(len(address), len(content)), address, content)
        return b"".join(blocks)

    def load_page(self, content: bytes) -> None:
        batch, position = self.batch(), 0
        while position < len(content):
            address_length, length = _LENGTHS.unpack_from(content, position)
            position += _LENGTHS.size
            middle = position + address_length
            batch.put(content[position:middle], content[middle : middle + length])
            position = middle + length
        self.write(batch)

    def replaying(self, sequence: int, pages: Sequence[int]) -> None:
        """From now on deltas of that number are applied; what a page of a later one holds already is left out."""
        self._replayed = sequence, pages

    def replayed(self) -> None:
        self._replayed = None
        for table in self._guests:
            table.replayed()

    @property
    def is_replaying(self) -> bool:
        return self._replayed is not None

    def news(self, page: int) -> bool:
        if self._replayed is None:
            return True
        sequence, pages = self._replayed
        return sequence > pages[page]


class PagedTable(Protocol):
    """A table that keeps its entries elsewhere; its pages are in the log with those of the store."""

    def page(self, number: int) -> tuple[bytes, bytes] | None:
        """The address of its part of a page, and that part; None if it is empty."""

    def replayed(self) -> None: ...


class DiskPlace:
    """Where the pages of such a table are while they are loaded."""

    def __init__(self, store: DiskStore, table: bytes) -> None:
        self.store = store
        self._table = table

    def address(self, page: int) -> bytes:
        return bytes((page,)) + self._table

    def taken(self, page: int) -> bytes | None:
        """What a page had; it is in the hands of the table now."""
        content = self.store.read(self.address(page))
        if content is not None:
            batch = self.store.batch()
            batch.delete(self.address(page))
            self.store.write(batch)
        return content


class DiskMap:
    """A mapping whose entries are in the store; of a group, if there are several maps in one table.

    Values that are changed in place must be named when the map is settled; it notices all other changes by itself.
    """

    def __init__(self, store: DiskStore, table: bytes, group: bytes = b"", new: bool = False) -> None:
        self._store = store
        self._infix = table + (b"%d:%b" % (len(group), group) if group else b"")
        self._young: dict[Any, Any] = {}
        self._old: dict[Any, Any] = {}
        self._dirty: dict[Any, None] = {}
        self._in_memory = new  # all of it: nothing was there before, nothing was forgotten since
        self._on_disk = not new  # any of it
        store.register(self)

    def _address(self, key: Any) -> bytes:
        encoded = key_bytes(key)
        return bytes((zlib.crc32(encoded) % PAGES,)) + self._infix + encoded

    def get(self, key: Any, default: Any = None) -> Any:
        value = self._young.get(key, ABSENT)
        if value is ABSENT:
            value = self._load(key)
        return default if value is DELETED else value

    def _load(self, key: Any) -> Any:
        value, size = self._old.get(key, ABSENT), 0
        if value is ABSENT:
            content = None if self._in_memory else self._store.read(self._address(key))
            value, size = (DELETED, 0) if content is None else (loads(content)[1], len(content))
        self._young[key] = value
        self._store.cached(size)
        return value

    def __getitem__(self, key: Any) -> Any:
        value = self.get(key, ABSENT)
        if value is ABSENT:
            raise KeyError(key)
        return value

    def __contains__(self, key: Any) -> bool:
        return self.get(key, ABSENT) is not ABSENT

    def __setitem__(self, key: Any, value: Any) -> None:
        self._young[key] = value
        self._dirty[key] = None

    def __delitem__(self, key: Any) -> None:
        self[key] = DELETED

    def setdefault(self, key: Any, default: Any) -> Any:
        value = self.get(key, ABSENT)
        if value is ABSENT:
            value = self[key] = default
        return value

    def pop(self, key: Any, default: Any = None) -> Any:
        value = self.get(key, default)
        self[key] = DELETED
        return value

    # -- all entries -------------------------------------------------------------------------------------------

    def items(self) -> Iterator[tuple[Any, Any]]:
        if self._in_memory:
            held = self._old | self._young
            return (item for item in held.items() if item[1] is not DELETED)
        self.settle()
        return self._scan()

    def _scan(self) -> Iterator[tuple[Any, Any]]:
        for page in range(PAGES):
            for _, content in self._store.scan(bytes((page,)) + self._infix):
                yield loads(content)

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.items())

    def keys(self) -> Iterator[Any]:
        return iter(self)

    def values(self) -> Iterator[Any]:
        return (value for _, value in self.items())

    def copy(self) -> dict[Any, Any]:
        """In memory."""
        return dict(self.items())

    def empty(self) -> bool:
        return next(self.items(), None) is None

    def clear(self) -> None:
        """Everything, or while a log is replayed what is not known to be newer."""
        self._young, self._old, self._dirty = {}, {}, {}
        if self._on_disk:
            for page in range(PAGES):
                if self._store.news(page):
                    self._store.remove_range(bytes((page,)) + self._infix)

    # -- settling ----------------------------------------------------------------------------------------------

    def settle(self, changed_inside: Iterable[Any] = ()) -> None:
        """Brings what was changed to the disk."""
        batch, young, note = self._store.batch(), self._young, self._store.cached
        for key in (*self._dirty, *changed_inside):
            value = young.get(key, ABSENT)
            if value is DELETED:
                batch.delete(self._address(key))
            elif value is not ABSENT:  # else it was settled before, and forgotten
                content = dumps((key, value))
                note(len(content))
                batch.put(self._address(key), content)
        self._dirty = {}
        self._on_disk = True
        self._store.write(batch)

    def news_of(self, delta: Iterable[Any]) -> list[Any]:
        """The keys of a delta that is applied, without those whose page is newer than the delta."""
        if not self._store.is_replaying:
            return list(delta)
        news = self._store.news
        return [key for key in delta if news(zlib.crc32(key_bytes(key)) % PAGES)]

    def grow_old(self) -> None:
        self._in_memory = self._in_memory and not self._old
        self._old, self._young = self._young, {}


class Groups:
    """Maps of one table by group, such as keys by window: few groups, each of many entries."""

    def __init__(self, store: DiskStore, table: bytes) -> None:
        self._store = store
        self._table = table
        self._maps: dict[Any, DiskMap] = {}

    def get(self, group: Any, default: Any = None) -> Any:
        return self._maps.get(group, default)

    def __getitem__(self, group: Any) -> DiskMap:
        return self._maps[group]

    def __contains__(self, group: Any) -> bool:
        return group in self._maps

    def __iter__(self) -> Iterator[Any]:
        return iter(self._maps)

    def items(self) -> Iterable[tuple[Any, DiskMap]]:
        return self._maps.items()

    def open(self, group: Any, new: bool = True) -> DiskMap:
        entries = self._maps.get(group)
        if entries is None:
            # While a log is replayed a page may hold more of the group than the deltas that are applied.
            new = new and not self._store.is_replaying
            entries = self._maps[group] = DiskMap(self._store, self._table, dumps(group), new)
        return entries

    def pop(self, group: Any, default: Any = None) -> Any:
        entries = self._maps.get(group)
        if entries is None:
            return default
        entries.clear()
        if not self._store.is_replaying or entries.empty():
            del self._maps[group]
        return entries

    def discover(self) -> None:
        """After pages were loaded: which groups are there? One look per group and page, not one per entry."""
        for page in range(PAGES):
            prefix = bytes((page,)) + self._table
            position = prefix
            while first := next(self._store.scan(prefix, position), None):
                group = _group_in(first[0][len(prefix) :])
                self.open(loads(group), new=False)
                position = _behind(prefix + b"%d:%b" % (len(group), group))


def table_bytes(name: str) -> bytes:
    """Stands for a table in the keys of a store."""
    return hashlib.blake2b(name.encode(), digest_size=8).digest()


def _group_in(text: bytes) -> bytes:
    length, _, rest = text.partition(b":")
    return rest[: int(length)]


def _behind(prefix: bytes) -> bytes:
    """The smallest key after all that begin like this."""
    shortened = prefix.rstrip(b"\xff")
    return shortened[:-1] + bytes((shortened[-1] + 1,))


def _options(memory: int) -> Options:
    from rocksdict import BlockBasedOptions, Cache, DBCompressionType, Options

    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.set_write_buffer_size(memory // 4)
    options.set_max_write_buffer_number(2)
    options.set_max_background_jobs(2)
    options.set_keep_log_file_num(1)
    options.set_compression_type(DBCompressionType.none())
    blocks = BlockBasedOptions()
    blocks.set_block_cache(Cache(memory // 2))
    blocks.set_bloom_filter(10, False)
    options.set_block_based_table_factory(blocks)
    return options


def _new_directory(parent: str) -> str:
    """A directory that names its process, so that those of dead ones can be told and removed."""
    shared = os.path.join(parent, _DIRECTORY)
    os.makedirs(shared, mode=0o700, exist_ok=True)
    for name in os.listdir(shared):
        process = name.partition("-")[0]
        if process.isdigit() and not _is_alive(int(process)):
            shutil.rmtree(os.path.join(shared, name), ignore_errors=True)
    return os.path.join(shared, f"{os.getpid()}-{uuid.uuid4().hex}")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _remove(database: Rdict, path: str) -> None:
    database.close()
    shutil.rmtree(path, ignore_errors=True)
