"""Windows inside table keys and timers: small builtin values instead of objects, so that snapshots stay small."""

from __future__ import annotations

from typing import Any

from penstock.functions.window_types import CountWindow, GlobalWindow, TimeWindow

Token = Any  # (start, end), a number, None, or the user's own window


def token_of(window: Any) -> Token:
    kind = type(window)
    if kind is TimeWindow:
        return (window.start, window.end)
    if kind is CountWindow:
        return window.id
    if kind is GlobalWindow:
        return None
    return window


def window_of(token: Token) -> Any:
    kind = type(token)
    if kind is tuple:
        return TimeWindow(*token)
    if kind is int:
        return CountWindow(token)
    if token is None:
        return GlobalWindow.get()
    return token
