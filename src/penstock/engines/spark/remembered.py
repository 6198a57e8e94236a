"""Answers of other programs that do not change as long as their files do not: asked once, then read from the cache."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def cache_directory() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock"


def identity_of(file: str | os.PathLike[str] | None) -> list[Any]:
    """Changes whenever the file is replaced or written."""
    if file is None:
        return []
    path = os.path.realpath(file)
    try:
        stat = os.stat(path)
    except OSError:
        return [path]
    return [path, stat.st_ino, stat.st_size, stat.st_mtime_ns]


def remembered(kind: str, question: Sequence[Any], ask: Callable[[], Answer]) -> Answer:
    """What `ask` gives, as JSON: for the same question it is called once, by whichever process needs it first."""
    name = f"{kind}-{hashlib.sha256(json.dumps(question).encode()).hexdigest()[:24]}.json"
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # nobody has asked yet; no home
        known: Answer = json.loads((cache_directory() / name).read_text())
        return known
    answer = ask()
    with contextlib.suppress(OSError, RuntimeError):  # without a cache it is asked every time
        directory = cache_directory()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = directory / f"{name}.{os.getpid()}"
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(answer, file)
        os.replace(unfinished, directory / name)
    return answer
