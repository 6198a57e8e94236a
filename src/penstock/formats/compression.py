"""Opens files whose name says that they are compressed; they can only be read from front to back."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

import pyarrow

_BLOCK = 1 << 20


def is_compressed(path: str) -> bool:
    return _suffix(path) in _OPENERS


def blocks(path: str) -> Iterator[bytes]:
    """The content of a file, decompressed if its name asks for it."""
    with _OPENERS.get(_suffix(path), _open_plain)(path) as stream:
        while block := stream.read(_BLOCK):
            yield block


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _open_plain(path: str) -> BinaryIO:
    return open(path, "rb", buffering=0)


def _open_zstandard(path: str) -> BinaryIO:
    return cast(BinaryIO, pyarrow.input_stream(path, compression="zstd"))


class _Deflated:
    """A zlib stream, which the standard library does not offer as a file."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - closed by __exit__
        self._decompressor = zlib.decompressobj()

    def __enter__(self) -> _Deflated:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, _size: int) -> bytes:
        while raw := self._file.read(_BLOCK):
            if block := self._decompressor.decompress(raw):
                return block
        return self._decompressor.flush()


_OPENERS: dict[str, Callable[[str], Any]] = {
    ".gz": gzip.open,
    ".gzip": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zstandard,
    ".deflate": _Deflated,
}
