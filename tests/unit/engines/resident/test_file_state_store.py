"""Snapshots in the files of tasks: what a location names is exactly what counted when it was taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common.errors import JobExecutionError
from penstock.engines.resident.file_state_store import FileSnapshotStore, spans_of
from penstock.engines.resident.frames import Frame
from penstock.engines.resident.messages import Broken, Reported
from penstock.engines.resident.messenger import Messenger
from penstock.engines.resident.state_files import AppendedFiles, StateFiles, StoredObjects
from penstock.engines.resident.unused_files import UnusedFiles
from penstock.runtime.pickling import loads
from penstock.runtime.state.disk import DiskStore
from penstock.runtime.state_log import StateLog, Token
from penstock.storage.local import LocalStorage

Make = Callable[..., StateFiles]


def appended(directory: Path, prefix: str, **options: Any) -> StateFiles:
    return AppendedFiles(directory, prefix, **options)


def stored(directory: Path, prefix: str, **options: Any) -> StateFiles:
    return StoredObjects(LocalStorage(str(directory)), prefix, **options)


both = pytest.mark.parametrize("make", [appended, stored])
PLACES = [(seq, piece) for seq in range(-2, 4) for piece in (-1, 0)]
OWNERS = [(0, 0), (1, 0), (1, 3)]
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "remove", "location", "durable", "restart"]),
        st.sampled_from(OWNERS),
        st.sampled_from(PLACES),
        st.integers(0, 200),
    ),
    max_size=40,
)


def content_of(store: FileSnapshotStore) -> dict[Any, bytes]:
    return {place: content for place in PLACES if (content := store.get(place)) is not None}


@both
@given(steps=steps)
def test_a_location_leads_to_what_counted_when_it_was_taken(
    make: Make, tmp_path_factory: Any, steps: list[Any]
) -> None:
    directory = tmp_path_factory.mktemp("state")
    files = make(directory, "d0-0", segment_bytes=500)
    stores = {owner: FileSnapshotStore(files, owner) for owner in OWNERS}
    model: dict[Any, dict[Any, bytes]] = {owner: {} for owner in OWNERS}
    located: dict[Any, tuple[str, dict[Any, bytes]]] = {}
    for number, (what, owner, place, size) in enumerate(steps):
        store, expected = stores[owner], model[owner]
        if what == "put":
            expected[place] = bytes([number % 256]) * size
            store.put(place, expected[place])
        elif what == "remove" and place in expected:
            del expected[place]
            store.remove(place)
        elif what == "location" and expected:
            located[owner] = store.location(), dict(expected)
            files.make_durable()  # before anybody hears of it
        elif what == "durable":
            files.make_durable()
        elif what == "restart":  # what was written after the last location is forgotten
            files.close()
            files = make(directory, f"d{number}-0", segment_bytes=500)
            for of in OWNERS:
                location, model[of] = located.get(of, (None, {}))
                model[of] = dict(model[of])
                stores[of] = FileSnapshotStore(files, of, location)
        assert content_of(stores[owner]) == model[owner]
    for owner, (location, content) in located.items():
        assert content_of(FileSnapshotStore(files, owner, location)) == content
    files.close()


class Counter:
    """A container of numbers, as the log sees it."""

    store: DiskStore | None = None

    def __init__(self) -> None:
        self.loaded: list[bytes] = []

    def snapshot(self, full: bool = False) -> bytes:
        return b"everything"

    def load(self, snapshots: Iterable[bytes]) -> None:
        self.loaded.extend(snapshots)


@both
def test_a_state_log_lives_in_files_and_a_full_snapshot_lets_older_ones_go(make: Make, tmp_path: Path) -> None:
    files = make(tmp_path, "d1-0", segment_bytes=2000)
    store = FileSnapshotStore(files, (1, 0))
    log = StateLog(store)
    assert log.token() is None
    for seq in range(1, 30):
        log.append(Token(seq, f"id{seq}"), b"delta %d" % seq * 20, full=seq == 1)
    before = store.location()
    assert len(spans_of(before)) > 1
    log.append(Token(30, "id30"), b"everything", full=True)
    log.append(Token(31, "id31"), b"delta", full=False)
    location = store.location()
    files.make_durable()
    files.close()

    again = StateLog(FileSnapshotStore(make(tmp_path, "d2-0"), (1, 0), location))
    assert again.token() == Token(31, "id31")
    container = Counter()
    again.replay(container, since=None)
    assert container.loaded == [b"everything", b"delta"]
    unused = UnusedFiles(LocalStorage(str(tmp_path)), epochs_ahead=3)
    unused.deployed("d2")
    unused.remove([location])
    unused.close()
    assert {path.name for path in tmp_path.iterdir()} == {span.file for span in spans_of(location)}


@both
def test_what_a_replaced_task_writes_is_never_read(make: Make, tmp_path: Path) -> None:
    files = make(tmp_path, "d1-0")
    store = FileSnapshotStore(files, (1, 0))
    store.put((1, 0), b"counted")
    location = store.location()
    files.make_durable()
    store.put((1, 0), b"of a process that does not know that it was replaced")
    files.make_durable()
    assert FileSnapshotStore(make(tmp_path, "d2-0"), (1, 0), location).get((1, 0)) == b"counted"


@both
@pytest.mark.parametrize("damage", ["shorter", "changed", "gone"])
def test_damage_is_told_and_nothing_is_used(make: Make, tmp_path: Path, damage: str) -> None:
    files = make(tmp_path, "d1-0")
    store = FileSnapshotStore(files, (1, 0))
    store.put((1, 0), b"x" * 100)
    location = store.location()
    files.make_durable()
    path = tmp_path / files.name
    if damage == "shorter":
        path.write_bytes(path.read_bytes()[:20])
    elif damage == "changed":
        path.write_bytes(b"\xff" + path.read_bytes()[1:])
    else:
        path.unlink()
    with pytest.raises(JobExecutionError, match="damaged"):
        FileSnapshotStore(make(tmp_path, "d2-0"), (1, 0), location)


class Heard:
    """The driver's end of a control connection."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def send(self, frame: Frame) -> None:
        self.messages.append(loads(frame.payload))


@both
def test_a_report_whose_snapshot_is_not_durable_when_its_generation_ends_does_not_count(
    make: Make, tmp_path: Path
) -> None:
    """Otherwise the epoch's record would name what was never written, if all others have reported."""
    files = make(tmp_path, "first")
    store = FileSnapshotStore(files, (1, 0))
    store.put((0, 0), b"state")
    location = store.location()
    files.close()
    heard = Heard()
    messenger = Messenger(heard, beat_seconds=3600)  # type: ignore[arg-type]
    messenger.tell(Reported(7, 5, (1, 0), location.encode()), after=files)
    messenger.close()
    assert [(type(message), message.generation) for message in heard.messages] == [(Broken, 7)]
    files.close()


def test_state_of_the_other_engine_is_told_apart() -> None:
    with pytest.raises(JobExecutionError, match="micro-batches"):
        spans_of("5f0c2c9a7f5e4a52b8d6f7f0c3e1a2b4")
