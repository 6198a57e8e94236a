"""A real MariaDB server for one test run."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.services.debian import libraries, unpacked
from tests.services.processes import free_port, port_is_open, server_process

USER = "penstock"
PASSWORD = "s3cret-w0rd"
DATABASE = "penstock"


@dataclass(frozen=True)
class MariaDbServer:
    port: int

    @property
    def jdbc_url(self) -> str:
        return f"jdbc:mariadb://127.0.0.1:{self.port}/{DATABASE}"

    def query(self, *statements: str) -> list[tuple[Any, ...]]:
        """The result of the last statement."""
        import pymysql

        settings = {"host": "127.0.0.1", "port": self.port, "user": USER, "password": PASSWORD, "database": DATABASE}
        with pymysql.connect(**settings, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())


@contextlib.contextmanager
def mariadb_server() -> Iterator[MariaDbServer]:
    root = unpacked("mariadb-server")
    directory = Path(tempfile.mkdtemp(prefix="penstock-mariadb-"))
    environment = {**os.environ, **libraries(root)}
    port = free_port()
    try:
        common = ["--no-defaults", f"--datadir={directory}/data", *(["--user=root"] if os.geteuid() == 0 else [])]
        subprocess.run(
            [
                "bash", str(root / "usr/bin/mariadb-install-db"), *common, f"--basedir={root}/usr",
                "--auth-root-authentication-method=normal", "--skip-test-db",
            ],
            env=environment, check=True, capture_output=True,
        )  # fmt: skip
        (directory / "init.sql").write_text(
            f"create database {DATABASE};\ncreate user {USER}@localhost identified by '{PASSWORD}';\n"
            f"grant all on {DATABASE}.* to {USER}@localhost;\n"
        )
        command = [
            str(root / "usr/sbin/mariadbd"), *common, f"--port={port}", f"--socket={directory}/socket",
            "--bind-address=127.0.0.1", f"--pid-file={directory}/pid", f"--lc-messages-dir={root}/usr/share/mysql",
            f"--plugin-dir={root}/usr/lib/mysql/plugin", f"--character-sets-dir={root}/usr/share/mysql/charsets",
            f"--init-file={directory}/init.sql", "--innodb-flush-log-at-trx-commit=0",
        ]  # fmt: skip
        with server_process(command, lambda: port_is_open(port), directory / "log", environment):
            yield MariaDbServer(port)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
