"""Records as actions of the bulk interface."""

from __future__ import annotations

import base64
import datetime
import json
from decimal import Decimal
from typing import Any

from penstock.common.time import Instant
from penstock.common.types import Row


def index_action(index: str, id_: Any, document: dict[str, Any], doc_type: str | None) -> bytes:
    """The document is there afterwards; under an id it replaces the one before."""
    return _lines({"index": _where(index, id_, doc_type)}, document)


def delete_action(index: str, id_: Any, doc_type: str | None) -> bytes:
    """No document has the id afterwards."""
    return _lines({"delete": _where(index, id_, doc_type)})


def _where(index: str, id_: Any, doc_type: str | None) -> dict[str, str]:
    where = {"_index": index}
    if id_ is not None:
        where["_id"] = str(id_)
    if doc_type is not None:
        where["_type"] = doc_type
    return where


def _lines(*parts: Any) -> bytes:
    return "".join(json.dumps(part, default=_plain, ensure_ascii=False) + "\n" for part in parts).encode()


def _plain(value: Any) -> Any:
    """What JSON has no form for, in the forms that Elasticsearch recognises by itself."""
    if isinstance(value, Row):
        return dict(zip(value._fields, value._values, strict=True)) if value._fields else list(value._values)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, Instant):
        at = datetime.datetime.fromtimestamp(value.seconds, datetime.UTC)
        return f"{at:%Y-%m-%dT%H:%M:%S}.{value.nanos:09d}Z"
    if isinstance(value, Decimal):
        number = float(value)
        return number if Decimal(repr(number)) == value else str(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, (set, frozenset)):
        return list(value)
    return str(value)
