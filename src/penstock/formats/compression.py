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

from penstock.storage.files import open_file

_BLOCK = 1 << 21


def is_compressed(path: str) -> bool:
    return _suffix(path) in _DECOMPRESSORS


def blocks(path: str) -> Iterator[bytes]:
    """The content of a file, decompressed if its name asks for it."""
    with open_file(path) as file:
        stream = _DECOMPRESSORS.get(_suffix(path), _plain)(file)
        while block := stream.read(_BLOCK):
            yield block


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _plain(file: BinaryIO) -> BinaryIO:
    return file


def _zstandard(file: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, pyarrow.input_stream(file, compression="zstd"))


class _Streams:
    """Compressed streams one after the other. What is none fails: the standard library leaves the rest out then."""

    def __init__(self, file: BinaryIO, decompressor: Callable[[], Any], padding: bytes = b"") -> None:
        self._file = file
        self._new = decompressor
        self._padding = padding  # which may stand between streams
        self._decompressor: Any = decompressor()

    def read(self, _size: int) -> bytes:
        while raw := self._decompressor.unused_data or self._file.read(_BLOCK):
            if self._decompressor.eof:
                raw = raw.lstrip(self._padding) if self._padding else raw
                if not raw:
                    self._decompressor = _Ended
                    continue
                self._decompressor = self._new()
            if block := self._decompressor.decompress(raw):
                return cast(bytes, block)
        if not self._decompressor.eof:
            raise EOFError("Compressed file ended before the end-of-stream marker was reached")
        return b""


class _Ended:
    """In place of a decompressor whose stream has ended, with nothing left of what it was given."""

    eof = True
    unused_data = b""


_DECOMPRESSORS: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".gzip": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": lambda file: _Streams(file, bz2.BZ2Decompressor),
    ".xz": lambda file: _Streams(file, lzma.LZMADecompressor, padding=b"\0"),
    ".zst": _zstandard,
    ".deflate": lambda file: _Streams(file, zlib.decompressobj),
}
