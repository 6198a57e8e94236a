"""`from pyflink.util.exceptions import TableException`: the names under which programs catch errors of tables."""

from penstock.common.errors import NotSupportedError, PenstockError
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
TableException = NotSupportedError  # Flink uses it for what its planner cannot do
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
