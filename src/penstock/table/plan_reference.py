"""Where a compiled plan is: in a file, or in a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.compiled_plan import NO_SMILE
from penstock.table.session.plan_documents import Document, loaded

__all__ = ["BytesContentPlanReference", "FilePlanReference", "JsonContentPlanReference", "PlanReference"]


class PlanReference:
    """For ``t_env.load_plan(..)`` and ``t_env.execute_plan(..)``."""

    def __init__(self, j_plan_reference: Any) -> None:
        self._reference = j_plan_reference

    @staticmethod
    def from_file(path: str | Path) -> FilePlanReference:
        return FilePlanReference(Path(path))

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        return JsonContentPlanReference(json_string)

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> BytesContentPlanReference:
        raise NotSupportedError(NO_SMILE)

    def _document(self) -> Document:
        raise NotSupportedError(NO_SMILE)


class FilePlanReference(PlanReference):
    """A file."""

    def get_file(self) -> Path:
        return Path(self._reference)

    def _document(self) -> Document:
        try:
            text = self.get_file().read_text("utf-8")
        except OSError as error:
            raise ProgramError(f"The plan {str(self.get_file())!r} cannot be read: {error.strerror}.") from None
        return loaded(text, repr(str(self.get_file())))


class JsonContentPlanReference(PlanReference):
    """A text."""

    def get_content(self) -> str:
        return str(self._reference)

    def _document(self) -> Document:
        return loaded(self.get_content(), "The text")


class BytesContentPlanReference(PlanReference):
    """Jackson's binary form of JSON, which cannot be loaded."""

    def get_content(self) -> bytes:
        return bytes(self._reference)
