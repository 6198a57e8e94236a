"""What endpoints take and give, without HTTP: a request, a reply, and an error that becomes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any


@dataclass(frozen=True)
class Request:
    """The named parts of the path, the query after `?`, and the JSON object of the body."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    body: Mapping[str, Any]
    status: HTTPStatus = HTTPStatus.OK


class RestError(Exception):
    """Becomes Flink's `{"errors": [...]}` with this status."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.reply = Reply({"errors": [message]}, status)


def read_fields(body: Mapping[str, Any], types: Mapping[str, type]) -> dict[str, Any]:
    """The known fields of a body, None where absent; what is not known is refused instead of ignored."""
    for unknown in body.keys() - types.keys():
        raise RestError(
            HTTPStatus.BAD_REQUEST, f"the field {unknown!r} is not known here; known are {', '.join(sorted(types))}"
        )
    for name, type_ in types.items():
        if body.get(name) is not None and not isinstance(body[name], type_):
            raise RestError(HTTPStatus.BAD_REQUEST, f"the field {name!r} must be a {_JSON_NAMES[type_]}")
    return {name: body.get(name) for name in types}


_JSON_NAMES = {str: "string", bool: "boolean"}
