"""The service and the function of examples/async_prices.py, in process."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Time, Types
from penstock.datastream import AsyncDataStream, AsyncRetryStrategy
from penstock.datastream.async_retry_predicates import has_exception_predicate

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "async_prices.py"


@pytest.fixture
def async_prices() -> Iterator[ModuleType]:
    specification = importlib.util.spec_from_file_location("async_prices", PROGRAM)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["async_prices"] = module
    specification.loader.exec_module(module)
    yield module
    del sys.modules["async_prices"]


def test_every_price_is_found_although_the_shop_is_busy_at_times(
    async_prices: ModuleType, local_env: EnvironmentFactory
) -> None:
    with async_prices.Server(("127.0.0.1", 0), async_prices.Shop) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        items = local_env(2, epoch_records=60).from_collection(range(200), type_info=Types.INT())
        retry = AsyncRetryStrategy.fixed_delay(5, 5, None, has_exception_predicate)
        prices = AsyncDataStream.unordered_wait_with_retry(
            items.rebalance(), async_prices.Price(server.server_port), Time.seconds(60), retry, 50
        )
        with prices.execute_and_collect() as results:
            assert dict(results) == {item: async_prices.price_of(item) for item in range(200)}
        server.shutdown()
