"""The archive of Spark's classes: made once, used from then on, never in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.engines.spark.class_archive import archive_options


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "penstock"


def _written(options: str) -> Path:
    made, _, path = options.partition("=")
    assert made == "-XX:ArchiveClassesAtExit"
    return Path(path)


def test_the_first_jvm_makes_it_and_the_next_ones_use_it(cache: Path) -> None:
    new = _written(archive_options("/java"))
    assert new.parent == cache
    new.write_bytes(b"\0\0\0\0 half written")
    assert archive_options("/java") == "", "one is enough"
    new.write_bytes(b"\xa8\xab\x0b\xf0 complete")
    for _ in range(2):
        assert archive_options("/java") == f"-XX:SharedArchiveFile={new.with_suffix('.jsa')}"
    assert not new.exists()
    new.write_bytes(b"\xa8\xab\x0b\xf0 of a JVM that began earlier")
    archive_options("/java")
    assert not new.exists()


def test_what_a_killed_jvm_has_left_is_made_again(cache: Path) -> None:
    new = _written(archive_options("/java"))
    new.write_bytes(b"\0\0\0\0")
    os.utime(new, (0, 0))
    assert _written(archive_options("/java")) == new
    assert not new.exists()


def test_another_java_has_another_archive(cache: Path) -> None:
    assert _written(archive_options("/java")) != _written(archive_options("/another"))


def test_without_a_place_for_it_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert archive_options("/java") == ""
