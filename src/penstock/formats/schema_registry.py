"""A schema registry, as Confluent's and those that speak like it are asked over HTTP."""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from penstock.formats.decoding import CannotDecodeNow

_TIMEOUT = 10.0
_ATTEMPTS = 5
_NOT_FOUND, _ITS_OWN_FAULT = 404, 500
_TYPE = "application/vnd.schemaregistry.v1+json"


class SchemaRegistry:
    """Schemas by their numbers; what was asked once is remembered. A user and password may stand in the address."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._schemas: dict[int, str] = {}
        self._numbers: dict[tuple[str, str], int] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_schemas": {}, "_numbers": {}}

    def __repr__(self) -> str:
        return f"SchemaRegistry({self._shown()!r})"

    def _shown(self) -> str:
        """Without credentials."""
        parts = urllib.parse.urlsplit(self._url)
        return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    def schema(self, number: int) -> str:
        """The Avro schema with this number, as JSON."""
        if number not in self._schemas:
            answer = self._ask(f"/schemas/ids/{number}")
            if answer.get("schemaType", "AVRO") != "AVRO":
                raise ValueError(
                    f"Schema {number} of the registry {self._shown()} is of the type {answer['schemaType']}, not AVRO."
                )
            self._schemas[number] = answer["schema"]
        return self._schemas[number]

    def number(self, subject: str, schema: str) -> int:
        """The number of a schema under a subject, which is registered if it is not there yet."""
        if (subject, schema) not in self._numbers:
            path = f"/subjects/{urllib.parse.quote(subject, safe='')}/versions"
            self._numbers[subject, schema] = int(self._ask(path, {"schema": schema})["id"])
        return self._numbers[subject, schema]

    def _ask(self, path: str, body: Any = None) -> dict[str, Any]:
        """Tries again while nobody answers, or the server says that it is its own fault."""
        why = ""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with urllib.request.urlopen(self._request(path, body), timeout=_TIMEOUT) as answer:
                    found: dict[str, Any] = json.load(answer)
                    return found
            except urllib.error.HTTPError as error:
                why = f"{error.code} {error.read(500).decode(errors='replace')}"
                if error.code == _NOT_FOUND:
                    raise ValueError(f"The schema registry {self._shown()} has no {path}: {why}") from None
                if error.code < _ITS_OWN_FAULT:
                    break
            except (OSError, ValueError) as error:
                why = str(error)
            if attempt < _ATTEMPTS:
                time.sleep(0.1 * 2**attempt)
        raise CannotDecodeNow(f"The schema registry {self._shown()} does not answer {path}: {why}")

    def _request(self, path: str, body: Any) -> urllib.request.Request:
        parts = urllib.parse.urlsplit(self._url)
        user, _, host = parts.netloc.rpartition("@")
        address = urllib.parse.urlunsplit(parts._replace(netloc=host)) + path
        headers = {"Accept": f"{_TYPE}, application/json", "Content-Type": _TYPE}
        if user:
            headers["Authorization"] = "Basic " + base64.b64encode(urllib.parse.unquote(user).encode()).decode()
        content = None if body is None else json.dumps(body).encode()
        return urllib.request.Request(address, content, headers)
