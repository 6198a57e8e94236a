"""Of several attempts of one task, which may have different results, only one may let its results be used."""

from __future__ import annotations

from penstock.common.errors import JobExecutionError
from penstock.storage import storage_at


def claim(location: str, name: str) -> None:
    """Before an attempt ends: the second one fails here, and with it the epoch, so that nothing is mixed."""
    if not storage_at(location).create(name, b""):
        raise JobExecutionError(
            "what a task had sent in this epoch was lost after others had used it. Running it again may give other"
            " records, so the whole epoch has to be computed again: a restart strategy does that."
        )


def claim_epoch(location: str, place: str, began_with: str) -> None:
    """The claim of a subtask on the epoch that begins with this snapshot; those of earlier epochs are over."""
    folder, storage = f"claims/{place}/", storage_at(location)
    earlier = storage.names(folder)
    claim(location, folder + began_with)
    for name in earlier:
        storage.delete(name)
