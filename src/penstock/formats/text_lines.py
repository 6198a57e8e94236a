"""Files of text lines: any range of bytes can be read, and each line belongs to the range its first byte is in."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from penstock.common.errors import JobExecutionError
from penstock.formats.compression import blocks, is_compressed
from penstock.formats.file_formats import WholeFile
from penstock.storage.files import open_file

_READ_BYTES = 1 << 20
_SAMPLE_BYTES = 1 << 16
_SEARCH_BYTES = 1 << 16


class TextLines(WholeFile):
    """Lines that end with a line feed, a carriage return or both, as Java reads them."""

    block = 1 << 20

    def __init__(self, charset: str = "UTF-8", splittable: bool = True) -> None:
        self._charset = charset
        self._splittable = splittable and _newline_is_one_byte(charset)

    def _splits(self, path: str) -> bool:
        return self._splittable and not is_compressed(path)

    def extent(self, path: str, size: int) -> int:
        return size if self._splits(path) else super().extent(path, size)

    def records_per_unit(self, path: str, extent: int) -> float:
        if not self._splits(path):
            return super().records_per_unit(path, extent)
        with open_file(path) as file:
            sample = file.read(_SAMPLE_BYTES)
        return (sample.count(b"\n") + 1) / max(1, len(sample))

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[Any]:
        if self._splits(path):
            return self._lines(range_of_lines(path, start, end, extent))
        return self.read_all(path)

    def read_all(self, path: str) -> Iterator[Any]:
        return self._lines(blocks(path))

    def _lines(self, raw: Iterable[bytes]) -> Iterator[list[Any]]:
        decoder = codecs.getincrementaldecoder(self._charset)(errors="replace")
        rest = ""
        for block in raw:
            text = rest + decoder.decode(block)
            # Only at a line feed is it certain that no carriage return is cut from its line feed.
            cut = text.rfind("\n") + 1
            if cut:
                yield _split(text[:cut])
            rest = text[cut:]
        rest += decoder.decode(b"", True)
        if rest:
            yield _split(rest)


def _split(text: str) -> list[str]:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def range_of_lines(path: str, start: int, end: int, extent: int) -> Iterator[bytes]:
    """The bytes of the lines that begin in [start, end).

    If the file has grown since it was measured, its last line then is read as it is now: not half of it.
    """
    with open_file(path) as file:
        size = file.seek(0, 2)
        if size < extent:
            raise _shortened(file, path, extent)
        position = _first_line_start(file, path, start, size)
        stop = _first_line_start(file, path, end, size)
        file.seek(position)
        while position < stop:
            block = file.read(min(_READ_BYTES, stop - position))
            if not block:
                raise _shortened(file, path, extent)
            position += len(block)
            yield block


def _first_line_start(file: BinaryIO, path: str, position: int, size: int) -> int:
    """The first place at or after `position` at which a line begins, or the end of the file."""
    if position == 0 or position >= size:
        return position
    place = position - 1  # a line that begins exactly at `position` has its predecessor's line feed there
    file.seek(place)
    while place < size:
        block = file.read(min(_SEARCH_BYTES, size - place))
        if not block:
            raise _shortened(file, path, size)
        found = block.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(block)
    return size


def _shortened(file: BinaryIO, path: str, extent: int) -> JobExecutionError:
    return JobExecutionError(
        f"{path!r} had {extent} bytes when this job planned to read it, and has only {file.seek(0, 2)} now."
        " Files must not be changed while a job reads them: write new ones and rename them into place."
    )


class ByteLines(TextLines):
    """Lists of lines as they are, without their line feeds (and carriage returns before these), for whoever decodes."""

    def _lines(self, raw: Iterable[bytes]) -> Iterator[list[Any]]:
        rest = b""
        for block in raw:
            content = rest + block
            cut = content.rfind(b"\n")
            if cut >= 0:
                yield content[:cut].replace(b"\r\n", b"\n").removesuffix(b"\r").split(b"\n")
            rest = content[cut + 1 :]
        if rest:
            yield [rest.removesuffix(b"\r")]


def _newline_is_one_byte(charset: str) -> bool:
    try:
        return "a\nb".encode(charset) == b"a\nb"
    except LookupError:
        raise ValueError(f"Unknown character set {charset!r}; a common one is 'UTF-8'.") from None
