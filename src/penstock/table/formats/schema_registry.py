"""A client of Confluent's schema registry: schemas by the numbers that messages begin with."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote

from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.table.formats.base import FormatOptions

_OLD_URL = "schema-registry.url"
_OLD_SUBJECT = "schema-registry.subject"
OPTIONS = (
    "url", "subject", "schema", "basic-auth.credentials-source", "basic-auth.user-info",
    "bearer-auth.credentials-source", "bearer-auth.token", _OLD_URL, _OLD_SUBJECT,
)  # fmt: skip
_JSON = "application/vnd.schemaregistry.v1+json"
_TIMEOUT_S = 30


class SchemaRegistry:
    """Picklable; asks once for each schema."""

    def __init__(self, options: FormatOptions) -> None:
        url = options.text("url") or options.text(_OLD_URL)
        if not url:
            raise ProgramError(f"The format '{options.name}' of {options.table} needs '{options.name}.url'.")
        self._urls = [one.strip().rstrip("/") for one in url.split(",")]
        self._authorization = _authorization(options)
        self._schemas: dict[int, Any] = {}

    def schema(self, number: int) -> Any:
        """The schema of a message."""
        if number not in self._schemas:
            self._schemas[number] = json.loads(self._ask(f"/schemas/ids/{number}")["schema"])
        return self._schemas[number]

    def registered(self, subject: str, schema: Any) -> int:
        """The number of a schema, which is registered if it is new."""
        number: int = self._ask(f"/subjects/{quote(subject, safe='')}/versions", {"schema": json.dumps(schema)})["id"]
        return number

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        problems = []
        for url in self._urls:
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(url + path, data, {"Accept": _JSON, **self._authorization})
            if data is not None:
                request.add_header("Content-Type", _JSON)
            try:
                with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
                    found: dict[str, Any] = json.load(answer)
                    return found
            except urllib.error.HTTPError as error:
                text = error.read().decode("utf-8", "replace")[:300]
                raise JobExecutionError(f"The schema registry {url} refused {path}: {error.code} {text}") from None
            except (OSError, ValueError) as error:
                problems.append(f"{url}: {error}")
        raise JobExecutionError(f"The schema registry does not answer: {'; '.join(problems)}")


def _authorization(options: FormatOptions) -> dict[str, str]:
    basic, bearer = options.text("basic-auth.user-info"), options.text("bearer-auth.token")
    for key, known, value in (("basic-auth", "USER_INFO", basic), ("bearer-auth", "STATIC_TOKEN", bearer)):
        source = options.text(f"{key}.credentials-source")
        if source is not None and (source != known or value is None):
            raise NotSupportedError(
                f"'{options.name}.{key}.credentials-source' of {options.table} can be {known}, with"
                f" '{options.name}.{key}.{'user-info' if key == 'basic-auth' else 'token'}'."
            )
    if basic is not None:
        return {"Authorization": f"Basic {base64.b64encode(basic.encode()).decode()}"}
    return {"Authorization": f"Bearer {bearer}"} if bearer is not None else {}


def subject_of(options: FormatOptions) -> str:
    subject = options.text("subject") or options.text(_OLD_SUBJECT)
    if not subject:
        raise ProgramError(
            f"The format '{options.name}' of {options.table} needs '{options.name}.subject', under which the schema of"
            " what is written is registered."
        )
    return subject
