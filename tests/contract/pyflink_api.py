"""PyFlink's public names and signatures, read from the table beside this file."""

from __future__ import annotations

import ast
import csv
import enum
import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("pyflink-2.3-api.tsv")


@dataclass(frozen=True)
class ApiName:
    module: str
    owner: str  # class, or "" for what belongs to the module itself
    member: str  # "" for the class itself
    kind: str
    signature: str

    @property
    def full(self) -> str:
        return ".".join(filter(None, (self.module, self.owner, self.member)))

    def __str__(self) -> str:
        return f"{self.full} ({self.kind})"

    def parameters(self) -> list[str]:
        """Names in order, with their stars, without self and cls."""
        definition = ast.parse(f"def f{self.signature.strip()}: pass").body[0]
        assert isinstance(definition, ast.FunctionDef)
        arguments = definition.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        names += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
        names += [argument.arg for argument in arguments.kwonlyargs]
        names += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
        return [name for name in names if name not in ("self", "cls")]

    def owner_here(self) -> Any:
        """Penstock's module or class that has to have the member."""
        found: Any = importlib.import_module(self.module.replace("pyflink", "penstock", 1))
        for part in filter(None, self.owner.split(".")):
            found = getattr(found, part)
        return found

    def here(self) -> Any:
        """Penstock's counterpart; AttributeError or ImportError when there is none."""
        owner = self.owner_here()
        return getattr(owner, self.member) if self.member else owner


def api_names() -> Iterator[ApiName]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield ApiName(row["module"], row["class"], row["member"], row["kind"], row["signature"])


def call_without_meaning(name: ApiName) -> Any:
    """Calls a name with nothing but None: enough for what refuses every call."""
    owner = name.owner_here()
    if name.member == "__init__":
        return _call(owner)
    if name.kind in ("function", "static", "classmethod"):
        return _call(getattr(owner, name.member))
    if issubclass(owner, enum.Enum):
        return _call(getattr(next(iter(owner)), name.member))
    concrete = type("Concrete", (owner,), {})
    concrete.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]
    return _call(getattr(object.__new__(concrete), name.member))


def _call(function: Any) -> Any:
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    positional = [None for p in required if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return function(*positional, **{p.name: None for p in required if p.kind is p.KEYWORD_ONLY})
