"""References to compiled plans, which nothing can load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.table.compiled_plan import NO_PLANS

__all__ = ["BytesContentPlanReference", "FilePlanReference", "JsonContentPlanReference", "PlanReference"]


class PlanReference:
    """Refused: there are no compiled plans."""

    def __init__(self, j_plan_reference: Any) -> None:
        raise NotSupportedError(NO_PLANS)

    @staticmethod
    def from_file(path: str | Path) -> FilePlanReference:
        raise NotSupportedError(NO_PLANS)

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        raise NotSupportedError(NO_PLANS)

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> BytesContentPlanReference:
        raise NotSupportedError(NO_PLANS)


class FilePlanReference(PlanReference):
    """Refused."""

    def get_file(self) -> Path:
        raise NotSupportedError(NO_PLANS)


class JsonContentPlanReference(PlanReference):
    """Refused."""

    def get_content(self) -> str:
        raise NotSupportedError(NO_PLANS)


class BytesContentPlanReference(PlanReference):
    """Refused."""

    def get_content(self) -> bytes:
        raise NotSupportedError(NO_PLANS)
