"""The endpoints as a web application: routes, the token, checks of what comes in, the files of the web page."""

from __future__ import annotations

import hmac
import json
import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request as HttpRequest
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from penstock.common.errors import PenstockError
from penstock.rest.api import ENDPOINTS
from penstock.rest.cluster import Cluster
from penstock.rest.endpoint import (
    Endpoint,
    Events,
    Reply,
    Request,
    RestError,
    UploadedFile,
    bad_request,
)
from penstock.rest.json_types import mistakes

_LARGEST_BODY = 1 << 20
PAGE = Path(__file__).parent / "page"
_SAFE = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
_PAGE_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Access:
    """Who may ask, and how much they may send. Without a token everybody may."""

    token: str | None
    largest_upload: int = 100 << 20


def make_app(cluster: Cluster, access: Access, page: Path | None = PAGE) -> Starlette:
    routes = [Route(path, _handler(endpoint, cluster, access), methods=[endpoint.method])
              for endpoint in ENDPOINTS
              for path in _paths(endpoint)]  # fmt: skip
    if page is not None:
        routes.append(Route("/{path:path}", _page_handler(page), methods=["GET"]))
    return Starlette(routes=routes, exception_handlers={HTTPException: _refused(access), Exception: _broken})


def _paths(endpoint: Endpoint) -> list[str]:
    path = re.sub(r":(\w+)", r"{\1}", endpoint.path)
    return [path] if path.startswith("/penstock/") else [path, f"/v1{path}"]


def _handler(endpoint: Endpoint, cluster: Cluster, access: Access) -> Callable[[HttpRequest], Awaitable[Response]]:
    async def handle(http: HttpRequest) -> Response:
        try:
            _check_origin(http)
            _check_token(http, access)
            with tempfile.TemporaryDirectory(prefix="penstock-upload-") as directory:
                request = await _read(endpoint, http, access, Path(directory))
                reply = await run_in_threadpool(endpoint.handle, cluster, request)
        except RestError as error:
            reply = error.reply
        except PenstockError as error:
            reply = bad_request(str(error)).reply
        except Exception as error:
            reply = RestError(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}").reply
        return _response(reply)

    return handle


def _check_origin(http: HttpRequest) -> None:
    """A form of another site needs no leave of ours to be sent, and without a token it would be obeyed."""
    site, origin = http.headers.get("Sec-Fetch-Site"), http.headers.get("Origin")
    if site is None and origin is not None:
        own = (http.headers.get("Host"), http.headers.get("X-Forwarded-Host"))
        site = "same-origin" if urlsplit(origin).netloc in own else "cross-site"
    if site not in (None, "same-origin", "none"):
        raise RestError(HTTPStatus.FORBIDDEN, f"pages of other hosts may not ask here (this one is of {origin})")


def _check_token(http: HttpRequest, access: Access) -> None:
    if access.token is None:
        return
    sent = http.headers.get("Authorization", "")
    if not hmac.compare_digest(sent.encode(), f"Bearer {access.token}".encode()):
        raise RestError(
            HTTPStatus.UNAUTHORIZED,
            "send the token as `Authorization: Bearer <token>`: `penstock cluster status` prints that of the manager, "
            "a job's own is in its rest.json",
        )


async def _read(endpoint: Endpoint, http: HttpRequest, access: Access, directory: Path) -> Request:
    query = _query(endpoint, http)
    if endpoint.upload:
        return await _read_form(endpoint, http, access, query, directory)
    content = await _content(http, _LARGEST_BODY)
    try:
        body = json.loads(content) if content.strip() else {}
    except ValueError as error:
        raise bad_request(f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise bad_request("the body must be a JSON object")
    if endpoint.body is not None:
        for mistake in mistakes(body, endpoint.body):
            raise bad_request(mistake)
    return Request(http.path_params, query, body)


def _query(endpoint: Endpoint, http: HttpRequest) -> dict[str, Any]:
    known = {query.name: query for query in endpoint.query}
    values: dict[str, Any] = {}
    for name, text in http.query_params.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise bad_request(f"the parameter {name!r} is not known here; known are: {names}")
        query = known[name]
        if query.many:
            values[name] = [part for part in text.split(",") if part]
        elif query.type is int:
            if not re.fullmatch(r"[0-9]{1,18}", text):
                raise bad_request(f"the parameter {name!r} is a whole number from 0 on, not {text!r}")
            values[name] = int(text)
        else:
            values[name] = text
    return values


async def _content(http: HttpRequest, most: int) -> bytes:
    """Refused by its length if that is known, else as soon as it is too long."""
    length = http.headers.get("Content-Length", "0")
    if not length.isdecimal() or int(length) > most:
        raise _too_large(most)
    parts, size = [], 0
    async for part in http.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


async def _read_form(
    endpoint: Endpoint, http: HttpRequest, access: Access, query: dict[str, Any], directory: Path
) -> Request:
    length = http.headers.get("Content-Length", "")
    if not length.isdecimal():  # a server of HTTP/1.1 reads no more of a body than it announces
        raise RestError(HTTPStatus.LENGTH_REQUIRED, "send the body with its Content-Length")
    if int(length) > access.largest_upload:
        raise _too_large(access.largest_upload)
    if "multipart/form-data" not in http.headers.get("Content-Type", ""):
        raise bad_request("send the program as a file of a form (multipart/form-data)")
    fields: dict[str, str] = {}
    file = None
    try:
        async with http.form(max_files=1, max_fields=20) as form:
            for name, value in form.items():
                if isinstance(value, UploadFile):
                    file = UploadedFile(Path(value.filename or "program.py").name, directory / "upload")
                    with file.path.open("wb") as target:
                        while chunk := await value.read(1 << 20):
                            target.write(chunk)
                else:
                    fields[name] = value
    except (MultiPartException, HTTPException) as error:
        raise bad_request(f"the form cannot be read: {getattr(error, 'message', None) or error}") from None
    if endpoint.body is not None:
        for mistake in mistakes(fields, endpoint.body):
            raise bad_request(mistake)
    return Request(http.path_params, query, fields, file)


def _too_large(most: int) -> RestError:
    return RestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {most} bytes")


def _response(reply: Reply | Events) -> Response:
    if isinstance(reply, Events):
        return StreamingResponse(_event_lines(reply), media_type="text/event-stream", headers=_SAFE)
    headers = dict(_SAFE)
    if reply.status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(reply.body, str):
        return PlainTextResponse(reply.body, reply.status, headers)
    return JSONResponse(reply.body, reply.status, headers)


async def _event_lines(events: Events) -> AsyncIterator[str]:
    async for name, data in events.stream:
        yield f"event: {name}\ndata: {json.dumps(data)}\n\n"


def _refused(access: Access) -> Callable[[HttpRequest, Exception], Response]:
    def respond(http: HttpRequest, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        try:
            _check_token(http, access)
        except RestError as unauthorized:
            return _response(unauthorized.reply)
        path = http.url.path
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = _methods_of(path)
            if allowed:
                text = f"{path} takes {', '.join(allowed)}, not {http.method}"
                return _response(RestError(HTTPStatus.METHOD_NOT_ALLOWED, text).reply)
        return _response(RestError(HTTPStatus.NOT_FOUND, f"Not found: {path}").reply)

    return respond


def _methods_of(path: str) -> list[str]:
    path = path.removeprefix("/v1")
    found = [e.method for e in ENDPOINTS if re.fullmatch(re.sub(r":\w+", "[^/]+", e.path), path)]
    return sorted(set(found))


def _broken(http: HttpRequest, error: Exception) -> Response:
    return _response(RestError(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}").reply)


def _page_handler(page: Path) -> Callable[[HttpRequest], Awaitable[Response]]:
    """Files of the page; what a browser asks for besides is a place inside of the page."""

    async def handle(http: HttpRequest) -> Response:
        name = http.path_params["path"]
        file = (page / name).resolve()
        if name and file.is_relative_to(page.resolve()) and file.is_file():
            return FileResponse(file, headers={**_SAFE, "Cache-Control": "no-cache"})
        wants_page = "text/html" in http.headers.get("Accept", "")
        if (not name or wants_page) and (page / "index.html").is_file():
            return FileResponse(page / "index.html", headers={**_SAFE, "Content-Security-Policy": _PAGE_POLICY})
        raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED if _methods_of(http.url.path) else HTTPStatus.NOT_FOUND)

    return handle
