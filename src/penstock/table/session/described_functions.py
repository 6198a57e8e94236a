"""DESCRIBE FUNCTION: what a function is, and how Flink writes down what it takes."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

from penstock.columns.functions.registry import builtin
from penstock.common.errors import ProgramError
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import CatalogFunction
from penstock.table.session.table_session import TableSession
from penstock.table.sql.errors import suggestion
from penstock.table.table_result import TableResult

_Rows = list[tuple[str, str]]


def describe_function(session: TableSession, path: tuple[str, ...], extended: bool) -> TableResult:
    found = _of_session(session, path) or _built_in(path)
    if found is None:
        known = [name.lower() for name in _signatures()]
        raise ProgramError(f"There is no function {'.'.join(path)}.{suggestion(path[-1].lower(), known)}")
    plain, more = found
    rows = plain + (more() if extended else [])
    return TableResult.of_rows(["info name", "info value"], rows)


def _of_session(session: TableSession, path: tuple[str, ...]) -> tuple[_Rows, Any] | None:
    """In the order in which calls look names up."""
    catalogs = session.catalogs
    if len(path) == 1 and path[0].lower() in catalogs.functions:
        function = catalogs.functions[path[0].lower()]
        return _whether(system=True, temporary=True), lambda: _python_rows(function, path[0].lower())
    if len(path) == 1 and builtin(path[0]) is not None:
        return None
    name = catalogs.full_name(path)
    temporary = catalogs.temporary_functions.get(name)
    if temporary is None:
        catalog, place = catalogs.catalog(name[0]), ObjectPath(*name[1:])
        if not catalog.function_exists(place):
            return None
        function = catalog.get_function(place)
    else:
        function = temporary
    rows = [
        *_whether(system=False, temporary=temporary is not None),
        ("class name", function.get_class_name() or _class_name(function)),
        ("function language", function.get_function_language()),
        ("resource uris", "[]"),
    ]
    return rows, lambda: _python_rows(function, ".".join(name))


def _whether(system: bool, temporary: bool) -> _Rows:
    return [("is system function", str(system).lower()), ("is temporary", str(temporary).lower())]


def _class_name(function: CatalogFunction) -> str:
    """Of one that the program has handed over itself."""
    inner = getattr(function._python(), "_func", function._python())
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{named.__module__}.{named.__qualname__}"


def _python_rows(function: CatalogFunction, name: str) -> _Rows:
    declared = function._python()._python_function()
    types = declared.argument_types
    taken = "*" if types is None else ", ".join(one.as_summary_string() for one in types)
    return _more(declared.kind.upper().replace("ASYNC", "ASYNC_SCALAR"), declared.deterministic, f"{name}({taken})")


def _more(kind: str, deterministic: bool, signature: str) -> _Rows:
    return [
        ("kind", kind),
        ("requirements", "[]"),
        ("is deterministic", str(deterministic).lower()),
        ("supports constant folding", "true"),
        ("signature", signature),
    ]


def _built_in(path: tuple[str, ...]) -> tuple[_Rows, Any] | None:
    """By Flink's own name in any case, or by a name of SQL."""
    if len(path) != 1:
        return None
    function = builtin(path[0])
    known = {name.lower(): name for name in _signatures()}
    name = known.get(path[0].lower()) or known.get("" if function is None else function.name.lower())
    if name is None:
        return None
    kind, deterministic, signature = _signatures()[name]
    shown = signature.replace(f"{name}(", f"{path[0].lower()}(")
    return _whether(system=True, temporary=False), lambda: _more(kind, deterministic, shown)


@functools.cache
def _signatures() -> dict[str, tuple[str, bool, str]]:
    """As DESCRIBE FUNCTION EXTENDED of Flink 2.3 has given them: kind, whether it is deterministic, signatures."""
    text = resources.files("penstock.columns.functions").joinpath("flink_signatures.txt").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        name, kind, note, signature = line.split("\t")
        found[name] = (kind, not note, signature.replace("\\n", "\n"))
    return found
