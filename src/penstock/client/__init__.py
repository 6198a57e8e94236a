"""Speaks to a manager or to a running job over REST: what `penstock` on the command line uses, for programs.

>>> from penstock.client import PenstockClient
>>> client = PenstockClient("http://127.0.0.1:8081", "token")  # doctest: +SKIP
>>> job = client.submit("job.py", parallelism=2)  # doctest: +SKIP
>>> client.job(job).savepoint("/savepoints")  # doctest: +SKIP
"""

from __future__ import annotations

from penstock.client.connection import Connection, GoneError, RefusedError
from penstock.client.jobs import JobClient, PenstockClient, QueryableStateClient, find_manager

__all__ = [
    "Connection",
    "GoneError",
    "JobClient",
    "PenstockClient",
    "QueryableStateClient",
    "RefusedError",
    "find_manager",
]
