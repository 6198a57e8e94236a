"""The built-in metrics, with their meaning: docs/metrics.md is made from this, and tests compare it with real jobs."""

from __future__ import annotations

from typing import NamedTuple


class BuiltIn(NamedTuple):
    scope: str  # see metrics/samples.py
    name: str  # <state> stands for the name of a state
    meaning: str


BUILT_IN: tuple[BuiltIn, ...] = (
    BuiltIn("operator", "numRecordsIn", "records read since the driver started"),
    BuiltIn("operator", "numRecordsInPerSecond", "over the last second or epoch"),
    BuiltIn("operator", "numRecordsOut", "records sent on, side outputs included"),
    BuiltIn("operator", "numRecordsOutPerSecond", "over the last second or epoch"),
    BuiltIn("operator", "numBytesIn", "bytes that came over exchanges; inside of a chain nothing is serialized"),
    BuiltIn("operator", "numBytesInPerSecond", "over the last second or epoch"),
    BuiltIn("operator", "numBytesOut", "bytes sent over exchanges"),
    BuiltIn("operator", "numBytesOutPerSecond", "over the last second or epoch"),
    BuiltIn("operator", "accumulateBusyTimeMs", "time in the operator's own code, without those chained after it"),
    BuiltIn("operator", "accumulateBackPressuredTimeMs", "time in which its subtask waited for those behind it"),
    BuiltIn("operator", "accumulateIdleTimeMs", "time in which its subtask had nothing to do"),
    BuiltIn("operator", "busyTimeMsPerSecond", "time in the operator's own code, for each second"),
    BuiltIn("operator", "backPressuredTimeMsPerSecond", "how long its subtask waits for those after it"),
    BuiltIn("operator", "idleTimeMsPerSecond", "how long its subtask has nothing to do"),
    BuiltIn("operator", "currentInputWatermark", "milliseconds since 1970"),
    BuiltIn("operator", "currentOutputWatermark", "milliseconds since 1970"),
    BuiltIn("operator", "watermarkLag", "how far the watermark is behind the clock, in milliseconds"),
    BuiltIn("operator", "numLateRecordsDropped", "records that were too late for a window or join, of such operators"),
    *(
        BuiltIn("operator", f"latency.source_id.<source>.{name}", f"{text} of a source's markers, in milliseconds")
        for name, text in (
            ("min", "the smallest latency"),
            ("mean", "the mean"),
            ("p50", "the median"),
            ("p95", "the 95th percentile"),
            ("p99", "the 99th percentile"),
            ("max", "the largest"),
        )
    ),
    BuiltIn("operator", "numTimers", "timers that have not fired"),
    BuiltIn("operator", "state.<state>.entries", "keys of a state in memory"),
    BuiltIn("operator", "state.<state>.bytes", "about how large they are, from a few that are looked at"),
    BuiltIn("operator", "lastSnapshotSize", "bytes that the subtask's last epoch added to the recovery log"),
    BuiltIn("operator", "lastSnapshotDuration", "milliseconds that it took"),
    BuiltIn("job", "uptime", "milliseconds since the driver started"),
    BuiltIn("job", "numRestarts", "attempts after the first"),
    BuiltIn("job", "totalNumberOfCheckpoints", "checkpoints and savepoints that were begun"),
    BuiltIn("job", "numberOfInProgressCheckpoints", "that are being taken"),
    BuiltIn("job", "numberOfCompletedCheckpoints", ""),
    BuiltIn("job", "numberOfFailedCheckpoints", ""),
    BuiltIn("job", "lastCheckpointDuration", "milliseconds"),
    BuiltIn("job", "lastCheckpointSize", "bytes"),
    BuiltIn("job", "epoch.number", "the newest epoch"),
    BuiltIn("job", "epoch.records", "records that sources read in it"),
    BuiltIn("job", "epoch.changedBytes", "bytes that it added to the recovery log"),
    BuiltIn("job", "epoch.duration", "milliseconds in all"),
    BuiltIn("job", "epoch.planning", "finding out what to read"),
    BuiltIn("job", "epoch.computing", "from there to the reports of all subtasks; it consists of the next four"),
    BuiltIn("job", "epoch.source", "sources and what is chained to them, in the slowest subtask"),
    BuiltIn("job", "epoch.operators", "all other operators, in the slowest subtask of each level"),
    BuiltIn("job", "epoch.state", "writing what has changed, in the slowest subtask"),
    BuiltIn("job", "epoch.exchange", "the rest: between processes, and waiting for each other"),
    BuiltIn("job", "epoch.recording", "writing the epoch's record"),
    BuiltIn("job", "epoch.committing", "making results visible"),
    BuiltIn("taskmanager", "Status.Process.Memory.Resident", "bytes, of the worker's process"),
    BuiltIn("taskmanager", "Status.Process.CPU.Time", "seconds"),
    BuiltIn("jobmanager", "Status.Process.Memory.Resident", "bytes, of the driver's process"),
    BuiltIn("jobmanager", "Status.Process.CPU.Time", "seconds"),
    BuiltIn("jobmanager", "System.CPU.Load1min", "load of the driver's machine"),
    BuiltIn("jobmanager", "System.Memory.Available", "bytes"),
)
