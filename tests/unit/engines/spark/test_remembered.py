"""Answers that are asked for once, and again when what they are about has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.engines.spark.remembered import cache_directory, identity_of, remembered


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "penstock"


def never() -> str:
    raise AssertionError("asked again")


def test_the_same_question_is_asked_once_and_another_one_too(cache: Path) -> None:
    assert remembered("java", ["a", 1], lambda: "first") == "first"
    assert remembered("java", ["a", 1], never) == "first"
    assert remembered("java", ["a", 2], lambda: "second") == "second"
    assert remembered("command", ["a", 1], lambda: ["third"]) == ["third"]
    assert all(file.stat().st_mode & 0o077 == 0 for file in cache.iterdir()), "others can read what it holds"


def test_an_answer_that_is_damaged_is_asked_for_again(cache: Path) -> None:
    remembered("java", ["a"], lambda: "first")
    for file in cache.iterdir():
        file.write_text("{")
    assert remembered("java", ["a"], lambda: "second") == "second"
    assert remembered("java", ["a"], never) == "second"


def test_a_failed_question_leaves_no_answer() -> None:
    with pytest.raises(AssertionError):
        remembered("java", ["a"], never)
    assert remembered("java", ["a"], lambda: "first") == "first"


def test_without_a_place_it_is_asked_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [remembered("java", [], lambda n=n: n) for n in (1, 2)] == [1, 2]
    assert cache_directory() == tmp_path / "file" / "penstock"


def test_a_file_that_is_replaced_is_another_one(tmp_path: Path) -> None:
    file, link = tmp_path / "java", tmp_path / "link"
    file.write_text("17")
    link.symlink_to(file)
    before = identity_of(link)
    assert identity_of(file) == before != identity_of(tmp_path / "other")
    os.utime(file, (0, 0))
    assert identity_of(link) != before
