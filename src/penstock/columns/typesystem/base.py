"""What every logical type is: immutable, comparable, nullable or not, with Flink's text and PyFlink's repr."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Self

from penstock.common.errors import NotSupportedError, ProgramError


class DataType:
    """The type of a column or of an expression; describes which values there are and whether null is one of them.

    Types do not change: ``not_null()`` and ``nullable()`` return another type.
    """

    _nullable: bool

    def __init__(self, nullable: bool = True) -> None:
        self._set(_nullable=bool(nullable))

    def _set(self, **values: Any) -> None:
        """The only way in for a constructor, since attributes are otherwise read-only."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set: types do not change, make another one")

    def _parameters(self) -> tuple[Any, ...]:
        """What makes two types of one class differ, apart from nullability."""
        return ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, DataType)
            and type(self) is type(other)
            and self._nullable == other._nullable
            and self._parameters() == other._parameters()
        )

    def __hash__(self) -> int:
        return hash((type(self), self._nullable, self._parameters()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join([*map(repr, self._parameters()), self._nullable_text()])})"

    def _nullable_text(self) -> str:
        return str(self._nullable).lower()

    def __str__(self) -> str:
        return self.type_name()

    @classmethod
    def type_name(cls) -> str:
        return cls.__name__[:-4].upper()

    @property
    def is_nullable(self) -> bool:
        return self._nullable

    def not_null(self) -> Self:
        return self.with_nullability(False)

    def nullable(self) -> Self:
        return self.with_nullability(True)

    def with_nullability(self, nullable: bool) -> Self:
        if nullable == self._nullable:
            return self
        other = copy.copy(self)
        object.__setattr__(other, "_nullable", nullable)
        return other

    def same_but_nullability(self, other: DataType) -> bool:
        """Whether the two differ at most in whether they admit null, at the top."""
        return self.nullable() == other.nullable()

    def bridged_to(self, conversion_cls: str) -> DataType:
        """Accepted with a warning: values are Python's, whatever Java class they would be there."""
        warnings.warn(f"bridged_to({conversion_cls!r}) has no effect: no Java runs here.", stacklevel=2)
        return self

    def need_conversion(self) -> bool:
        """Whether Python's form of a value differs from the plain form that ``to_sql_type`` gives."""
        return False

    def to_sql_type(self, obj: Any) -> Any:
        return obj

    def from_sql_type(self, obj: Any) -> Any:
        return obj

    def _text(self, serializable: bool) -> str:
        """The type's name with its parameters, without NOT NULL."""
        raise NotSupportedError(f"{type(self).__name__} has no text form: it can be used only in declarations.")

    def as_summary_string(self) -> str:
        """The short form that messages and plans show, as ``STRING NOT NULL``."""
        return self._text(False) + ("" if self._nullable else " NOT NULL")

    def as_serializable_string(self) -> str:
        """The full form, which Flink can read back, as ``VARCHAR(2147483647) NOT NULL``."""
        return self._text(True) + ("" if self._nullable else " NOT NULL")

    def children(self) -> tuple[DataType, ...]:
        """The types inside this one: of elements, keys, values, fields."""
        return ()


class AtomicType(DataType):
    """A type without other types inside."""


class NumericType(AtomicType):
    """A type of numbers."""


class IntegralType(NumericType):
    """A type of whole numbers."""

    WIDTH = 0

    def _text(self, serializable: bool) -> str:
        return self.type_name()


class FractionalType(NumericType):
    """A type of numbers with a fraction."""


def require_range(what: str, value: int, lowest: int, highest: int) -> int:
    """Parameters of types have bounds; the message names the parameter and both."""
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise ProgramError(f"{what} must be a whole number between {lowest} and {highest}, but is {value!r}")
    return value
