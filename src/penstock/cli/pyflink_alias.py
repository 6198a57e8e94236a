"""Makes `import pyflink...` mean `import penstock...`, so that PyFlink programs run unchanged.

Light on purpose: Spark's Python workers install it too, before they load the user's functions.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from penstock.cli.pyflink_borrowed import lend
from penstock.common.java_error import want_java_errors

_ALIAS = "pyflink"
_TARGET = "penstock"
_ONLY_FOR_PYFLINK = "penstock.cli.pyflink_only"


def install() -> None:
    """Goes in front of all other finders, so that an installed PyFlink is not picked up; safe to repeat."""
    if not any(isinstance(finder, _PyFlinkFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _PyFlinkFinder())
        want_java_errors()


class _PyFlinkFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _ALIAS and not fullname.startswith(_ALIAS + "."):
            return None
        module = _import_counterpart(fullname)
        return ModuleSpec(fullname, _AliasLoader(module), is_package=hasattr(module, "__path__"))


class _AliasLoader(Loader):
    """Hands out a module that is loaded already, and leaves it as it was."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._own_spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._own_spec  # the import system has just put the alias's spec there


def _import_counterpart(fullname: str) -> ModuleType:
    place = fullname[len(_ALIAS) :]
    for counterpart in (_TARGET + place, _ONLY_FOR_PYFLINK + place):
        try:
            module = importlib.import_module(counterpart)
            if not getattr(module, "UNFINISHED", False):
                lend(module, place[1:])
                return module
        except ModuleNotFoundError as error:
            if error.name is None or not (counterpart + ".").startswith(error.name + "."):
                raise  # the module is there, and something that it needs is not
    from penstock.contract import refusal_of  # here, because workers load this file for every job

    why = refusal_of(fullname) or "remove the import, or run this program on PyFlink itself"
    raise ModuleNotFoundError(
        f"Penstock does not have the module {fullname!r} (yet): {why}",
        name=fullname,
    )
