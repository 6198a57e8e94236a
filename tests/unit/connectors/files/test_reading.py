"""Files as a source: planned and read without Spark."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import pickle
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common.errors import JobExecutionError, SetupError
from penstock.connectors.files.reading import Files
from penstock.formats.text_lines import TextLines
from penstock.runtime.batch import Batch


class SmallBlocks(TextLines):
    block = 7


def read_all(source: Files, parallelism: int = 1, budget: int = 1000) -> list[list[Any]]:
    """The records of each subtask; positions go through JSON and work and reader through pickle, as in a job."""
    records: list[list[Any]] = [[] for _ in range(parallelism)]
    finished: set[int] = set()
    position = json.loads(json.dumps(source.initial_position(parallelism)))
    while True:
        end = json.loads(json.dumps(source.advance(position, budget)))
        for subtask, assignment in source.assignments(position, end, parallelism).items():
            if assignment.work is not None:
                assert subtask not in finished, "a subtask got work after its end"
                reader = pickle.loads(pickle.dumps(source.reader()))
                for batch in reader.read(pickle.loads(pickle.dumps(assignment.work))):
                    records[subtask] += batch.values
            if assignment.final:
                finished.add(subtask)
        if source.exhausted(end) or end == position:
            assert finished == set(range(parallelism)) or not source.bounded
            return records
        position = end


def _batches(source: Files, work: Any) -> list[list[Any]]:
    return [element.values for element in source.reader().read(work) if isinstance(element, Batch)]


def java_lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


@given(
    texts=st.lists(st.text(alphabet="ab\n\rü€😀 ", max_size=60), min_size=1, max_size=4),
    parallelism=st.integers(1, 3),
    budget=st.integers(1, 20),
    block=st.integers(1, 30),
)
@settings(max_examples=150, deadline=None)
def test_every_line_is_read_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], parallelism: int, budget: int, block: int
) -> None:
    folder = tmp_path_factory.mktemp("files")
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_bytes(text.encode())
    file_format = SmallBlocks()
    file_format.block = block
    per_subtask = read_all(Files(file_format, [str(folder)]), parallelism, budget)
    expected = [line for text in texts for line in java_lines(text)]
    if parallelism == 1:
        assert per_subtask[0] == expected
    assert sorted(sum(per_subtask, [])) == sorted(expected)


def test_a_small_file_stays_on_one_subtask_and_the_others_end_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{i}\n" for i in range(1000)))
    source = Files(TextLines(), [str(tmp_path)])
    start = source.initial_position(3)
    end = source.advance(start, 10)
    assignments = source.assignments(start, end, 3)
    assert [(s, a.work is not None, a.final) for s, a in assignments.items()] == [
        (0, True, False),
        (1, False, True),
        (2, False, True),
    ]
    assert read_all(source, 3, budget=10) == [[str(i) for i in range(1000)], [], []]


def test_large_files_are_shared_by_the_subtasks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0123456789" * 10 + "\n" * 1 + "x" * 99 + "\n")
    file_format = SmallBlocks()
    work = Files(file_format, [str(tmp_path)])
    start = work.initial_position(2)
    assert set(work.assignments(start, work.advance(start, 1000), 2)) == {0, 1}


def test_the_budget_is_in_records(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(("x" * 99 + "\n") * 10_000)
    source = Files(TextLines(), [str(tmp_path)])
    start = source.initial_position(1)
    work = source.assignments(start, source.advance(start, 500), 1)[0].work
    assert 450 <= sum(map(len, _batches(source, work))) <= 550


def test_directories_are_searched_and_hidden_files_left_out(tmp_path: Path) -> None:
    for name in ("b.txt", "sub/c.txt", "_h.txt", ".h", "_sub/x.txt", "sub/_y.txt", "a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    assert read_all(Files(TextLines(), [str(tmp_path)])) == [["a.txt", "b.txt", "sub/c.txt"]]


def test_nothing_to_read_ends_at_once(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    source = Files(TextLines(), [str(tmp_path)])
    position = source.initial_position(2)
    assert source.exhausted(position)
    assert all(a.final and a.work is None for a in source.assignments(position, position, 2).values())


def test_a_missing_path_is_named_when_the_job_starts(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no file or directory .*nowhere"):
        Files(TextLines(), [str(tmp_path / "nowhere")]).initial_position(1)


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        ("gz", gzip.compress),
        ("bz2", bz2.compress),
        ("xz", lzma.compress),
        ("deflate", zlib.compress),
        ("zst", lambda raw: pyarrow.compress(raw, codec="zstd", asbytes=True)),
    ],
)
def test_compressed_files(tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]) -> None:
    lines = [f"line {i}" for i in range(1000)]
    (tmp_path / f"a.txt.{suffix}").write_bytes(compress("\n".join(lines).encode()))
    assert read_all(Files(TextLines(), [str(tmp_path)]), 2, budget=3)[0] == lines


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress), ("deflate", zlib.compress)],
)
def test_compressed_files_that_are_cut_off_or_put_together(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    whole = compress("".join(f"{n} {n * n}\n" for n in range(10_000)).encode())
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(whole + whole)
    assert len(read_all(Files(TextLines(), [str(path)]))[0]) == 20_000
    for content in (whole[:-20], b"no compressed data at all"):
        path.write_bytes(content)
        with pytest.raises(JobExecutionError, match=f"{re.escape(str(path))}' cannot be read: "):
            read_all(Files(TextLines(), [str(path)]))


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp500"])
def test_character_sets(tmp_path: Path, charset: str) -> None:
    (tmp_path / "a.txt").write_bytes("äb\n\nc\r\nd".encode(charset))
    assert read_all(Files(TextLines(charset), [str(tmp_path)]), budget=1) == [["äb", "", "c", "d"]]


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a\xffb\n")
    assert read_all(Files(TextLines(), [str(tmp_path)])) == [["a\ufffdb"]]


def test_a_file_that_became_shorter_fails_the_job(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\n")
    source = Files(TextLines(), [str(tmp_path)])
    start = source.initial_position(1)
    work = source.assignments(start, source.advance(start, 100), 1)[0].work
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(JobExecutionError, match="had 4 bytes"):
        list(source.reader().read(work))


def test_a_file_that_becomes_shorter_while_it_is_read_fails_the_job(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("some line\n" * 500_000)
    source = Files(TextLines(), [str(path)])
    start = source.initial_position(1)
    batches = source.reader().read(source.assignments(start, source.advance(start, 10**9), 1)[0].work)
    next(batches)
    path.write_text("another line\n")
    with pytest.raises(JobExecutionError, match="had 5000000 bytes"):
        list(batches)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    source = Files(TextLines(), [str(tmp_path)])
    start = source.initial_position(1)
    (tmp_path / "a.txt").unlink()
    work = source.assignments(start, source.advance(start, 100), 1)[0].work
    with pytest.raises(JobExecutionError, match=r"a\.txt' was there when this job planned to read it, and is gone"):
        list(source.reader().read(work))


class RenamesWhenLooked(TextLines):
    """Somebody gives the file its last name just after it was found."""

    def extent(self, path: str, size: int) -> int:
        if path.endswith(".part"):
            os.rename(path, path.removesuffix(".part"))
            raise FileNotFoundError(path)
        return super().extent(path, size)


def test_a_file_that_is_renamed_while_it_is_found_is_found_again(tmp_path: Path) -> None:
    source = Files(RenamesWhenLooked(), [str(tmp_path)], 10, clock=iter(range(0, 10_000, 100)).__next__)
    start = source.initial_position(1)
    (tmp_path / "a.txt.part").write_text("a\n")
    for _ in range(2):
        start = source.advance(start, 1000)
    assert [Path(file[0]).name for file in start["pending"]] == ["a.txt"]


def test_what_is_appended_after_the_start_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    source = Files(TextLines(), [str(tmp_path)])
    start = source.initial_position(1)
    (tmp_path / "a.txt").write_text("a\nb\n")
    work = source.assignments(start, source.advance(start, 100), 1)[0].work
    assert _batches(source, work) == [["a"]]


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_last_line_that_has_grown_is_read_whole(tmp_path: Path, parallelism: int) -> None:
    (tmp_path / "a.txt").write_text("some line\nhal")
    source = Files(SmallBlocks(), [str(tmp_path)])
    start = source.initial_position(parallelism)
    (tmp_path / "a.txt").write_text("some line\nhalf no more\nanother\n")
    work = source.assignments(start, source.advance(start, 100), parallelism)
    found = [batch for subtask in work.values() if subtask.work for batch in _batches(source, subtask.work)]
    assert sorted(line for batch in found for line in batch) == ["half no more", "some line"]


def test_watching_reads_a_file_that_was_empty_at_first(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    source = Files(TextLines(), [str(tmp_path)], 10, clock=iter(range(0, 10_000, 100)).__next__)
    start = source.advance(source.initial_position(1), 100)
    assert start["pending"] == []
    (tmp_path / "a.txt").write_text("a\n")
    found = source.advance(start, 100)
    assert [Path(file[0]).name for file in found["pending"]] == ["a.txt"]
    assert source.advance(found, 100) == found


def test_watching_finds_new_files_at_the_interval_and_each_only_once(tmp_path: Path) -> None:
    now = 1000
    (tmp_path / "a.txt").write_text("a\n")
    source = Files(TextLines(), [str(tmp_path)], discovery_interval_ms=50, clock=lambda: now)
    assert not source.bounded
    first = source.initial_position(1)
    second = source.advance(first, 100)
    assert [path for path, *_ in source.assignments(first, second, 1)[0].work] == [str(tmp_path / "a.txt")]
    assert not source.assignments(first, second, 1)[0].final
    (tmp_path / "b.txt").write_text("b\n")
    assert source.advance(second, 100) == second, "it looked before the interval was over"
    now = 1050
    third = source.advance(second, 100)
    assert [path for path, *_ in source.assignments(second, third, 1)[0].work] == [str(tmp_path / "b.txt")]
    now = 2000
    assert source.advance(third, 100) == third
    assert not source.exhausted(third)
    assert source.assignments(third, third, 1) == {}


def test_watching_goes_on_from_a_position_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    first = Files(TextLines(), [str(tmp_path)], 50)
    position = json.loads(json.dumps(first.advance(first.initial_position(1), 100)))
    (tmp_path / "b.txt").write_text("b\n")
    second = Files(TextLines(), [str(tmp_path)], 50)
    end = second.advance(position, 100)
    assert [path for path, *_ in second.assignments(position, end, 1)[0].work] == [str(tmp_path / "b.txt")]


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
def test_what_follows_a_compressed_stream_is_one_too(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    """A second one whose head is damaged was left out without a word."""
    path = tmp_path / f"a.{'bz2' if compress is bz2.compress else 'xz'}"
    padding = b"" if compress is bz2.compress else bytes(8)
    path.write_bytes(compress(b"a\n") + padding + compress(b"b\n") + padding)
    assert read_all(Files(TextLines(), [str(path)])) == [["a", "b"]]
    path.write_bytes(compress(b"a\n") + b"X" + compress(b"b\n")[1:])
    with pytest.raises(JobExecutionError, match=rf"{path.name}' cannot be read"):
        read_all(Files(TextLines(), [str(path)]))


def test_a_file_that_is_not_complete_is_named(tmp_path: Path) -> None:
    class WithFooter(TextLines):
        def extent(self, path: str, size: int) -> int:
            raise pyarrow.ArrowInvalid("no footer")

    (tmp_path / "half.parquet").write_bytes(b"PAR1 and so on")
    with pytest.raises(JobExecutionError, match=r"half\.parquet' cannot be read: .*until they are complete"):
        Files(WithFooter(), [str(tmp_path)]).initial_position(1)


class FailingOnce(TextLines):
    """Cannot look at the second file it is asked about, once."""

    asked = 0

    def extent(self, path: str, size: int) -> int:
        self.asked += 1
        if self.asked == 2:
            raise OSError("the disk is away")
        return super().extent(path, size)


def test_a_look_that_fails_half_way_forgets_no_file(tmp_path: Path) -> None:
    source = Files(FailingOnce(), [str(tmp_path)], 10, clock=iter(range(0, 10_000, 100)).__next__)
    start = source.initial_position(1)
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name}\n")
    with pytest.raises(JobExecutionError, match=r"b' cannot be read: OSError: the disk is away"):
        source.advance({**start}, 1000)
    found = source.advance({**start}, 1000)
    assert [Path(file[0]).name for file in found["pending"]] == ["a", "b"]


class WholeLines(TextLines):
    """Files that cannot be cut, as those of CSV."""

    block = 1

    def extent(self, path: str, size: int) -> int:
        return 1

    def records_per_unit(self, path: str, extent: int) -> float:
        return 1_000_000.0

    def read(self, path: str, start: int, end: int, extent: int) -> Any:
        yield Path(path).read_text().splitlines()


def test_an_epoch_has_a_whole_file_for_every_subtask(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"{number}\n")
    source = Files(WholeLines(), [str(tmp_path)])
    source.open(2, "", lambda: None)
    position, epochs = source.initial_position(2), []
    while not source.exhausted(position):
        end = source.advance(position, 1)
        work = source.assignments(position, end, 2)
        epochs.append({subtask: len(one.work or ()) for subtask, one in work.items()})
        position = end
    assert epochs == [{0: 1, 1: 1}, {0: 1, 1: 1}, {0: 1, 1: 0}]
    assert sorted(sum(read_all(source, 2), [])) == list("01234")
