"""Where the project keeps its own files: a local directory, or any file system that fsspec or pyarrow reaches."""

from penstock.storage.base import Storage, StorageError
from penstock.storage.locations import absolute_location, parent_location, storage_at

__all__ = ["Storage", "StorageError", "absolute_location", "parent_location", "storage_at"]
