"""Asks an HTTP service for the price of every item of an order, a hundred questions at a time.

penstock run examples/async_prices.py --orders 2000

The service is started by the program: it takes 50 ms for an answer, and one time in twenty it says that it is busy, so
that the question has to be asked again. The sum of all prices is known, and the program compares.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from penstock.common import Time, Types
from penstock.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy, StreamExecutionEnvironment
from penstock.datastream.async_retry_predicates import has_exception_predicate


class Shop(BaseHTTPRequestHandler):
    """GET /price/7 -> 14"""

    questions = itertools.count(1)

    def do_GET(self) -> None:
        time.sleep(0.05)
        busy = next(Shop.questions) % 20 == 0
        body = b"" if busy else str(price_of(int(self.path.rsplit("/", 1)[1]))).encode()
        self.send_response(503 if busy else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def price_of(item: int) -> int:
    return 2 * item % 97


class BusyError(Exception):
    """The service wants to be asked again."""


class Price(AsyncFunction[int, tuple[int, int]]):
    def __init__(self, port: int) -> None:
        self._port = port

    async def async_invoke(self, value: int) -> list[tuple[int, int]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(f"GET /price/{value} HTTP/1.0\r\n\r\n".encode())
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        if b" 503 " in head.split(b"\r\n")[0]:
            raise BusyError(f"the shop is busy, no price for {value}")
        return [(value, int(body))]


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--orders", type=int, default=2000)
    orders = arguments.parse_args().orders
    server = Server(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    env = StreamExecutionEnvironment.get_execution_environment()
    items = env.from_collection(range(orders), type_info=Types.INT())
    prices = AsyncDataStream.unordered_wait_with_retry(
        items,
        Price(server.server_port),
        Time.seconds(30),
        AsyncRetryStrategy.fixed_delay(5, 20, None, has_exception_predicate),
        capacity=100,
        output_type=Types.TUPLE([Types.INT(), Types.INT()]),
    )
    began = time.monotonic()
    with prices.execute_and_collect("prices") as answers:
        found = dict(answers)
    server.shutdown()
    right = found == {item: price_of(item) for item in range(orders)}
    print(f"{len(found)} prices in {time.monotonic() - began:.1f} s, {'OK' if right else 'WRONG'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
