"""`from pyflink.util.exceptions import TableException`: the names under which programs catch errors of tables."""

from penstock.common.errors import PenstockError
from penstock.table.catalog.errors import (
    CatalogError,
    DatabaseAlreadyExistException,
    DatabaseNotEmptyException,
    DatabaseNotExistException,
    FunctionAlreadyExistException,
    FunctionNotExistException,
    ModelAlreadyExistException,
    ModelNotExistException,
    PartitionAlreadyExistsException,
    PartitionNotExistException,
    TableAlreadyExistException,
    TableNotExistException,
)

JavaException = PenstockError
TableException = PenstockError
CatalogException = CatalogError

__all__ = [
    "CatalogException",
    "DatabaseAlreadyExistException",
    "DatabaseNotEmptyException",
    "DatabaseNotExistException",
    "FunctionAlreadyExistException",
    "FunctionNotExistException",
    "JavaException",
    "ModelAlreadyExistException",
    "ModelNotExistException",
    "PartitionAlreadyExistsException",
    "PartitionNotExistException",
    "TableAlreadyExistException",
    "TableException",
    "TableNotExistException",
]
