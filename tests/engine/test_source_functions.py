"""Sources written as Python functions."""

from __future__ import annotations

from typing import Any

from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.functions import SourceFunction
from penstock.engines.local.executor import LocalExecutor


class Named(SourceFunction):
    """Emits what its context says about it."""

    def open(self, runtime_context: Any) -> None:
        self.facts = [
            runtime_context.get_number_of_parallel_subtasks(),
            runtime_context.get_index_of_this_subtask(),
            runtime_context.get_job_parameter("greeting", "none"),
        ]

    def run(self, ctx: SourceFunction.SourceContext) -> None:
        for fact in self.facts:
            ctx.collect(fact)


def test_a_source_function_is_opened_with_its_context() -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor())
    env.set_parallelism(1)
    env.get_config().set_global_job_parameters({"greeting": "hello"})
    assert list(env.add_source(Named()).execute_and_collect()) == [1, 0, "hello"]
