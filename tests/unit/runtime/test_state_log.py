"""The log of deltas in a state store: what a container in any condition has to apply."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from penstock.common.errors import JobExecutionError
from penstock.engines.local.memory_store import MemoryStore
from penstock.runtime import state_log
from penstock.runtime.hosting import new_token
from penstock.runtime.state_log import StateLog, Token


def log_of(store: MemoryStore, count: int) -> list[Token]:
    """Appends the deltas b"1", b"2", ... as one epoch after the other."""
    log, tokens = StateLog(store), []
    for number in range(1, count + 1):
        token = new_token(log.token())
        log.append(token, str(number).encode(), log.wants_full())
        tokens.append(token)
    return tokens


def pieces(store: MemoryStore) -> dict[object, bytes]:
    """The pieces of the log, without the head."""
    return {place: content for place, content in store.entries.items() if place != (-1, 0)}


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


class Applied:
    """A container that only remembers what it was given."""

    store = None

    def __init__(self) -> None:
        self.deltas: list[bytes] = []

    def load(self, snapshots: Iterable[bytes]) -> None:
        self.deltas.extend(snapshots)

    def snapshot(self, full: bool = False) -> bytes:
        raise NotImplementedError


def since(store: MemoryStore, cached: Token | None) -> tuple[list[bytes], bool]:
    """What a container at that snapshot is given, and whether it may stay."""
    log, container = StateLog(store), Applied()
    log.token()
    stays = log.leads_on_from(cached)
    log.replay(container, cached if stays else None)
    return container.deltas, stays


def test_empty_log(store: MemoryStore) -> None:
    log = StateLog(store)
    assert log.token() is None
    assert since(store, None) == ([], False)
    assert since(store, Token(3, "x")) == ([], False)
    assert log.wants_full()


def test_container_that_is_up_to_date_applies_nothing(store: MemoryStore) -> None:
    tokens = log_of(store, 3)
    assert since(store, tokens[-1]) == ([], True)


def test_container_at_an_ancestor_catches_up(store: MemoryStore) -> None:
    tokens = log_of(store, 4)
    assert since(store, tokens[1]) == ([b"3", b"4"], True)


def test_new_container_applies_everything(store: MemoryStore) -> None:
    log_of(store, 3)
    assert since(store, None) == ([b"1", b"2", b"3"], False)


def test_container_of_an_attempt_that_was_not_committed_starts_anew(store: MemoryStore) -> None:
    tokens = log_of(store, 3)
    fork = Token(tokens[1].seq, "another attempt")
    assert since(store, fork) == ([b"1", b"2", b"3"], False)
    same_place = Token(tokens[-1].seq, "another attempt")
    assert since(store, same_place) == ([b"1", b"2", b"3"], False)
    ahead = Token(tokens[-1].seq + 1, "another attempt")
    assert since(store, ahead) == ([b"1", b"2", b"3"], False)


def test_full_snapshot_replaces_the_log(store: MemoryStore) -> None:
    tokens = log_of(store, 3)
    log = StateLog(store)
    token = new_token(log.token())
    log.append(token, b"all", full=True)
    assert since(store, None) == ([b"all"], False)
    assert since(store, tokens[-1]) == ([b"all"], False)
    assert len(pieces(store)) == 2, "older records are gone"


def test_container_from_before_a_full_snapshot_is_not_given_it_as_a_delta(store: MemoryStore) -> None:
    tokens = log_of(store, 3)
    log = StateLog(store)
    log.append(new_token(log.token()), b"all", full=True)
    second = new_token(log.token())
    log.append(second, b"5", full=False)
    for old in tokens:
        assert since(store, old) == ([b"all", b"5"], False)


def test_long_or_large_logs_want_a_full_snapshot(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_log, "_LONG_LOG", 5)
    log_of(store, 5)
    log = StateLog(store)
    log.token()
    assert not log.wants_full()
    log.append(new_token(log.token()), b"6", full=False)
    assert log.wants_full()


def test_log_larger_than_its_base_wants_a_full_snapshot(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_log, "_SMALL_LOG_BYTES", 10)
    log = StateLog(store)
    log.append(new_token(log.token()), b"x" * 20, full=True)
    log.append(new_token(log.token()), b"x" * 15, full=False)
    assert not log.wants_full()
    log.append(new_token(log.token()), b"x" * 15, full=False)
    assert log.wants_full()


def test_large_deltas_are_stored_in_pieces(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_log, "_PIECE_BYTES", 100)
    log = StateLog(store)
    content = bytes(range(256)) * 10
    log.append(new_token(log.token()), content, full=True)
    assert since(store, None) == ([content], False)
    assert len(pieces(store)) > 25
    log.append(new_token(log.token()), b"small", full=True)
    assert len(pieces(store)) == 2


def test_every_changed_bit_and_every_missing_piece_is_found(store: MemoryStore) -> None:
    log_of(store, 3)
    entries = store.entries
    for key, content in list(entries.items()):
        if key[1] == -1:
            continue  # how many pieces there are
        for place in range(len(content)):
            changed = bytearray(content)
            changed[place] ^= 1 << place % 8
            entries[key] = bytes(changed)
            with pytest.raises(JobExecutionError, match="state store is damaged"):
                since(store, None)
        if key != (-1, 0):
            del entries[key]
            with pytest.raises(JobExecutionError, match="incomplete"):
                since(store, None)
        entries[key] = content
    assert since(store, None) == ([b"1", b"2", b"3"], False)
