"""The rows of a Delta table as a stream."""

from __future__ import annotations

from functools import partial

from penstock.common.typeinfo import RowTypeInfo
from penstock.connectors.delta.table import DeltaLocation, DeltaView
from penstock.connectors.lake.lanes import LakeSource

__all__ = ["DeltaSource"]


class DeltaSource(LakeSource):
    """All rows of one version (the newest, if none is named), for ``env.from_source``.

    With `continuous` also the rows that later versions append, for ever. The row type chooses columns by name.
    """

    def __init__(
        self,
        uri: str,
        row_type: RowTypeInfo,
        version: int | None = None,
        continuous: bool = False,
        storage_options: dict[str, str] | None = None,
    ) -> None:
        super().__init__(partial(DeltaView, DeltaLocation.of(uri, storage_options)), row_type, version, continuous)
