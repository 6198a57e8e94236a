"""Real Prometheus, push gateway and InfluxDB out of Debian's packages."""

from __future__ import annotations

import contextlib
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.services.debian import unpacked
from tests.services.processes import free_port, port_is_open, server_process


@contextlib.contextmanager
def prometheus(directory: Path, scraped_port: int) -> Iterator[str]:
    """Scrapes the port once a second."""
    root, port = unpacked("prometheus"), free_port()
    config = directory / "prometheus.yml"
    scrape = {"job_name": "penstock", "static_configs": [{"targets": [f"127.0.0.1:{scraped_port}"]}]}
    config.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}))
    command = [
        str(root / "usr/bin/prometheus"), f"--config.file={config}", f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    with server_process(command, lambda: port_is_open(port), directory / "prometheus.log"):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def push_gateway(directory: Path) -> Iterator[str]:
    root, port = unpacked("prometheus-pushgateway"), free_port()
    command = [str(root / "usr/bin/prometheus-pushgateway"), f"--web.listen-address=127.0.0.1:{port}"]
    with server_process(command, lambda: port_is_open(port), directory / "pushgateway.log"):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def influxdb(directory: Path) -> Iterator[int]:
    root, port, rpc = unpacked("influxdb"), free_port(), free_port()
    config = directory / "influxdb.conf"
    config.write_text(
        f'reporting-disabled = true\nbind-address = "127.0.0.1:{rpc}"\n[meta]\ndir = "{directory}/meta"\n'
        f'[data]\ndir = "{directory}/data"\nwal-dir = "{directory}/wal"\n[http]\nbind-address = "127.0.0.1:{port}"\n'
    )
    command = [str(root / "usr/bin/influxd"), "-config", str(config)]
    with server_process(command, lambda: port_is_open(port), directory / "influxdb.log"):
        yield port


def fetched(url: str, query: dict[str, str] | None = None, post: bool = False) -> Any:
    target = f"{url}?{urlencode(query)}" if query else url
    request = urllib.request.Request(target, method="POST" if post else "GET")
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.loads(response.read())
