"""Windows in whole jobs: results do not depend on epochs, chunks, processes or the number of subtasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from tests.unit.runtime.window_programs import COUNT, expected, program

from penstock.datastream import StreamExecutionEnvironment


@pytest.mark.parametrize("parallelism", [1, 2, 4])
@pytest.mark.parametrize(("epochs", "forget"), [(1, False), (50, True)])
def test_the_same_multiset_however_the_stream_is_cut(
    local_env: Callable[..., StreamExecutionEnvironment], parallelism: int, epochs: int, forget: bool
) -> None:
    env = local_env(parallelism, epoch_records=COUNT // epochs, forget=forget)
    with program(env).execute_and_collect() as results:
        assert Counter(results) == expected()
