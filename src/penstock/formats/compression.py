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


class _Deflated:
    """A zlib stream, which the standard library does not offer as a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor = zlib.decompressobj()

    def read(self, _size: int) -> bytes:
        while raw := self._decompressor.unused_data or self._file.read(_BLOCK):
            if self._decompressor.eof:  # several streams one after the other, as with gzip
                self._decompressor = zlib.decompressobj()
            if block := self._decompressor.decompress(raw):
                return block
        if not self._decompressor.eof:
            raise EOFError("Compressed file ended before the end-of-stream marker was reached")
        return b""


_DECOMPRESSORS: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".gzip": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
    ".zst": _zstandard,
    ".deflate": _Deflated,
}
