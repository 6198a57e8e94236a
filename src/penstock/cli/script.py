"""Runs a file as the program of this process, and keeps the machinery around it out of its tracebacks."""

from __future__ import annotations

import io
import os
import sys
import sysconfig
import traceback
from types import ModuleType, TracebackType

_OWN_CODE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_STANDARD_LIBRARY = sysconfig.get_path("stdlib") + os.sep
_COMMAND_LINE_CODE = os.path.dirname(os.path.abspath(__file__))


def run_as_main(path: str, arguments: list[str]) -> None:
    """Like `python path arguments...`, in this process.

    The program gets a `__main__` module of its own, under that very name: what is defined there travels to
    the workers by value, because cloudpickle knows that they cannot import it.
    """
    absolute = os.path.abspath(path)
    main_module = ModuleType("__main__")
    main_module.__dict__.update(__file__=absolute, __builtins__=__builtins__, __cached__=None)
    sys.argv = [path, *arguments]
    _put_first_on_path(os.path.dirname(os.path.realpath(absolute)))
    sys.modules["__main__"] = main_module
    with io.open_code(absolute) as source:
        # Without dont_inherit the program would get this file's `from __future__` imports.
        code = compile(source.read(), absolute, "exec", dont_inherit=True)
    exec(code, main_module.__dict__)


def _put_first_on_path(directory: str) -> None:
    """In place of the directory of the `penstock` command, as Python does for a script."""
    if sys.flags.safe_path or not sys.path:
        sys.path.insert(0, directory)
    else:
        sys.path[0] = directory


def cut_own_frames(error: BaseException) -> None:
    """Leaves the traceback that `python script.py` would have shown."""
    kept = [link for link in _links(error.__traceback__) if not _is_machinery(link.tb_frame.f_code.co_filename)]
    following: TracebackType | None = None
    for link in reversed(kept):
        link.tb_next = following
        following = link
    error.__traceback__ = following


def innermost_user_line(error: BaseException, script_path: str) -> str | None:
    """Where in the user's files the call into Penstock was that failed, and what is written there."""
    frames = list(traceback.extract_tb(error.__traceback__))
    script = os.path.abspath(script_path)
    start = next((i for i, frame in enumerate(frames) if frame.filename == script), len(frames))
    users = [frame for frame in frames[start:] if not _is_library(frame.filename)]
    if not users:
        return None
    return f"{users[-1].filename}:{users[-1].lineno}: {users[-1].line}"


def _links(link: TracebackType | None) -> list[TracebackType]:
    links = []
    while link is not None:
        links.append(link)
        link = link.tb_next
    return links


def _is_machinery(filename: str) -> bool:
    return filename.startswith((_COMMAND_LINE_CODE + os.sep, "<frozen importlib"))


def _is_library(filename: str) -> bool:
    return "site-packages" in filename or filename.startswith(("<", _OWN_CODE + os.sep, _STANDARD_LIBRARY))
