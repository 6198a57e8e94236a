"""A real PostgreSQL server for one test run, with passwords, prepared transactions and logical replication."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.services.processes import free_port

USER = "penstock"
PASSWORD = "s3cret-w0rd"
DATABASE = "penstock"
_SETTINGS = {
    "fsync": "off",
    "wal_level": "logical",
    "max_prepared_transactions": "20",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    "listen_addresses": "'127.0.0.1'",
}


@dataclass(frozen=True)
class PostgresServer:
    """Where the server is, and ways to stop and start it in the middle of a test."""

    directory: Path
    port: int
    binaries: Path

    @property
    def jdbc_url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{DATABASE}"

    @property
    def conninfo(self) -> str:
        """For psycopg, the database's own client."""
        return f"host=127.0.0.1 port={self.port} dbname={DATABASE} user={USER} password={PASSWORD}"

    def execute(self, *statements: str) -> None:
        import psycopg

        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[call-overload]

    def query(self, text: str) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.conninfo) as connection:
            return connection.execute(text).fetchall()  # type: ignore[call-overload, no-any-return]

    def start(self) -> None:
        log = self.directory / "server.log"
        _run_unprivileged(self.binaries / "pg_ctl", "-w", "-D", self.directory / "data", "-l", log, "start")

    def stop(self) -> None:
        """At once, as when the machine loses its power."""
        _run_unprivileged(self.binaries / "pg_ctl", "-w", "-D", self.directory / "data", "-m", "immediate", "stop")


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    directory = Path(tempfile.mkdtemp(prefix="penstock-postgres-"))
    server = PostgresServer(directory, free_port(), _binaries())
    try:
        _make_cluster(server)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _binaries() -> Path:
    installed = shutil.which("pg_ctl")
    if installed is not None:
        return Path(installed).resolve().parent
    from tests.services.debian import unpacked

    return next(unpacked("postgresql").glob("usr/lib/postgresql/*/bin"))


def _make_cluster(server: PostgresServer) -> None:
    directory = server.directory
    password = directory / "password"
    password.write_text(PASSWORD)
    if os.geteuid() == 0:  # PostgreSQL refuses root
        account = _account()
        for path in (directory, password):
            os.chown(path, account.pw_uid, account.pw_gid)
    _run_unprivileged(
        server.binaries / "initdb", "-D", directory / "data", "-U", USER, "-A", "scram-sha-256",
        f"--pwfile={password}", "--no-sync", "-E", "UTF8", "--locale=C",
    )  # fmt: skip
    settings = {**_SETTINGS, "port": str(server.port), "unix_socket_directories": f"'{directory}'"}
    with (directory / "data" / "postgresql.conf").open("a") as file:
        file.writelines(f"{key} = {value}\n" for key, value in settings.items())
        file.write("\n")
    _create_database(server)


def _create_database(server: PostgresServer) -> None:
    _run_unprivileged(
        server.binaries / "postgres", "--single", "-D", server.directory / "data", "postgres",
        given=f"create database {DATABASE}\n",
    )  # fmt: skip


def _run_unprivileged(*command: object, given: str = "") -> None:
    arguments = [str(part) for part in command]
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        account = _account()
        identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    # Its own files for output: a server that pg_ctl starts would keep pipes open.
    with tempfile.TemporaryFile("w+") as output:
        result = subprocess.run(
            arguments, input=given, stdout=output, stderr=output, text=True, cwd="/", check=False, **identity
        )
        output.seek(0)
        assert result.returncode == 0, f"{arguments[0]}: {output.read()[-2000:]}"


def _account() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    pytest.skip("PostgreSQL refuses root, and there is no other account here")
