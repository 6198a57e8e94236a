"""Evaluates typed expressions on batches: kernels on whole columns, and branches only on the rows that need them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.functions.function import Function
from penstock.columns.functions.registry import builtin
from penstock.columns.kernels.casting import cast
from penstock.columns.kernels.comparison import true_rows
from penstock.columns.kernels.datum import Datum, Invocation, Session, as_array, is_constant
from penstock.columns.typed.determinism import is_deterministic
from penstock.columns.typed.nodes import Constant, Convert, InputRef, Invoke, Typed, walk
from penstock.columns.typed.python_call import PythonCall, called
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.families import is_text
from penstock.common.errors import NotSupportedError

_Mask = npt.NDArray[np.bool_]

# Calls that never fail and cost little: evaluating them everywhere is cheaper than choosing rows.
_TOTAL = frozenset(
    {
        "equals", "notEquals", "lessThan", "lessThanOrEqual", "greaterThan", "greaterThanOrEqual", "isNull",
        "isNotNull", "isTrue", "isFalse", "isNotTrue", "isNotFalse", "not", "and", "or", "plus", "minus", "times", "in",
        "isDistinctFrom", "isNotDistinctFrom",
    }
)  # fmt: skip
# Calls that never fail either, but look at every character; those of the first set many times.
_COSTLY = frozenset({"regexpExtract", "regexp", "REGEXP_COUNT", "REGEXP_INSTR", "REGEXP_SUBSTR"})
_SAFE = _TOTAL | _COSTLY | {"lower", "upper", "charLength"}


class Rows:
    """The rows of a batch, or some of them; columns are taken when they are asked for."""

    def __init__(self, columns: Sequence[Any], count: int, session: Session) -> None:
        self.columns = list(columns)
        self.count = count
        self.session = session
        self.known: dict[Typed, Datum] = {}
        # Places of rows for which something was computed that may be asked for again. Not the rows themselves: they
        # know these, and columns that know each other would stay until the garbage collector finds them.
        self._parts: list[tuple[npt.NDArray[np.int64], dict[Typed, Datum]]] = []

    def column(self, index: int) -> Datum:
        return self.columns[index]

    def recall(self, node: Typed) -> Datum | None:
        """What an expression gave before, if it was evaluated on all of these rows."""
        return self.known.get(node)

    def recall_some(self, node: Typed, places: npt.NDArray[np.int64]) -> Datum | None:
        """The same for some rows, all of which were among those of an earlier choice."""
        for part, known in self._parts:
            found = known.get(node)
            if found is None or not len(part):
                continue
            where = np.minimum(np.searchsorted(part, places), len(part) - 1)
            if (part[where] == places).all():
                return found if is_constant(found) else as_array(found, len(part)).take(pa.array(where))
        return None

    def chosen(self, places: npt.NDArray[np.int64], remembered: bool = False) -> Rows:
        """Some of the rows, in order; what is computed for them is of use to later choices if it is remembered."""
        found = _SomeRows(self, places)
        if remembered:
            self._parts.append((places, found.known))
        return found

    def kept(self, mask: _Mask, columns: set[int], shared: Sequence[Typed]) -> Rows:
        """The rows for which the mask is true, with these columns, and with the values of these expressions."""
        chosen = pa.array(mask)
        arrays = [column.filter(chosen) if place in columns else None for place, column in enumerate(self.columns)]
        found = Rows(arrays, int(np.count_nonzero(mask)), self.session)
        for node in shared:
            value = self.known.get(node)
            if value is not None:
                found.known[node] = value if is_constant(value) else as_array(value, self.count).filter(chosen)
        return found


class _SomeRows(Rows):
    def __init__(self, rows: Rows, places: npt.NDArray[np.int64]) -> None:
        super().__init__((), len(places), rows.session)
        self._rows = rows
        self.places = places
        self._places = pa.array(places)
        self._taken: dict[int, pa.Array] = {}

    def column(self, index: int) -> Datum:
        if index not in self._taken:
            self._taken[index] = as_array(self._rows.column(index), self._rows.count).take(self._places)
        return self._taken[index]

    def recall(self, node: Typed) -> Datum | None:
        found = self.known.get(node)
        if found is None:
            found = self._rows.recall(node)
            if found is None:
                found = self._rows.recall_some(node, self.places)
            elif not is_constant(found):
                found = as_array(found, self._rows.count).take(self._places)
            if found is not None:
                self.known[node] = found
        return found


def evaluate(node: Typed, rows: Rows) -> Datum:
    """A column, or a scalar that stands for one."""
    if isinstance(node, InputRef):
        return rows.column(node.index)
    if isinstance(node, Constant):
        return node.datum
    found = rows.recall(node)
    if found is None:
        found = _computed(node, rows)
        if is_deterministic(node):
            rows.known[node] = found
    return found


def _computed(node: Typed, rows: Rows) -> Datum:
    if isinstance(node, Convert):
        operand = evaluate(node.operand, rows)
        return cast(operand, node.operand.data_type, node.data_type, rows.session, node.safe)
    if isinstance(node, PythonCall):
        arguments = [as_array(evaluate(argument, rows), rows.count) for argument in node.arguments]
        return called(node, arguments, rows.count)
    if not isinstance(node, Invoke):
        raise NotSupportedError(f"{type(node).__name__} has no value in a row: the plan must replace it first.")
    lazy = _LAZY.get(node.function)
    if lazy is not None:
        return lazy(node, rows)
    function = builtin(node.function)
    assert function is not None
    return _called(function, node, rows)


def _called(function: Function, node: Invoke, rows: Rows) -> Datum:
    if function.kernel is None:
        reason = function.missing or "it is computed over groups and windows, not in a row"
        raise NotSupportedError(f"{function.name} cannot be computed: {reason}.")
    arguments = [evaluate(argument, rows) for argument in node.arguments]
    types = [argument.data_type for argument in node.arguments]
    call = Invocation(arguments, types, node.data_type, rows.count, rows.session, node.options)
    return function.kernel(call)


def _is_total(node: Typed, rows: Rows) -> bool:
    """Also what is known on these rows already."""
    if isinstance(node, (InputRef, Constant)) or node in rows.known:
        return True
    known = (isinstance(node, Invoke) and node.function in _TOTAL) or _is_text_again(node)
    return known and all(_is_total(argument, rows) for argument in node.children())


def _junction(node: Invoke, rows: Rows) -> Datum:
    """AND and OR: the right side only where the left one does not decide."""
    every = node.function == "and"
    combine: Callable[[Datum, Datum], Datum] = pc.and_kleene if every else pc.or_kleene
    first, *others = _cheap_first(node)
    found = evaluate(first, rows)
    for argument in others:
        if is_constant(found) and found.is_valid and found.as_py() is not every:
            return found
        if is_constant(found) or _is_total(argument, rows):
            found = combine(found, evaluate(argument, rows))
            continue
        undecided = pc.fill_null(found if every else pc.invert(found), True)
        places = np.flatnonzero(undecided.to_numpy(zero_copy_only=False))
        if len(places) == rows.count:
            found = combine(found, evaluate(argument, rows))
        elif len(places):
            part = as_array(evaluate(argument, rows.chosen(places, remembered=True)), len(places))
            some = combine(found.take(pa.array(places)), part)
            found = _assembled(rows.count, [(None, found), (places, some)], pa.bool_())
    return found


@lru_cache(maxsize=1024)
def _cheap_first(node: Invoke) -> tuple[Typed, ...]:
    """The operands of AND or OR: where none can fail their order is ours, and regular expressions see fewer rows."""
    if not all(_cannot_fail(argument) for argument in node.arguments):
        return node.arguments
    return tuple(sorted(node.arguments, key=_is_costly))


def _cannot_fail(node: Typed) -> bool:
    return all(
        isinstance(part, (InputRef, Constant))
        or (isinstance(part, Invoke) and part.function in _SAFE)
        or _is_text_again(part)
        for part in walk(node)
    )


def _is_text_again(node: Typed) -> bool:
    """A text as one of another length: never fails, and costs nothing where the length is not limited."""
    return isinstance(node, Convert) and is_text(node.data_type) and is_text(node.operand.data_type)


def _is_costly(node: Typed) -> bool:
    return any(isinstance(part, Invoke) and part.function in _COSTLY for part in walk(node))


def _case(node: Invoke, rows: Rows) -> Datum:
    """Arguments: condition, value, condition, value, .., default."""
    pairs = list(zip(node.arguments[0:-1:2], node.arguments[1::2], strict=True))
    arrow_type = to_arrow_type(node.data_type)
    left = np.arange(rows.count)
    parts: list[tuple[npt.NDArray[np.int64] | None, Datum]] = []
    remaining = rows
    for condition, value in pairs:
        everywhere = _is_total(condition, rows)  # comparing all rows costs less than to choose some of them
        answer = evaluate(condition, rows if everywhere else remaining)
        if is_constant(answer):
            if not answer.as_py():
                continue
            if not parts:
                return evaluate(value, rows)
        holds = true_rows(answer, rows.count)[left] if everywhere else true_rows(answer, remaining.count)
        hits = left[holds]
        if len(hits):
            parts.append((hits, evaluate(value, remaining.chosen(np.flatnonzero(holds)))))
            left = left[~holds]
            remaining = rows.chosen(left)
        if not len(left):
            break
    if not parts:
        return evaluate(node.arguments[-1], rows)
    if len(left):
        parts.append((left, evaluate(node.arguments[-1], remaining)))
    return _assembled(rows.count, parts, arrow_type)


def _coalesce(node: Invoke, rows: Rows) -> Datum:
    """The next argument only where all before are null."""
    found = evaluate(node.arguments[0], rows)
    for argument in node.arguments[1:]:
        if is_constant(found):
            if found.is_valid:
                return found
            found = evaluate(argument, rows)
            continue
        if found.null_count == 0:
            return found
        places = np.flatnonzero(pc.is_null(found).to_numpy(zero_copy_only=False))
        part = evaluate(argument, rows.chosen(places))
        found = _assembled(rows.count, [(None, found), (places, part)], found.type)
    return found


def _assembled(
    count: int, parts: Sequence[tuple[npt.NDArray[np.int64] | None, Datum]], arrow_type: pa.DataType
) -> pa.Array:
    """One column from pieces; None stands for all rows, which later pieces overwrite."""
    source = np.empty(count, np.int64)
    arrays, offset = [], 0
    for places, datum in parts:
        array = as_array(datum, 1)
        size = count if places is None else len(places)
        if is_constant(datum) or (len(array) == 1 and size != 1):
            where: Any = offset
        else:
            where = np.arange(offset, offset + size)
        source[slice(None) if places is None else places] = where
        arrays.append(array if array.type == arrow_type else array.cast(arrow_type))
        offset += len(array)
    return pa.concat_arrays(arrays).take(pa.array(source))


_LAZY: dict[str, Callable[[Invoke, Rows], Datum]] = {
    "and": _junction,
    "or": _junction,
    "case": _case,
    "COALESCE": _coalesce,
}


def project(
    nodes: Sequence[Typed], columns: Sequence[pa.Array], count: int, session: Session | None = None
) -> list[pa.Array]:
    """The columns that expressions give over a batch."""
    rows = Rows(columns, count, session or Session())
    return [as_array(evaluate(node, rows), count) for node in nodes]


def matching(condition: Typed, columns: Sequence[pa.Array], count: int, session: Session | None = None) -> _Mask:
    """Where a condition holds."""
    rows = Rows(columns, count, session or Session())
    return true_rows(evaluate(condition, rows), count)
