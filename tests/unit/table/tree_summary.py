"""A tree of frozen data classes on one line, without what is at its default: what the data files compare."""

from __future__ import annotations

import dataclasses
from typing import Any

from penstock.columns.typesystem.base import DataType


def summary(node: Any) -> str:
    if isinstance(node, DataType):
        return f"<{node.as_summary_string()}>"
    if dataclasses.is_dataclass(node):
        return f"{type(node).__name__}({', '.join(_fields(node))})"
    if isinstance(node, tuple):
        return f"[{', '.join(map(summary, node))}]"
    return repr(node)


def _fields(node: Any) -> list[str]:
    shown = []
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if not field.repr or value == field.default:
            continue
        required = field.default is dataclasses.MISSING
        shown.append(summary(value) if required else f"{field.name}={summary(value)}")
    return shown
