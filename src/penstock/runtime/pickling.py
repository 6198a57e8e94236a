"""Pickling of user data: plain where classes can be imported, by value where they live in the user's script."""

from __future__ import annotations

import pickle
from typing import Any

import cloudpickle


def dumps(value: Any) -> bytes:
    """For workers, in which a script's own classes are not importable and plain pickling says so."""
    try:
        return pickle.dumps(value, 5)
    except (pickle.PicklingError, AttributeError, TypeError):
        return cloudpickle.dumps(value, 5)  # type: ignore[no-any-return]


def dumps_on_driver(value: Any) -> bytes:
    """For the driver, where plain pickling would refer to the script as `__main__` and fail only when read."""
    return cloudpickle.dumps(value, 5)  # type: ignore[no-any-return]


loads = pickle.loads
