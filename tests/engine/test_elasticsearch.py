"""A real OpenSearch node at the end of a stream."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.connector_pages import ConnectorPage
from tests.patience import patience
from tests.services.opensearch import opensearch_server

from penstock.common import Row, RowKind
from penstock.common.errors import ConfigurationError, JobExecutionError, NotSupportedError
from penstock.common.time import Instant
from penstock.common.typeinfo import Types
from penstock.connectors.base import DeliveryGuarantee
from penstock.connectors.elasticsearch.bulk import Backoff, BulkClient, ClusterAddress
from penstock.datastream.connectors.elasticsearch import (
    Elasticsearch6SinkBuilder,
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    FlushBackoffType,
)

USER = Types.ROW_NAMED(["id", "name", "place"], [Types.INT(), Types.STRING(), Types.STRING()])
TEXTS = Types.MAP(Types.STRING(), Types.STRING())


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with opensearch_server() as found:
        yield found


def builder(address: str, emitter: ElasticsearchEmitter) -> Elasticsearch7SinkBuilder:
    made = Elasticsearch7SinkBuilder().set_hosts(address.removeprefix("http://")).set_emitter(emitter)
    return made.set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 5, 100)


def documents(address: str, index: str) -> dict[str, Any]:
    httpx.post(f"{address}/{index}/_refresh", timeout=patience(60))
    found = httpx.post(f"{address}/{index}/_search", json={"size": 1000}, timeout=patience(60)).json()
    return {hit["_id"]: hit["_source"] for hit in found["hits"]["hits"]}


def test_documents_by_key_and_by_index(local_env: EnvironmentFactory, address: str) -> None:
    env = local_env(2, epoch_records=50)
    rows = [Row(n % 100, f"name {n % 100} ä", f"city-{n % 2}") for n in range(200)]
    stream = env.from_collection(rows, USER)
    by_key = builder(address, ElasticsearchEmitter.static_index("users", "id")).set_bulk_flush_max_actions(7).build()
    stream.sink_to(by_key)
    texts = env.from_collection([{"where": f"city-{n % 2}", "n": str(n)} for n in range(10)], TEXTS)
    texts.sink_to(builder(address, ElasticsearchEmitter.dynamic_index("where", "n")).build())
    env.execute()
    found = documents(address, "users")
    assert len(found) == 100 and found["7"] == {"id": 7, "name": "name 7 ä", "place": "city-1"}
    assert sorted(documents(address, "city-0")) == ["0", "2", "4", "6", "8"]


def test_values_have_the_forms_that_the_cluster_recognises(local_env: EnvironmentFactory, address: str) -> None:
    inner = Types.ROW_NAMED(["x"], [Types.INT()])
    kinds = [
        Types.STRING(), Types.SQL_TIMESTAMP(), Types.SQL_DATE(), Types.INSTANT(), Types.BIG_DEC(), inner,
        Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.STRING(),
    ]  # fmt: skip
    row_type = Types.ROW_NAMED(["id", "at", "day", "moment", "price", "inner", "raw", "none"], kinds)
    at = datetime.datetime(2026, 1, 2, 3, 4, 5)
    row = Row("1", at, at.date(), Instant(1, 5_000_000), Decimal("1.50"), Row(x=7), b"\xff\x01", None)
    env = local_env()
    env.from_collection([row], row_type).sink_to(
        builder(address, ElasticsearchEmitter.static_index("forms", "id")).build()
    )
    env.execute()
    assert documents(address, "forms")["1"] == {
        "id": "1", "at": "2026-01-02T03:04:05", "day": "2026-01-02", "moment": "1970-01-01T00:00:01.005000000Z",
        "price": 1.5, "inner": {"x": 7}, "raw": "/wE=", "none": None,
    }  # fmt: skip
    mapping = httpx.get(f"{address}/forms/_mapping", timeout=patience(60)).json()["forms"]["mappings"]["properties"]
    assert [mapping[name]["type"] for name in ("at", "day", "moment", "price")] == ["date", "date", "date", "float"]


def test_a_changelog_removes_documents(local_env: EnvironmentFactory, address: str) -> None:
    changes = [
        Row.of_kind(RowKind.INSERT, 1, "Ann", "A"),
        Row.of_kind(RowKind.INSERT, 2, "Bob", "B"),
        Row.of_kind(RowKind.UPDATE_BEFORE, 1, "Ann", "A"),
        Row.of_kind(RowKind.UPDATE_AFTER, 1, "Ann", "C"),
        Row.of_kind(RowKind.DELETE, 2, "Bob", "B"),
        Row.of_kind(RowKind.DELETE, 3, "Eve", "E"),
    ]
    env = local_env()
    env.from_collection(changes, USER).sink_to(builder(address, ElasticsearchEmitter.static_index("log", "id")).build())
    env.execute()
    assert documents(address, "log") == {"1": {"id": 1, "name": "Ann", "place": "C"}}
    env = local_env()
    env.from_collection(changes, USER).sink_to(builder(address, ElasticsearchEmitter.static_index("log")).build())
    with pytest.raises(JobExecutionError, match="needs a key field for a changelog"):
        env.execute()


def test_rows_without_names_are_refused(local_env: EnvironmentFactory, address: str) -> None:
    env = local_env()
    env.from_collection([Row(1)]).sink_to(builder(address, ElasticsearchEmitter.static_index("nameless")).build())
    with pytest.raises(JobExecutionError, match="takes dictionaries or rows with names"):
        env.execute()


def test_a_document_that_is_refused_fails_the_job(local_env: EnvironmentFactory, address: str) -> None:
    httpx.put(f"{address}/strict", json={"mappings": {"properties": {"id": {"type": "integer"}}}}, timeout=patience(60))
    env = local_env()
    env.from_collection([{"id": "no number"}], TEXTS).sink_to(
        builder(address, ElasticsearchEmitter.static_index("strict")).build()
    )
    with pytest.raises(JobExecutionError, match="refuses a document of the index 'strict'"):
        env.execute()


def test_a_cluster_that_is_away_is_named_and_its_password_is_not(
    local_env: EnvironmentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.connectors.reaching._FIRST_PAUSE_SECONDS", 0.001)
    made = builder("http://127.0.0.1:1", ElasticsearchEmitter.static_index("x"))
    made.set_connection_username("me").set_connection_password("hush")
    env = local_env()
    env.from_collection([{"a": "b"}], TEXTS).sink_to(made.build())
    with pytest.raises(JobExecutionError, match="Elasticsearch at http://127.0.0.1:1 is away") as failure:
        env.execute()
    assert "hush" not in str(failure.value)


def test_what_a_builder_refuses() -> None:
    emitter = ElasticsearchEmitter.static_index("x")
    with pytest.raises(NotSupportedError, match="key field"):
        Elasticsearch7SinkBuilder().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
    with pytest.raises(ConfigurationError, match="set_hosts"):
        Elasticsearch7SinkBuilder().set_emitter(emitter).build()
    with pytest.raises(ConfigurationError, match="Elasticsearch6 needs a doc_type"):
        Elasticsearch6SinkBuilder().set_emitter(emitter).set_hosts("h:9200").build()
    with pytest.raises(ConfigurationError, match="no document types"):
        typed = ElasticsearchEmitter.static_index("x", doc_type="t")
        Elasticsearch7SinkBuilder().set_emitter(typed).set_hosts("h:9200").build()
    with pytest.raises(ConfigurationError, match="set_connection_password"):
        Elasticsearch7SinkBuilder().set_hosts("http://me:hush@h:9200")
    assert [Backoff(3, 100, True).seconds(n) for n in range(3)] == [0.1, 0.2, 0.4]


def test_the_program_of_the_page(local_env: EnvironmentFactory, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ConnectorPage("elasticsearch", local_env(2), monkeypatch)
    page.run({"localhost:9200": address.removeprefix("http://"), '"users", "id"': '"users-of-the-page", "id"'})
    assert documents(address, "users-of-the-page") == {"1": {"id": "1", "name": "Ann"}}


def test_a_document_that_waits_does_not_replace_a_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster was too busy for the first action of a document, and had time for the second."""
    client = BulkClient(ClusterAddress(("http://nowhere",)), Backoff(retries=2))
    sent: list[list[bytes]] = []
    answers = [[429, 200, 200, 429, 200], [200, 200, 200, 200]]
    ids = {b"1": "1", b"2": "2", b"3": "3"}

    class Answer:
        status_code = 200

        def __init__(self, content: bytes, statuses: list[int]) -> None:
            self._items = [
                {"index": {"_index": "i", "_id": ids[action[:1]], "status": status}}
                for action, status in zip(content.split(b";")[:-1], statuses, strict=True)
            ]

        def json(self) -> dict[str, Any]:
            return {"errors": True, "items": self._items}

    def post(content: bytes) -> Answer:
        sent.append(content.split(b";")[:-1])
        return Answer(content, answers[len(sent) - 1])

    monkeypatch.setattr(client, "_post", post)
    client.send([b"1 old;", b"2;", b"1 new;", b"3 old;", b"3 new;"])
    assert sent[1] == [b"1 old", b"1 new", b"3 old", b"3 new"]
