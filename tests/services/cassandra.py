"""A real Cassandra node for one test run; its jars are fetched once."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.services.processes import SERVICES, free_port, port_is_open, server_process

VERSION = "5.0.4"
# What Cassandra's own start script lets it see of a Java 17.
_EXPORTS = [
    "java.base/jdk.internal.misc",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.rmi/sun.rmi.transport.tcp",
    "java.base/java.lang.ref",
    "jdk.unsupported/sun.misc",
]
_OPENS = [
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
    "java.base/sun.nio.ch",
    "java.base/java.io",
    "java.base/java.nio",
    "java.base/java.util.concurrent",
    "java.base/java.util",
    "java.base/java.util.concurrent.atomic",
    "java.base/java.lang",
    "java.base/java.math",
    "java.base/java.lang.reflect",
    "java.base/java.net",
]


@contextlib.contextmanager
def cassandra_server(login: bool = True) -> Iterator[int]:
    """Gives its port."""
    jars = _fetched_jars()
    directory = Path(tempfile.mkdtemp(prefix="penstock-cassandra-"))
    port, storage_port = free_port(), free_port()
    settings = _SETTINGS.format(
        directory=directory,
        port=port,
        storage=storage_port,
        authenticator="PasswordAuthenticator" if login else "AllowAllAuthenticator",
    )
    (directory / "cassandra.yaml").write_text(settings)
    (directory / "logback.xml").write_text(_LOGGING)
    seen = [f"--add-exports={package}=ALL-UNNAMED" for package in _EXPORTS]
    seen += [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENS]
    properties = {
        "cassandra.config": f"file://{directory}/cassandra.yaml",
        "cassandra-foreground": "yes",
        "cassandra.storagedir": str(directory),
        "logback.configurationFile": str(directory / "logback.xml"),
        "cassandra.jmx.local.port": str(free_port()),
        "cassandra.ring_delay_ms": "0",
        "cassandra.skip_wait_for_gossip_to_settle": "0",
    }
    command = ["java", "-Xms256m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *seen]
    command += [f"-D{key}={value}" for key, value in properties.items()]
    command += ["-cp", f"{jars}/*", "org.apache.cassandra.service.CassandraDaemon"]
    try:
        with server_process(command, lambda: port_is_open(port), directory / "log", seconds=120):
            yield port
    finally:
        shutil.rmtree(directory, ignore_errors=True)


_SETTINGS = """
cluster_name: tests
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
authenticator: {authenticator}
commitlog_sync: periodic
commitlog_sync_period: 10000ms
data_file_directories: [{directory}/data]
commitlog_directory: {directory}/commitlog
saved_caches_directory: {directory}/caches
hints_directory: {directory}/hints
cdc_raw_directory: {directory}/cdc
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: {storage}
native_transport_port: {port}
endpoint_snitch: SimpleSnitch
disk_access_mode: standard
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "127.0.0.1:{storage}"}}]
"""
_LOGGING = """<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder>
<pattern>%d %-5level %msg%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="out"/></root></configuration>
"""


def _fetched_jars() -> Path:
    jars = SERVICES / "cassandra" / f"jars-{VERSION}"
    if jars.exists():
        return jars
    if shutil.which("java") is None or shutil.which("mvn") is None:
        pytest.skip("a Cassandra node needs java and mvn on the path")
    jars.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jars.parent) as scratch:
        pom = Path(scratch) / "pom.xml"
        pom.write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>penstock.tests</groupId><artifactId>cassandra"
            "</artifactId><version>1</version><packaging>pom</packaging><dependencies><dependency><groupId>"
            "org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId>"
            f"<version>{VERSION}</version></dependency></dependencies></project>"
        )
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", "-DincludeScope=runtime"]
        fetched = subprocess.run([*command, f"-DoutputDirectory={scratch}/jars"], capture_output=True, text=True)
        if fetched.returncode != 0:
            pytest.skip(f"no Cassandra here: its jars cannot be fetched ({fetched.stdout[-300:]})")
        with contextlib.suppress(OSError):  # another run was quicker
            os.rename(Path(scratch) / "jars", jars)
    return jars
