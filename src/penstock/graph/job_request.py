"""What an environment asks an engine to run."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.graph.transformation import Node


@dataclass(frozen=True)
class PythonDependencies:
    """Files, requirements and archives that the workers need, as PyFlink's add_python_file and others take them."""

    files: tuple[str, ...] = ()
    requirements: tuple[str, str | None] | None = None  # requirements.txt, directory with downloaded packages
    archives: tuple[tuple[str, str | None], ...] = ()  # archive, name of the directory it is unpacked to
    executable: str | None = None


@dataclass(frozen=True)
class JobRequest:
    """A program, complete: the sinks lead to everything else."""

    name: str
    sinks: tuple[Node, ...]
    configuration: dict[str, str]
    parallelism: int
    max_parallelism: int | None = None
    chaining: bool = True
    batch_mode: bool = False
    job_parameters: dict[str, str] = field(default_factory=dict)
    auto_watermark_interval_ms: int = 200
    dependencies: PythonDependencies = field(default_factory=PythonDependencies)
