"""Kafka's protocol, as far as Penstock speaks it itself."""

from __future__ import annotations

import pytest

from penstock.connectors.kafka.coordinator import Told, _address
from penstock.connectors.kafka.unended import Note, _verdict
from penstock.connectors.kafka.wire import Answer, Scram, compact_string, varint


def test_scram_is_that_of_rfc_7677() -> None:
    scram = Scram("sha256", "user", "pencil", "rOprNGfwEbeRWgbNEkqO")
    assert scram.first == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    challenge = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    proof = (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    assert scram.proof(challenge) == proof
    scram.check(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    with pytest.raises(ConnectionError, match="does not know the password"):
        scram.check(b"v=AAAATRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize("number", [0, 127, 128, 300, 2**31])
def test_numbers_of_any_length(number: int) -> None:
    assert Answer(varint(number)).varint() == number


def test_texts_and_tags() -> None:
    answer = Answer(compact_string("Ümlaut") + b"\x01\x05\x02ab" + b"\xff\xff" + b"\x07")
    assert answer.compact_string() == "Ümlaut"
    answer.skip_tags()
    assert answer.string() == "", "null"
    assert answer.int8() == 7


@pytest.mark.parametrize(
    ("server", "address"),
    [
        ("kafka:1234", ("kafka", 1234)),
        (" SASL_SSL://kafka:1234", ("kafka", 1234)),
        ("kafka", ("kafka", 9092)),
        ("[::1]:1234", ("::1", 1234)),
    ],
)
def test_addresses_are_those_of_the_client(server: str, address: tuple[str, int]) -> None:
    assert _address(server) == address


@pytest.mark.parametrize(
    ("noted", "told", "verdict"),
    [
        (None, None, None),
        (None, Told("Empty", 1, 3), None),
        (None, Told("CompleteCommit", 1, 3), "commit"),
        (None, Told("PrepareAbort", 1, 3), "abort"),
        (Note("commit", 1, 3), Told("Empty", 1, 4), "commit"),  # opened since
        (Note("commit", 2, 3), Told("Empty", 1, 4), None),  # of another producer
        (Note("commit", 1, 3), Told("CompleteAbort", 1, 4), "abort"),  # a transaction of its own came after it
        (Note("commit", 1, 4, telling=True), Told("CompleteAbort", 1, 5), "abort"),
        (Note("abort", 1, 4, telling=True), Told("CompleteCommit", 1, 4), "abort"),
    ],
)
def test_whose_word_counts(noted: Note | None, told: Told | None, verdict: str | None) -> None:
    assert _verdict(noted, told) == verdict
