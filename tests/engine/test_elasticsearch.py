"""A real OpenSearch node at the end of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.connector_pages import ConnectorPage
from tests.patience import patience
from tests.services.opensearch import opensearch_server

from penstock.common import Row
from penstock.common.errors import ConfigurationError, JobExecutionError, NotSupportedError
from penstock.common.typeinfo import Types
from penstock.connectors.base import DeliveryGuarantee
from penstock.connectors.elasticsearch.bulk import Backoff
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
