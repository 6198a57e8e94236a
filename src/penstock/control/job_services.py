"""How a running job is reached from outside. Its REST interface lies above this package and is found by name: the one
place where a lower layer calls a higher one, so that a job serves itself whoever has started it.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol, cast

from penstock.control.job_control import JobControl
from penstock.control.job_home import JobHome


class JobService(Protocol):
    def close(self) -> Any:
        """Lets clients hear what they wait for, then stops listening."""


class ServiceMaker(Protocol):
    def __call__(self, control: JobControl, home: JobHome) -> JobService: ...


def rest_service() -> ServiceMaker:
    return cast(ServiceMaker, importlib.import_module("penstock.rest.job_server").serve_job)
