"""Functions of users on tables: on values, on rows, and on groups; and what they see of their task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from penstock.metrics import MetricGroup

T = TypeVar("T")
ACC = TypeVar("ACC")
K = TypeVar("K")
V = TypeVar("V")


class FunctionContext:
    """Given to open(): metrics, job parameters, and which subtask this is."""

    def __init__(
        self,
        base_metric_group: MetricGroup | None,
        job_parameters: Mapping[str, str],
        task_name: str | None = None,
        task_name_with_subtasks: str | None = None,
        number_of_parallel_subtasks: int | None = None,
        max_number_of_parallel_subtasks: int | None = None,
        index_of_this_subtask: int | None = None,
        attempt_number: int | None = None,
    ) -> None:
        self._metrics = base_metric_group
        self._job_parameters = job_parameters
        self._task = (task_name, task_name_with_subtasks)
        self._numbers = (number_of_parallel_subtasks, max_number_of_parallel_subtasks, index_of_this_subtask)
        self._attempt = attempt_number

    def get_metric_group(self) -> MetricGroup:
        if self._metrics is None:
            raise RuntimeError("Metric has not been enabled.")
        return self._metrics

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._job_parameters.get(key, default_value)

    def get_task_name(self) -> str | None:
        return self._task[0]

    def get_task_name_with_subtasks(self) -> str | None:
        return self._task[1]

    def get_number_of_parallel_subtasks(self) -> int | None:
        return self._numbers[0]

    def get_max_number_of_parallel_subtasks(self) -> int | None:
        return self._numbers[1]

    def get_index_of_this_subtask(self) -> int | None:
        return self._numbers[2]

    def get_attempt_number(self) -> int | None:
        return self._attempt


class UserDefinedFunction(ABC):
    """open() is called before the first row, close() after the last."""

    def open(self, function_context: FunctionContext) -> None:
        pass

    def close(self) -> None:
        pass

    def is_deterministic(self) -> bool:
        """Whether equal arguments always give the same result."""
        return True


class ScalarFunction(UserDefinedFunction):
    """One value from the values of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any: ...


class AsyncScalarFunction(UserDefinedFunction):
    """One value from the values of a row, waited for together with those of other rows."""

    @abstractmethod
    async def eval(self, *args: Any) -> Any: ...


class TableFunction(UserDefinedFunction):
    """Any number of rows from the values of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any: ...


class ImperativeAggregateFunction(UserDefinedFunction, Generic[T, ACC]):
    """Takes rows into an accumulator; retract() is needed where rows are taken back, merge() where windows merge."""

    @abstractmethod
    def create_accumulator(self) -> ACC: ...

    @abstractmethod
    def accumulate(self, accumulator: ACC, *args: Any) -> Any: ...

    def retract(self, accumulator: ACC, *args: Any) -> Any:
        raise RuntimeError("Method retract is not implemented")

    def merge(self, accumulator: ACC, accumulators: Iterable[ACC]) -> Any:
        raise RuntimeError("Method merge is not implemented")

    def get_result_type(self) -> Any:
        raise RuntimeError("Method get_result_type is not implemented")

    def get_accumulator_type(self) -> Any:
        raise RuntimeError("Method get_accumulator_type is not implemented")


class AggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """One value for each group."""

    @abstractmethod
    def get_value(self, accumulator: ACC) -> T: ...


class TableAggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """Any number of rows for each group."""

    @abstractmethod
    def emit_value(self, accumulator: ACC) -> Iterable[T]: ...


class DataView(ABC):  # noqa: B024
    """A collection inside an accumulator."""

    def clear(self) -> None:
        raise NotImplementedError


class ListView(DataView, Generic[T]):
    def __init__(self) -> None:
        self._list: list[T] = []

    def get(self) -> Iterable[T]:
        return self._list

    def add(self, value: T) -> None:
        self._list.append(value)

    def add_all(self, values: list[T]) -> None:
        self._list.extend(values)

    def clear(self) -> None:
        self._list = []

    def __iter__(self) -> Iterator[T]:
        return iter(self._list)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListView) and self._list == other._list

    __hash__ = None  # type: ignore[assignment]


class MapView(Generic[K, V]):
    def __init__(self) -> None:
        self._dict: dict[K, V] = {}

    def get(self, key: K) -> V:
        return self._dict[key]

    def put(self, key: K, value: V) -> None:
        self._dict[key] = value

    def put_all(self, dict_value: dict[K, V]) -> None:
        self._dict.update(dict_value)

    def remove(self, key: K) -> None:
        del self._dict[key]

    def contains(self, key: K) -> bool:
        return key in self._dict

    def items(self) -> Iterable[tuple[K, V]]:
        return self._dict.items()

    def keys(self) -> Iterable[K]:
        return self._dict.keys()

    def values(self) -> Iterable[V]:
        return self._dict.values()

    def is_empty(self) -> bool:
        return not self._dict

    def clear(self) -> None:
        self._dict.clear()

    def __contains__(self, key: K) -> bool:
        return key in self._dict

    def __getitem__(self, key: K) -> V:
        return self._dict[key]

    def __setitem__(self, key: K, value: V) -> None:
        self._dict[key] = value

    def __delitem__(self, key: K) -> None:
        del self._dict[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._dict)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MapView) and self._dict == other._dict

    __hash__ = None  # type: ignore[assignment]
