"""Tags that name and type side outputs."""

from __future__ import annotations

from typing import NoReturn

from penstock.common.errors import NotSupportedError
from penstock.common.typeinfo import RowTypeInfo, TypeInformation, Types

__all__ = ["OutputTag"]


class OutputTag:
    """Names a side output: a function yields ``(tag, record)``, ``ds.get_side_output(tag)`` reads them.

    ``type_info`` is a TypeInformation, a list of field types (a Row), or None for untyped records::

        late = OutputTag("late", Types.TUPLE([Types.STRING(), Types.LONG()]))

    Tags with the same id and type are the same tag.
    """

    def __init__(self, tag_id: str, type_info: TypeInformation | list[TypeInformation] | None = None) -> None:
        if not tag_id:
            raise ValueError("the tag_id of an OutputTag must be a non-empty string")
        if not isinstance(tag_id, str):
            raise TypeError(f"the tag_id of an OutputTag must be a string, got {tag_id!r}")
        self.tag_id = tag_id
        self.type_info = self._as_type_information(type_info)

    @staticmethod
    def _as_type_information(given: TypeInformation | list[TypeInformation] | None) -> TypeInformation:
        if given is None:
            return Types.PICKLED_BYTE_ARRAY()
        if isinstance(given, list):
            return RowTypeInfo(given)
        if not isinstance(given, TypeInformation):
            raise TypeError(f"the type_info of an OutputTag must be None, a list or a TypeInformation, got {given!r}")
        return given

    def get_java_output_tag(self) -> NoReturn:
        raise NotSupportedError("an OutputTag has no Java counterpart in Penstock; use tag_id and type_info")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OutputTag) and self.tag_id == other.tag_id and bool(self.type_info == other.type_info)

    def __hash__(self) -> int:
        return hash(self.tag_id)

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r}, {self.type_info})"
