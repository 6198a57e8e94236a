"""Flink's tools find the fields that they know: the names that a Flink 2.3 with a small job has answered with.

flink_fields.json has them by path (with the method before it unless that is GET). What there is not here is named
below; whoever adds it removes it there.
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
            r"application-?[iI]d$",  # an application is not a thing of its own
            r"(total|free)Resource|memoryConfiguration|allocatedSlots|assignedTasks|hardware\.",  # no memory by purpose
            r"garbageCollectors|jvm",  # workers are no Java programs
            r"changelog_",  # no changelog state backend
            r"alignment_buffered|processed_data|persisted_data",  # nothing is written of what barriers overtake
            r"\.alignment|start_delay|\.checkpoint(_duration)?(\.a?sync|$)",  # nor has an epoch's end these phases
            r"serialized-throwable$",  # of Java
        )
    )
)
_DOCUMENT = openapi()


def _fields(schema: dict[str, Any], path: str, around: tuple[str, ...] = ()) -> Iterator[str]:
    """Of an answer; a `*` for what has any name. What contains itself is followed for one turn."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        if around.count(name) > 1:
            return
        schema, around = _DOCUMENT["components"]["schemas"][name], (*around, name)
    for name, inner in schema.get("properties", {}).items():
        yield f"{path}.{name}"
        yield from _fields(inner, f"{path}.{name}", around)
    if isinstance(inner := schema.get("additionalProperties"), dict):
        yield f"{path}.*"
        yield from _fields(inner, f"{path}.*", around)
    if "items" in schema:
        yield from _fields(schema["items"], f"{path}[]", around)
    for inner in schema.get("anyOf", ()):
        yield from _fields(inner, path, around)


def _answer_to(named: str) -> dict[str, Any]:
    method, _, path = named.rpartition(" ")
    there = _DOCUMENT["paths"][re.sub(r":(\w+)", r"{\1}", path)][method.lower() or "get"]["responses"]["2XX"]
    schema: dict[str, Any] = there["content"]["application/json"]["schema"]
    return schema


@pytest.mark.parametrize("path", [path for path in _FLINK if path not in _NO_ENDPOINT])
def test_every_field_of_flink_is_declared(path: str) -> None:
    known = "|".join(re.escape(field).replace(r"\*", r"[^.]+") for field in _fields(_answer_to(path), ""))
    missing = [field for field in _FLINK[path] if not re.fullmatch(known, field) and not _NOT_HERE.search(field)]
    assert missing == []


def test_what_is_said_not_to_be_here_is_not() -> None:
    assert not {re.sub(r":(\w+)", r"{\1}", path) for path in _NO_ENDPOINT} & _DOCUMENT["paths"].keys()
