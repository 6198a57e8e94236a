"""Names of objects in catalogs."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError


class ObjectPath:
    """The name of a table, view or function inside a catalog: its database and its own name."""

    def __init__(
        self, database_name: str | None = None, object_name: str | None = None, j_object_path: Any = None
    ) -> None:
        if not database_name or not object_name:
            raise ProgramError("ObjectPath needs the names of a database and of an object in it.")
        self._database_name = database_name
        self._object_name = object_name

    def get_database_name(self) -> str:
        return self._database_name

    def get_object_name(self) -> str:
        return self._object_name

    def get_full_name(self) -> str:
        return f"{self._database_name}.{self._object_name}"

    def compare_to(self, other: ObjectPath) -> int:
        return (self.get_full_name() > other.get_full_name()) - (self.get_full_name() < other.get_full_name())

    @staticmethod
    def from_string(full_name: str) -> ObjectPath:
        parts = full_name.split(".")
        if len(parts) != 2:
            raise ProgramError(f"{full_name!r} is no full name: write database.object.")
        return ObjectPath(*parts)

    def __str__(self) -> str:
        return self.get_full_name()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectPath) and self.get_full_name() == other.get_full_name()

    def __hash__(self) -> int:
        return hash(self.get_full_name())


class ObjectIdentifier:
    """A full name: catalog, database and object."""

    def __init__(self, j_object_identifier: Any = None, *, path: tuple[str, str, str] | None = None) -> None:
        if path is None:
            raise ProgramError("Make an ObjectIdentifier with ObjectIdentifier.of(catalog, database, object).")
        self._path = path

    @staticmethod
    def of(catalog_name: str, database_name: str, object_name: str) -> ObjectIdentifier:
        return ObjectIdentifier(path=(catalog_name, database_name, object_name))

    def get_catalog_name(self) -> str:
        return self._path[0]

    def get_database_name(self) -> str:
        return self._path[1]

    def get_object_name(self) -> str:
        return self._path[2]

    def to_object_path(self) -> ObjectPath:
        return ObjectPath(self._path[1], self._path[2])

    def to_list(self) -> list[str]:
        return list(self._path)

    def as_serializable_string(self) -> str:
        return ".".join(quoted(part) for part in self._path)

    def as_summary_string(self) -> str:
        return ".".join(self._path)

    def __str__(self) -> str:
        return self.as_serializable_string()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectIdentifier) and self._path == other._path

    def __hash__(self) -> int:
        return hash(self._path)


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever it contains."""
    return "`" + name.replace("`", "``") + "`"
