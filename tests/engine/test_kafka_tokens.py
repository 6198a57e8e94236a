"""A broker that asks for a token: given by the client itself, for trying, or fetched from who gives them."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.kafka_programs import strings_of, text_sink
from tests.services.kafka import KafkaBroker, create_topic, hanging_partitions

from penstock.common import Types, WatermarkStrategy
from penstock.connectors.kafka.wire import Connection, LoginRefused
from penstock.datastream.connectors import DeliveryGuarantee

MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
UNSECURED = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "OAUTHBEARER",
    "enable.sasl.oauthbearer.unsecure.jwt": "true",
    "sasl.oauthbearer.config": "principal=me",
}


class BrokerWithTokens(KafkaBroker):
    """Believes tokens that nobody has signed."""

    def _write_settings(self) -> None:
        listener = f"127.0.0.1:{self._port}"
        self._settings = {
            "listeners": f"SASL_PLAINTEXT://{listener},CONTROLLER://{self.controller}",
            "advertised.listeners": f"SASL_PLAINTEXT://{listener}",
            "listener.security.protocol.map": "SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            "sasl.mechanism.inter.broker.protocol": "OAUTHBEARER",
            "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": (
                f'{MODULE} unsecuredLoginStringClaim_sub="broker";'
            ),
        }
        super()._write_settings()

    def client(self, **settings: Any) -> dict[str, Any]:
        return super().client(**{**UNSECURED, **settings})


@pytest.fixture(scope="module")
def broker(kafka: KafkaBroker) -> Iterator[KafkaBroker]:
    """Where `kafka` cannot be, this one cannot either."""
    broker = BrokerWithTokens()
    try:
        broker.start()
        yield broker
    finally:
        broker.stop()


def _token(**claims: Any) -> str:
    def part(content: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()

    now = int(time.time())
    return f"{part({'alg': 'none'})}.{part({'sub': 'me', 'iat': now, 'exp': now + 600, **claims})}."


class Giver(BaseHTTPRequestHandler):
    """Of tokens, to who says `client` and `secret`."""

    asked: list[str]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        known = self.headers["Authorization"] == "Basic " + base64.b64encode(b"client:secret").decode()
        type(self).asked.append(body)
        said = {"access_token": _token(), "token_type": "Bearer", "expires_in": 600} if known else {"error": "unknown"}
        answer = json.dumps(said).encode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def giver() -> Iterator[HTTPServer]:
    Giver.asked = []
    server = HTTPServer(("127.0.0.1", 0), Giver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def _fetched(giver: HTTPServer) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": f"http://127.0.0.1:{giver.server_port}/token",
        "sasl.oauthbearer.client.id": "client",
        "sasl.oauthbearer.client.secret": "secret",
        "sasl.oauthbearer.scope": "kafka",
    }


def _with_dots_as_underscores(settings: dict[str, str]) -> dict[str, str]:
    return {key.replace(".", "_"): value for key, value in settings.items()}


@pytest.mark.parametrize("way", ["unsecured", "fetched"])
def test_results_go_through_with_a_token(
    local_env: EnvironmentFactory, broker: KafkaBroker, giver: HTTPServer, caplog: pytest.LogCaptureFixture, way: str
) -> None:
    topic, login = create_topic(broker), UNSECURED if way == "unsecured" else _fetched(giver)
    env = local_env()
    sink = text_sink(broker, topic, DeliveryGuarantee.EXACTLY_ONCE, **_with_dots_as_underscores(login))
    env.from_collection(["a", "b"], Types.STRING()).sink_to(sink)
    with caplog.at_level("INFO", "penstock.kafka"):
        env.execute()
    assert "is not asked" not in caplog.text, "Penstock's own connections have logged in, too"
    assert hanging_partitions(broker, topic) == set()
    source = strings_of(broker, topic).set_properties(login).build()
    read = local_env().from_source(source, WatermarkStrategy.no_watermarks(), "in").execute_and_collect()
    assert sorted(read) == ["a", "b"]
    assert all("scope=kafka" in body for body in Giver.asked)


def test_a_token_that_is_refused_is_told(broker: KafkaBroker) -> None:
    host, port = broker.address.split(":")
    settings = {
        **broker.client(),
        "sasl.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.config": "principal=me lifeSeconds=-9",
    }
    with pytest.raises(LoginRefused):
        Connection(host, int(port), settings, 10)


def test_a_token_is_fetched_once_for_many_connections(broker: KafkaBroker, giver: HTTPServer) -> None:
    host, port = broker.address.split(":")
    settings = {**_fetched(giver), "sasl.mechanisms": "OAUTHBEARER"}
    for _ in range(3):
        Connection(host, int(port), settings, 10).close()
    assert len(Giver.asked) == 1
