"""Examples are scripts, which nobody can import by name: tests load them by path."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import cloudpickle
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example() -> Iterator[Callable[[str], ModuleType]]:
    """Loads an example; what is defined there travels to workers by value, as it does when it is run."""
    loaded = []

    def load(name: str) -> ModuleType:
        specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        assert specification is not None and specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        sys.modules[name] = module
        loaded.append(module)
        specification.loader.exec_module(module)
        cloudpickle.register_pickle_by_value(module)
        return module

    yield load
    for module in loaded:
        cloudpickle.unregister_pickle_by_value(module)
        del sys.modules[module.__name__]
