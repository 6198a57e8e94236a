"""Names that PyFlink programs import from here; in PyFlink most of them only bridge to Java."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.common.errors import NotSupportedError
from penstock.common.typeinfo import Types

if TYPE_CHECKING:
    from penstock.common.configuration import Configuration
    from penstock.common.typeinfo import TypeInformation

__all__ = [
    "ResultTypeQueryable",
    "convert_to_python_obj",
    "create_hadoop_configuration",
    "create_java_properties",
    "pickled_bytes_to_python_obj",
]


class ResultTypeQueryable:
    """Implemented by functions and sources that know the type of what they produce."""

    @abstractmethod
    def get_produced_type(self) -> TypeInformation:
        """The type of the records produced."""


def create_hadoop_configuration(config: Configuration) -> NoReturn:
    raise NotSupportedError(
        "create_hadoop_configuration makes a Java object, which Penstock does not use; "
        "set spark.hadoop.* options instead"
    )


def create_java_properties(config: Configuration) -> NoReturn:
    raise NotSupportedError(
        "create_java_properties makes a Java object, which Penstock does not use; use config.to_dict()"
    )


def convert_to_python_obj(data: Any, type_info: TypeInformation) -> Any:
    """Unpickle a record of an untyped stream."""
    if type_info == Types.PICKLED_BYTE_ARRAY():
        return pickle.loads(data)
    raise NotSupportedError(
        f"convert_to_python_obj turns Java objects of type {type_info} into Python ones; records of Penstock "
        "are Python objects already"
    )


def pickled_bytes_to_python_obj(data: Any, type_info: TypeInformation) -> NoReturn:
    raise NotSupportedError(
        "pickled_bytes_to_python_obj reads what PyFlink's Java side has pickled; records of Penstock are "
        "Python objects already"
    )
