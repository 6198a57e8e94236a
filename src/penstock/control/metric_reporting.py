"""Brings the metrics of a running job to its reporters, each at its own interval."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

from penstock.control.job_control import JobDescription
from penstock.metrics.reporters.registry import ConfiguredReporter, make_reporters
from penstock.metrics.samples import Sample


def samples_of(job: JobDescription) -> list[Sample]:
    host = socket.gethostname()
    of_job = {"host": host, "job_id": job.job_id, "job_name": job.name}
    samples = [Sample("job", name, value, of_job) for name, value in job.metrics.items()]
    for worker in job.workers:
        of_worker = {"host": worker.host, "tm_id": worker.id}
        samples.append(Sample("taskmanager", "Status.Process.Memory.Resident", worker.resident_bytes, of_worker))
        samples.append(Sample("taskmanager", "Status.Process.CPU.Time", worker.cpu_seconds, of_worker))
    for operator in job.operators:
        for subtask in operator.subtasks:
            worker_id = subtask.worker or ""
            variables = {
                **of_job,
                "host": worker_id.rpartition(":")[0] or host,
                "tm_id": worker_id,
                "task_name": operator.chain,
                "operator_id": operator.uid,
                "operator_name": operator.name,
                "subtask_index": str(subtask.index),
            }
            samples += [
                Sample("operator", name, value, variables, subtask.metric_types.get(name, "gauge"))
                for name, value in subtask.metrics.items()
            ]
    return samples + _own_process(host)


def _own_process(host: str) -> list[Sample]:
    import psutil

    process = psutil.Process(os.getpid())
    times, variables = process.cpu_times(), {"host": host}
    return [
        Sample("jobmanager", "Status.Process.Memory.Resident", process.memory_info().rss, variables),
        Sample("jobmanager", "Status.Process.CPU.Time", times.user + times.system, variables),
        Sample("jobmanager", "System.CPU.Load1min", os.getloadavg()[0], variables),
        Sample("jobmanager", "System.Memory.Available", psutil.virtual_memory().available, variables),
    ]


class MetricReporting:
    """A thread for each reporter: one that hangs keeps nobody else waiting."""

    def __init__(self, configuration: Mapping[str, str], describe: Callable[[], JobDescription]) -> None:
        self._describe = describe
        self._stop = threading.Event()
        self._reporters = make_reporters(configuration)
        self._threads = [
            threading.Thread(target=self._run, args=(each,), name="penstock-reporter", daemon=True)
            for each in self._reporters
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Each reports a last time: of a short job that is the only one."""
        self._stop.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(5.0)

    def _run(self, configured: ConfiguredReporter) -> None:
        reporter, complained = configured.reporter, False
        while True:
            last = self._stop.wait(configured.interval_ms / 1000)
            complained = self._try(
                lambda: reporter.report(configured.filter.chosen(self._samples())), reporter.settings.name, complained
            )
            if last:
                self._try(reporter.close, reporter.settings.name, complained)
                return

    def _samples(self) -> Sequence[Sample]:
        return samples_of(self._describe())

    def _try(self, action: Callable[[], None], name: str, complained: bool) -> bool:
        """Metrics must not harm the job; of many failures in a row the first is told."""
        try:
            action()
        except Exception as error:
            if not complained:
                print(f"penstock: the metric reporter {name!r} failed: {error!r}", file=sys.stderr)
            return True
        return False
