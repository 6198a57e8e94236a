"""An endpoint as data: its path, what it takes and gives, and what answers it. Routes, checks and documents follow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from penstock.rest.cluster import Cluster


@dataclass(frozen=True)
class Query:
    """A parameter after `?`; `many` takes several values with commas between them. No number is negative."""

    name: str
    description: str
    type: type = str
    many: bool = False


@dataclass(frozen=True)
class UploadedFile:
    """A file that came with the request, where it lies until the request is answered."""

    name: str
    path: Path


@dataclass(frozen=True)
class Request:
    """What has been checked already: parts of the path, values of the query, the fields of the body."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    file: UploadedFile | None = None


@dataclass(frozen=True)
class Reply:
    """JSON, or the text of a file."""

    body: Any
    status: HTTPStatus = HTTPStatus.OK


@dataclass(frozen=True)
class Events:
    """Server-sent events: pairs of a name and JSON."""

    stream: AsyncIterator[tuple[str, Any]]


class RestError(Exception):
    """Becomes Flink's `{"errors": [...]}` with this status."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.reply = Reply({"errors": [message]}, status)


def not_found(what: str) -> RestError:
    return RestError(HTTPStatus.NOT_FOUND, what)


def bad_request(why: str) -> RestError:
    return RestError(HTTPStatus.BAD_REQUEST, why)


Handler = Callable[[Cluster, Request], "Reply | Events"]


@dataclass(frozen=True)
class Endpoint:
    """`:name` in the path stands for one part of it. `body` and `answer` are typed dictionaries."""

    method: str
    path: str
    description: str
    handle: Handler
    answer: Any
    query: tuple[Query, ...] = ()
    body: Any = None
    upload: bool = False  # the body is a form with a file, and `body` are its other fields
    text: bool = False  # answers with plain text

    @property
    def parameters(self) -> list[str]:
        return [part[1:] for part in self.path.split("/") if part.startswith(":")]
