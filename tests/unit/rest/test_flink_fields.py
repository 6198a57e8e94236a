"""Flink's tools find the fields that they know: the names that a Flink 2.3 with a small job has answered with.

flink_fields.json has them by path. What there is not here is named below; whoever adds it removes it there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.rest.api import openapi

_FLINK: dict[str, list[str]] = json.loads(Path(__file__).with_name("flink_fields.json").read_text())
_NO_ENDPOINT = {"/datasets": "there are no cached results", "/jobs/:job/jobmanager/log-url": "logs are served here",
                "/jobs/:job/jobmanager/environment": "/jobmanager/environment of the job's own address"}  # fmt: skip
_NOT_HERE = re.compile(
    "|".join(
        (
            r"application-id$",  # an application is not a thing of its own
            r"(total|free)Resource|memoryConfiguration|allocatedSlots|assignedTasks|hardware\.",  # no memory by purpose
            r"garbageCollectors|jvm",  # workers are no Java programs
            r"changelog_",  # no changelog state backend
            r"alignment_buffered|processed_data|persisted_data",  # nothing is written of what barriers overtake
        )
    )
)
_DOCUMENT = openapi()


def _fields(schema: dict[str, Any], path: str) -> Iterator[str]:
    """Of an answer; a `*` for what has any name."""
    if "$ref" in schema:
        schema = _DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    for name, inner in schema.get("properties", {}).items():
        yield f"{path}.{name}"
        yield from _fields(inner, f"{path}.{name}")
    if isinstance(inner := schema.get("additionalProperties"), dict):
        yield f"{path}.*"
        yield from _fields(inner, f"{path}.*")
    if "items" in schema:
        yield from _fields(schema["items"], f"{path}[]")
    for inner in schema.get("anyOf", ()):
        yield from _fields(inner, path)


def _answer_to(path: str) -> dict[str, Any]:
    there = _DOCUMENT["paths"][re.sub(r":(\w+)", r"{\1}", path)]["get"]["responses"]["2XX"]
    schema: dict[str, Any] = there["content"]["application/json"]["schema"]
    return schema


@pytest.mark.parametrize("path", [path for path in _FLINK if path not in _NO_ENDPOINT])
def test_every_field_of_flink_is_declared(path: str) -> None:
    known = "|".join(re.escape(field).replace(r"\*", r"[^.]+") for field in _fields(_answer_to(path), ""))
    missing = [field for field in _FLINK[path] if not re.fullmatch(known, field) and not _NOT_HERE.search(field)]
    assert missing == []


def test_what_is_said_not_to_be_here_is_not() -> None:
    assert not {re.sub(r":(\w+)", r"{\1}", path) for path in _NO_ENDPOINT} & _DOCUMENT["paths"].keys()
