"""Reporters of systems that take lines of text: Graphite, StatsD, InfluxDB, and a log file."""

from __future__ import annotations

import base64
import http.client
import re
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlencode

from penstock.common.errors import ConfigurationError
from penstock.metrics.reporters.base import MetricReporter, ReporterSettings
from penstock.metrics.samples import Sample

_SECONDS = 10
_DATAGRAM = 1400  # what passes a usual network in one piece
_NOT_IN_A_PATH = re.compile(r"[^\w-]")
_LAST_LOGS = 5


class GraphiteReporter(MetricReporter):
    """Carbon's plaintext protocol, over TCP (the default) or UDP."""

    OPTIONS = ("host", "port", "protocol")

    def report(self, samples: Sequence[Sample]) -> None:
        now, scopes = int(time.time()), self.settings.scopes
        lines = [f"{scopes.full_name(each, _NOT_IN_A_PATH)} {each.value:g} {now}\n".encode() for each in samples]
        address = (self.settings.required("host"), self.settings.port(2003))
        if (self.settings.get("protocol") or "TCP").upper() == "UDP":
            _send_datagrams(address, lines)
            return
        with socket.create_connection(address, timeout=_SECONDS) as connection:
            connection.sendall(b"".join(lines))


class StatsDReporter(MetricReporter):
    """Every value as a gauge, because the job counts itself."""

    OPTIONS = ("host", "port")

    def report(self, samples: Sequence[Sample]) -> None:
        address = (self.settings.required("host"), self.settings.port(8125))
        _send_datagrams(address, [line.encode() for each in samples for line in self._lines(each)])

    def _lines(self, sample: Sample) -> Iterator[str]:
        name = self.settings.scopes.full_name(sample, _NOT_IN_A_PATH)
        if sample.value < 0:
            yield f"{name}:0|g\n"  # a sign in front of a number means a change of the gauge
        yield f"{name}:{sample.value:g}|g\n"


class InfluxDbReporter(MetricReporter):
    """The line protocol, to the write endpoint of InfluxDB 1.x; the database must be there."""

    OPTIONS = ("scheme", "host", "port", "db", "username", "password", "retentionPolicy", "consistency")

    def __init__(self, settings: ReporterSettings) -> None:
        super().__init__(settings)
        self._scheme = settings.get("scheme") or "http"
        if self._scheme not in ("http", "https"):
            raise ConfigurationError(f"metrics.reporter.{settings.name}.scheme is http or https")
        query = {"db": settings.required("db"), "precision": "ms"}
        if settings.get("retentionPolicy"):
            query["rp"] = settings.required("retentionPolicy")
        if settings.get("consistency"):
            query["consistency"] = settings.required("consistency").lower()
        self._path = f"/write?{urlencode(query)}"
        self._headers = {"Content-Type": "text/plain; charset=utf-8"}
        if settings.get("username"):
            secret = f"{settings.required('username')}:{settings.required('password')}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(secret).decode()}"

    def report(self, samples: Sequence[Sample]) -> None:
        now = time.time_ns() // 1_000_000
        body = "".join(f"{_measurement(each)} value={float(each.value)!r} {now}\n" for each in samples)
        make = http.client.HTTPSConnection if self._scheme == "https" else http.client.HTTPConnection
        connection = make(self.settings.required("host"), self.settings.port(8086), timeout=_SECONDS)
        try:
            connection.request("POST", self._path, body.encode(), self._headers)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        finally:
            connection.close()
        if response.status >= 300:
            raise ConnectionError(f"InfluxDB answered {response.status}: {text.strip()}")


def _measurement(sample: Sample) -> str:
    tags = "".join(f",{_escaped(key)}={_escaped(value)}" for key, value in sorted(sample.variables.items()) if value)
    return re.sub(r"([, ])", r"\\\1", sample.logical_name) + tags


def _escaped(text: str) -> str:
    return re.sub(r"([,= ])", r"\\\1", text.replace("\n", " "))


class LogReporter(MetricReporter):
    """Appends all metrics to `file`, which is turned over when it grows beyond `maxBytes`."""

    OPTIONS = ("file", "maxBytes")

    def report(self, samples: Sequence[Sample]) -> None:
        path = Path(self.settings.required("file")).expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > int(self.settings.get("maxBytes") or 64 << 20):
            for number in range(_LAST_LOGS - 1, 0, -1):
                older = path.with_name(f"{path.name}.{number}")
                if older.exists():
                    older.replace(path.with_name(f"{path.name}.{number + 1}"))
            path.replace(path.with_name(f"{path.name}.1"))
        moment = time.strftime("%Y-%m-%d %H:%M:%S")
        with path.open("a", encoding="utf-8") as file:
            file.writelines(f"{moment} {self.settings.scopes.full_name(each)}: {each.value:g}\n" for each in samples)


def _send_datagrams(address: tuple[str, int], lines: Sequence[bytes]) -> None:
    """As many lines in one as fit."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        pending = b""
        for line in lines:
            if pending and len(pending) + len(line) > _DATAGRAM:
                udp.sendto(pending, address)
                pending = b""
            pending += line
        if pending:
            udp.sendto(pending, address)
