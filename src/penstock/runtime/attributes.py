"""Keeps the plain attributes of user functions right although subtasks move between worker processes.

Flink programs often count in `self.count`; there the function object lives as long as the job runs. Here the object may
be rebuilt in another worker between two epochs, so what changed in it since `open()` is part of the snapshot.
"""

from __future__ import annotations

from typing import Any

from penstock.runtime.pickling import dumps, loads

_PLAIN = (int, float, str, bytes, bool, type(None))


class AttributeTracker:
    """Finds the attributes of one function object that changed since they were last taken."""

    def __init__(self, function: Any) -> None:
        self._attributes: dict[str, Any] | None = getattr(function, "__dict__", None)
        self._last: dict[str, Any] = {}
        self._since_open: dict[str, Any] = {}
        self._opened = False

    def mark_opened(self, repeatable: bool = True) -> None:
        """What `open()` (or the constructor) set is rebuilt the same way elsewhere, if that is repeatable: no change.

        What was applied before goes over it now: the snapshot is from after `open()`.
        """
        if repeatable:
            self._last = {name: _fingerprint(value) for name, value in (self._attributes or {}).items()}
        self._opened = True
        self.apply(self._since_open)

    def take_changes(self) -> dict[str, Any]:
        """Attribute name -> pickled or plain value, for those that changed."""
        changed: dict[str, Any] = {}
        for name, value in (self._attributes or {}).items():
            fingerprint = _fingerprint(value)
            if fingerprint is _UNTRACKED or _same(self._last.get(name, _MISSING), fingerprint):
                continue
            self._last[name] = changed[name] = fingerprint
        self._since_open.update(changed)
        return changed

    def all_changes(self) -> dict[str, Any]:
        """Everything that was ever taken since `open()`."""
        return self._since_open

    def apply(self, changed: dict[str, Any]) -> None:
        assert self._attributes is not None or not changed
        self._since_open.update(changed)
        if not self._opened:
            return
        for name, (plain, content) in changed.items():
            self._attributes[name] = content if plain else loads(content)  # type: ignore[index]
            self._last[name] = (plain, content)


class _Marker:
    """A value that is equal to nothing but itself."""


_UNTRACKED, _MISSING = _Marker(), _Marker()


def _same(one: Any, other: Any) -> bool:
    """Equal and of one type: 1, 1.0 and True are equal, but not the same to a program."""
    return one == other and type(one[1]) is type(other[1])


def _fingerprint(value: Any) -> Any:
    if type(value) in _PLAIN:
        return (True, value)
    if getattr(value, "__penstock_transient__", False) or callable(value):
        return _UNTRACKED
    try:
        return (False, dumps(value))
    except Exception:  # a connection, a lock, a lambda: open() makes it anew
        return _UNTRACKED
