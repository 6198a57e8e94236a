"""All endpoints, and the OpenAPI document that follows from them."""

from __future__ import annotations

import re
from typing import Any

from penstock import __version__
from penstock.rest.cluster_endpoints import CLUSTER_ENDPOINTS
from penstock.rest.endpoint import Endpoint
from penstock.rest.job_endpoints import JOB_ENDPOINTS
from penstock.rest.json_types import fields_of, schema_of
from penstock.rest.own_endpoints import OWN_ENDPOINTS

ENDPOINTS: tuple[Endpoint, ...] = (*CLUSTER_ENDPOINTS, *JOB_ENDPOINTS, *OWN_ENDPOINTS)

_ERRORS = {
    "400": "the request is wrong",
    "401": "the token is missing or wrong",
    "404": "there is no such thing",
    "413": "the body is too large",
}


def openapi() -> dict[str, Any]:
    """The interface as OpenAPI 3.1."""
    schemas: dict[str, Any] = {
        "Errors": {"type": "object", "properties": {"errors": {"type": "array", "items": {"type": "string"}}}}
    }
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        path = re.sub(r":(\w+)", r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Penstock", "version": __version__, "description": "Flink's monitoring REST API, and more."},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in endpoint.parameters
    ]
    for query in endpoint.query:
        schema = schema_of(str if query.many else query.type, schemas)
        if query.type is int:
            schema = {**schema, "minimum": 0}
        parameters.append({"name": query.name, "in": "query", "description": query.description, "schema": schema})
    media = "text/plain" if endpoint.text else "application/json"
    answer = {"description": "done", "content": {media: {"schema": schema_of(endpoint.answer, schemas)}}}
    failures = {
        status: {
            "description": text,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Errors"}}},
        }
        for status, text in _ERRORS.items()
    }
    operation: dict[str, Any] = {"summary": endpoint.description, "responses": {"2XX": answer, **failures}}
    if parameters:
        operation["parameters"] = parameters
    if endpoint.upload:
        fields = fields_of(endpoint.body) if endpoint.body else {}
        form = {name: schema_of(each, schemas) for name, each in fields.items()}
        form["file"] = {"type": "string", "format": "binary"}
        schema = {"type": "object", "properties": form}
        operation["requestBody"] = {"content": {"multipart/form-data": {"schema": schema}}}
    elif endpoint.body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": schema_of(endpoint.body, schemas)}}}
    return operation
