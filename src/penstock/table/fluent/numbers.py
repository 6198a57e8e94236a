"""Mathematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.table.fluent.base import Fluent, T

if TYPE_CHECKING:
    from penstock.table.expression import Expression


class NumberMethods(Fluent[T]):
    @property
    def exp(self) -> Expression[Any]:
        return self._call("exp")

    @property
    def log10(self) -> Expression[Any]:
        return self._call("log10")

    @property
    def log2(self) -> Expression[Any]:
        return self._call("log2")

    @property
    def ln(self) -> Expression[Any]:
        return self._call("ln")

    def log(self, base: Any = None) -> Expression[Any]:
        return self._call("log") if base is None else self._call_with_first("log", base)

    @property
    def cosh(self) -> Expression[Any]:
        return self._call("cosh")

    @property
    def sinh(self) -> Expression[Any]:
        return self._call("sinh")

    @property
    def sin(self) -> Expression[Any]:
        return self._call("sin")

    @property
    def cos(self) -> Expression[Any]:
        return self._call("cos")

    @property
    def tan(self) -> Expression[Any]:
        return self._call("tan")

    @property
    def cot(self) -> Expression[Any]:
        return self._call("cot")

    @property
    def asin(self) -> Expression[Any]:
        return self._call("asin")

    @property
    def acos(self) -> Expression[Any]:
        return self._call("acos")

    @property
    def atan(self) -> Expression[Any]:
        return self._call("atan")

    @property
    def tanh(self) -> Expression[Any]:
        return self._call("tanh")

    @property
    def degrees(self) -> Expression[Any]:
        return self._call("degrees")

    @property
    def radians(self) -> Expression[Any]:
        return self._call("radians")

    @property
    def sqrt(self) -> Expression[Any]:
        return self._call("sqrt")

    @property
    def abs(self) -> Expression[Any]:
        return self._call("abs")

    @property
    def sign(self) -> Expression[Any]:
        return self._call("sign")

    def round(self, places: Any) -> Expression[Any]:
        return self._call("round", places)

    @property
    def bin(self) -> Expression[Any]:
        return self._call("bin")

    @property
    def hex(self) -> Expression[Any]:
        return self._call("hex")

    @property
    def unhex(self) -> Expression[Any]:
        return self._call("UNHEX")

    def truncate(self, n: Any = 0) -> Expression[Any]:
        return self._call("truncate", n)

    def percentile(self, percentage: Any, frequency: Any = None) -> Expression[Any]:
        return self._call("PERCENTILE", percentage, frequency)
