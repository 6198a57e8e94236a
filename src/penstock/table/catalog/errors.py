"""What a catalog answers when an object is missing, or there already; the names are Flink's."""

from __future__ import annotations

from penstock.common.errors import ProgramError


class CatalogError(ProgramError):
    """A catalog has no such object, or has one already."""


class DatabaseNotExistException(CatalogError):
    """There is no such database."""


class DatabaseAlreadyExistException(CatalogError):
    """There is a database of that name."""


class DatabaseNotEmptyException(CatalogError):
    """A database that is to be dropped has tables."""


class TableNotExistException(CatalogError):
    """There is no such table or view."""


class TableAlreadyExistException(CatalogError):
    """There is a table or view of that name."""


class FunctionNotExistException(CatalogError):
    """There is no such function."""


class FunctionAlreadyExistException(CatalogError):
    """There is a function of that name."""


class PartitionNotExistException(CatalogError):
    """The table has no such partition."""


class PartitionAlreadyExistsException(CatalogError):
    """The table has that partition."""


class ModelNotExistException(CatalogError):
    """There is no such model."""


class ModelAlreadyExistException(CatalogError):
    """There is a model of that name."""


_MISSING: dict[str, type[CatalogError]] = {
    "database": DatabaseNotExistException,
    "table": TableNotExistException,
    "function": FunctionNotExistException,
    "model": ModelNotExistException,
    "partition": PartitionNotExistException,
}
_THERE: dict[str, type[CatalogError]] = {
    "database": DatabaseAlreadyExistException,
    "table": TableAlreadyExistException,
    "function": FunctionAlreadyExistException,
    "model": ModelAlreadyExistException,
    "partition": PartitionAlreadyExistsException,
}


def missing(what: str, name: object) -> CatalogError:
    return _MISSING.get(what.split(" ")[0], CatalogError)(f"There is no {what} {name}.")


def there_already(what: str, name: object) -> CatalogError:
    return _THERE.get(what.split(" ")[0], CatalogError)(f"There is a {what} {name} already.")


def not_empty(database: str, inside: list[str]) -> CatalogError:
    return DatabaseNotEmptyException(
        f"Database {database} is not empty: it has {', '.join(inside)}. Drop it with CASCADE."
    )
