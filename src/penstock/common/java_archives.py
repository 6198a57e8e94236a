"""Jars that PyFlink programs bring for Flink's connectors and formats: Penstock has its own, and needs none of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CONNECTOR_OR_FORMAT = re.compile(
    r"flink-(sql-)?(connector-[a-z]|json|csv|avro|parquet|orc|protobuf|s3-fs|cep|shaded-hadoop)[^/]*\.jar$"
)


def unknown_jars(paths: Iterable[str]) -> list[str]:
    """Those with code that nothing here takes the place of."""
    return [path for path in paths if _CONNECTOR_OR_FORMAT.search(path) is None]
