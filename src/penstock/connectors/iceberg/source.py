"""The rows of an Iceberg table as a stream."""

from __future__ import annotations

from functools import partial

from penstock.common.typeinfo import RowTypeInfo
from penstock.connectors.iceberg.table import IcebergLocation, IcebergView
from penstock.connectors.lake.lanes import LakeSource

__all__ = ["IcebergSource"]


class IcebergSource(LakeSource):
    """All rows of one snapshot (the newest, if none is named), for ``env.from_source``.

    With `continuous` also the rows that later snapshots append, for ever. The row type chooses columns by name.
    """

    def __init__(
        self,
        table: str,
        row_type: RowTypeInfo,
        catalog_properties: dict[str, str],
        snapshot_id: int | None = None,
        continuous: bool = False,
        catalog_name: str = "default",
    ) -> None:
        location = IcebergLocation.of(table, catalog_properties, catalog_name)
        super().__init__(partial(IcebergView, location), row_type, snapshot_id, continuous)
