"""The bulk interface of Elasticsearch and OpenSearch, over HTTP."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.reaching import package, reach

_BUSY = 429
_MISSING = 404
_AWAY = {502, 503, 504}


@dataclass(frozen=True)
class ClusterAddress:
    """Where the nodes are; its text never has the password."""

    hosts: tuple[str, ...]
    user_name: str | None = None
    password: str | None = field(default=None, repr=False)
    path_prefix: str = ""
    request_timeout_ms: int | None = None
    connection_timeout_ms: int | None = None
    socket_timeout_ms: int | None = None

    def __str__(self) -> str:
        return f"Elasticsearch at {', '.join(self.hosts)}"


@dataclass(frozen=True)
class Backoff:
    """What is done when the cluster is too busy for a request."""

    retries: int = 0
    delay_ms: int = 0
    exponential: bool = False

    def seconds(self, retry: int) -> float:
        return self.delay_ms * (2.0**retry if self.exponential else 1.0) / 1000


class BulkClient:
    """Sends actions to the nodes in turn."""

    def __init__(self, address: ClusterAddress, backoff: Backoff) -> None:
        httpx = package("httpx", "elasticsearch")
        self._address = address
        self._backoff = backoff
        self._errors = httpx.TransportError
        credentials = None if address.user_name is None else (address.user_name, address.password or "")

        def seconds(milliseconds: int | None) -> float | None:
            return 30.0 if milliseconds is None else milliseconds / 1000

        timeout = httpx.Timeout(
            seconds(address.socket_timeout_ms),
            connect=seconds(address.connection_timeout_ms),
            pool=seconds(address.request_timeout_ms),
        )
        self._client = httpx.Client(auth=credentials, timeout=timeout)
        self._next = 0

    def send(self, actions: list[bytes]) -> None:
        """All of them, or an error; those for which the cluster was too busy are sent again as the back-off says."""
        for retry in range(self._backoff.retries + 1):
            rejected, reason = self._send_once(actions)
            if not rejected:
                return
            if retry < self._backoff.retries:
                actions = rejected
                time.sleep(self._backoff.seconds(retry))
        raise JobExecutionError(
            f"{self._address} was too busy for {len(rejected)} documents, also after {self._backoff.retries} retries:"
            f" {reason}. Let it try longer with set_bulk_flush_backoff_strategy(...)."
        )

    def _send_once(self, actions: list[bytes]) -> tuple[list[bytes], str]:
        answer = reach(
            str(self._address),
            lambda: self._post(b"".join(actions)),
            lambda error: isinstance(error, (self._errors, _NodeAwayError)),
            secrets=(self._address.password,),
        )
        if answer.status_code == _BUSY:
            return actions, answer.text[:300]
        if answer.status_code >= 300:
            raise JobExecutionError(f"{self._address} refuses documents ({answer.status_code}): {answer.text[:500]}")
        return self._rejected(actions, answer.json())

    def _post(self, content: bytes) -> Any:
        host = self._address.hosts[self._next % len(self._address.hosts)]
        self._next += 1  # also after a failure: another node may be there
        answer = self._client.post(
            f"{host}{self._address.path_prefix}/_bulk",
            content=content,
            headers={"Content-Type": "application/x-ndjson"},
        )
        if answer.status_code in _AWAY:
            raise _NodeAwayError(f"{host} answered {answer.status_code}")
        return answer

    def _rejected(self, actions: list[bytes], answer: dict[str, Any]) -> tuple[list[bytes], str]:
        if not answer["errors"]:
            return [], ""
        rejected, reason = [], ""
        behind: set[tuple[str, str]] = set()  # documents of rejected actions: what came later must stay later
        for action, item in zip(actions, answer["items"], strict=True):
            result = next(iter(item.values()))
            document = (result.get("_index", ""), result.get("_id", ""))
            if result["status"] == _BUSY:
                rejected.append(action)
                behind.add(document)
                reason = str(result.get("error"))
            elif document in behind:
                rejected.append(action)
            elif result["status"] >= 300 and not (result["status"] == _MISSING and "delete" in item):
                raise JobExecutionError(
                    f"{self._address} refuses a document of the index {result.get('_index')!r}: {result.get('error')}"
                )
        return rejected, reason

    def close(self) -> None:
        self._client.close()


class _NodeAwayError(Exception):
    pass
