"""Connections of resident tasks: frames in any pieces, the challenge before the first of them, bounded memory."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common.errors import ConfigurationError
from penstock.engines.resident.channels import (
    OUTBOX_BYTES,
    BrokenConnectionError,
    Connection,
    Listener,
    connect,
)
from penstock.engines.resident.driver_connection import DriverConnection
from penstock.engines.resident.frames import (
    BARRIER,
    CHUNK,
    MESSAGE,
    Frame,
    FrameReader,
    Greeting,
    Handshake,
)
from penstock.engines.resident.run_keys import NotAuthenticatedError, RunKeys

SECRET = b"s" * 32
GREETING = Greeting(3, 1, 7)


@given(st.lists(st.binary(max_size=50), max_size=5), st.integers(1, 40))
def test_frames_are_the_same_in_whatever_pieces_they_arrive(payloads: list[bytes], size: int) -> None:
    frames = [Frame(CHUNK, payload, number, number * 32768, -number) for number, payload in enumerate(payloads)]
    stream = b"".join(part for frame in frames for part in frame.parts())
    reader, read = FrameReader(), []
    for start in range(0, len(stream), size):
        read += reader.feed(stream[start : start + size])
    assert read == frames


def shake(client: Handshake, server: Handshake, size: int = 1000) -> None:
    """Carries bytes between both until nothing is left to say."""
    to_client, to_server = server.opening(), client.opening()
    while to_client or to_server:
        piece, to_client = to_client[:size], to_client[size:]
        to_server += client.feed(piece)[0]
        piece, to_server = to_server[:size], to_server[size:]
        to_client += server.feed(piece)[0]


@given(st.integers(1, 100))
def test_both_ends_know_each_other_after_the_handshake(size: int) -> None:
    client, server = Handshake(SECRET, GREETING), Handshake(SECRET)
    shake(client, server, size)
    assert client.done and server.done
    assert server.greeting == GREETING


@pytest.mark.parametrize("who", ["client", "server"])
def test_an_end_without_the_secret_is_refused(who: str) -> None:
    client = Handshake(b"wrong" if who == "client" else SECRET, GREETING)
    server = Handshake(b"wrong" if who == "server" else SECRET)
    with pytest.raises(NotAuthenticatedError, match="secret"):
        shake(client, server)
    assert not client.done


def test_an_overheard_proof_is_worth_nothing_on_another_connection() -> None:
    heard = Handshake(SECRET, GREETING).feed(Handshake(SECRET).opening())[0]
    with pytest.raises(NotAuthenticatedError):
        Handshake(SECRET).feed(heard)


class Ends:
    """Both ends of connections in one selector."""

    def __init__(self, keys: RunKeys) -> None:
        self.keys = keys
        self.selector = selectors.DefaultSelector()
        self.listener = Listener("127.0.0.1", range(1), self.selector, keys)
        self.received: dict[Connection, list[Frame]] = {}
        self.accepted: list[Connection] = []

    def client(self, keys: RunKeys | None = None) -> Connection:
        return connect(("127.0.0.1", self.listener.port), self.selector, keys or self.keys, GREETING)

    def serve(self, seconds: float = 2.0) -> bool:
        """One look; False when nothing happened for that long."""
        ready = self.selector.select(seconds)
        for key, events in ready:
            if key.data is self.listener:
                accepted = self.listener.accept()
                assert accepted is not None
                self.accepted.append(accepted)
            else:
                self.received.setdefault(key.data, []).extend(key.data.serve(events))
        return bool(ready)


@pytest.fixture(params=[False, True], ids=["plain", "tls"])
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    ends = Ends(RunKeys.new(encrypted=request.param))
    yield ends
    for key in list(ends.selector.get_map().values()):
        key.data.close()
    ends.selector.close()


def test_frames_that_were_sent_before_the_handshake_arrive_after_it_in_order(ends: Ends) -> None:
    client = ends.client()
    frames = [Frame(CHUNK, b"x" * 70_000, 1, 5), Frame(BARRIER, b"note", 1, 5, 9), Frame(MESSAGE, b"m")]
    for frame in frames:
        client.send(frame)
    while len(ends.received.get(ends.accepted[0], []) if ends.accepted else []) < 3:
        assert ends.serve()
    assert ends.received[ends.accepted[0]] == frames
    assert ends.accepted[0].greeting == GREETING
    assert client.waiting_bytes == 0


def test_a_stranger_is_refused_before_a_byte_of_its_frames_is_looked_at(ends: Ends) -> None:
    ends.client(replace(ends.keys, secret=b"w" * 32)).send(Frame(MESSAGE, b"a pickle"))
    with pytest.raises(NotAuthenticatedError):
        while ends.serve():
            pass
    assert not any(ends.received.values())


@pytest.mark.parametrize("server_encrypts", [False, True])
def test_an_end_that_encrypts_with_another_certificate_or_not_at_all_is_refused(server_encrypts: bool) -> None:
    ends = Ends(RunKeys.new(encrypted=server_encrypts))
    ends.client(replace(RunKeys.new(encrypted=True), secret=ends.keys.secret)).send(Frame(MESSAGE, b"a pickle"))
    with pytest.raises((NotAuthenticatedError, BrokenConnectionError)):
        while ends.serve(0.5):
            pass
        raise BrokenConnectionError("both ends wait for each other")
    assert not any(ends.received.values())


def test_what_travels_encrypted_does_not_show() -> None:
    keys = RunKeys.new(encrypted=True)
    client, server = keys.line(server=False), keys.line(server=True)
    said, to_server = client.opened(b"")
    to_client = b""
    while to_server or to_client:
        _, to_client = server.opened(to_server)
        _, to_server = client.opened(to_client)
    sealed = client.sealed(b"a secret that nobody may see")
    assert b"secret" not in sealed
    assert server.opened(sealed)[0] == b"a secret that nobody may see"


def test_a_receiver_without_room_makes_the_sender_wait_and_loses_nothing(ends: Ends) -> None:
    client = ends.client()
    while not (ends.accepted and ends.accepted[0].greeting):
        assert ends.serve()
    server = ends.accepted[0]
    server.pause(True)
    sent = 0
    while client.has_room:
        client.send(Frame(CHUNK, bytes([sent % 256]) * 100_000))
        sent += 1
        ends.serve(0)
    assert OUTBOX_BYTES <= client.waiting_bytes < OUTBOX_BYTES + 200_000
    server.pause(False)
    while len(ends.received.get(server, [])) < sent:
        assert ends.serve()
    assert [frame.payload[0] for frame in ends.received[server]] == [number % 256 for number in range(sent)]
    assert client.has_room


def test_a_connection_that_breaks_says_so(ends: Ends) -> None:
    client = ends.client()
    while not (ends.accepted and ends.accepted[0].greeting):
        assert ends.serve()
    ends.accepted[0].close()
    with pytest.raises(BrokenConnectionError, match="closed"):
        while ends.serve():
            pass
    client.close()


def test_the_connection_to_the_driver_loses_nothing_of_what_follows_the_handshake(ends: Ends) -> None:
    made: list[DriverConnection] = []
    address = ("127.0.0.1", ends.listener.port)
    thread = threading.Thread(target=lambda: made.append(DriverConnection(address, ends.keys, GREETING, 5.0)))
    thread.start()
    while not (ends.accepted and ends.accepted[0].greeting):
        assert ends.serve()
    ends.accepted[0].send(Frame(MESSAGE, b"the first message"))
    while thread.is_alive():
        ends.serve(0.01)
    with contextlib.closing(made[0]) as driver:
        heard = driver.receive()
        while not heard:
            ends.serve(0.01)
            assert heard is not None
            heard = driver.receive()
        assert heard == [Frame(MESSAGE, b"the first message")]
        driver.send(Frame(MESSAGE, b"y" * 100_000))
        while not ends.received.get(ends.accepted[0]):
            assert ends.serve()
        assert ends.received[ends.accepted[0]] == [Frame(MESSAGE, b"y" * 100_000)]
        ends.accepted[0].close()
        while driver.receive() is not None:
            pass


def test_a_range_without_a_free_port_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigurationError, match="resident.ports"):
        port = taken.getsockname()[1]
        Listener("127.0.0.1", range(port, port + 1), selectors.DefaultSelector(), RunKeys.new())
