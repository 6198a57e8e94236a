"""Files, requirements and archives that the functions of a program need in the workers."""

from __future__ import annotations

import os
import re

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError, SetupError
from penstock.common.options import parse_list
from penstock.graph.job_request import PythonDependencies

__all__ = ["PythonDependencySettings"]

_BESIDE = "#"  # what follows it belongs to the path before it, as in Flink's options


class PythonDependencySettings:
    """What an environment is told about the Python side of its workers, by calls and by python.* options."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._python_files: list[str] = []
        self._python_archives: list[tuple[str, str | None]] = []
        self._python_requirements: tuple[str, str | None] | None = None
        self._python_executable: str | None = None

    def add_python_file(self, file_path: str) -> None:
        """Makes a module, package directory, zip or wheel importable for functions in the workers."""
        self._python_files.append(_existing(file_path, "add_python_file()"))

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Installs a requirements file for the workers, from a directory of packages if one is given."""
        cache = None
        if requirements_cache_dir is not None:
            cache = _existing(requirements_cache_dir, "set_python_requirements()")
        self._python_requirements = (_existing(requirements_file_path, "set_python_requirements()"), cache)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpacks an archive where functions find it as ``target_dir`` (default: the archive's name)."""
        self._python_archives.append((_existing(archive_path, "add_python_archive()"), target_dir))

    def set_python_executable(self, python_exec: str) -> None:
        """Sets the Python that runs the workers."""
        if not isinstance(python_exec, str) or not python_exec:
            raise ConfigurationError(f"set_python_executable() takes the path of a Python, got {python_exec!r}")
        self._python_executable = python_exec

    def _python_dependencies(self) -> PythonDependencies:
        """Calls add to lists of the options, and win over single ones."""
        option = self._configuration.get_string
        files = [_existing(path, "python.files") for path in _paths(option("python.files", None))]
        search = option("python.pythonpath", None) or ""
        files += [_existing(path, "python.pythonpath") for path in search.split(os.pathsep) if path]
        archives = [_split(path) for path in _paths(option("python.archives", None))]
        requirements = option("python.requirements", None)
        if self._python_requirements is None and requirements:
            path, cache = _split(requirements)
            self._python_requirements = (_existing(path, "python.requirements"), cache)
        return PythonDependencies(
            files=tuple(dict.fromkeys([*files, *self._python_files])),
            requirements=self._python_requirements,
            archives=tuple(
                dict.fromkeys(
                    [
                        *((_existing(p, "python.archives"), name) for p, name in archives),
                        *self._python_archives,
                    ]
                )
            ),
            executable=self._python_executable or option("python.executable", None),
        )


def _paths(text: str | None) -> list[str]:
    """Flink separates these paths by commas, Penstock's lists by semicolons."""
    return [path for part in parse_list(text) for path in re.split(r"\s*,\s*", part) if path]


def _split(path: str) -> tuple[str, str | None]:
    before, _, behind = path.partition(_BESIDE)
    return before, behind or None


def _existing(path: str, where: str) -> str:
    """The absolute path: the program may change its directory. What is not local is Spark's to find."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ConfigurationError(f"{where} takes a path, got {path!r}")
    text = os.fspath(path).removeprefix("file://")
    if "://" in text:
        return text
    absolute = os.path.abspath(os.path.expanduser(text))
    if not os.path.exists(absolute):
        raise SetupError(f"{where}: there is no file or directory {absolute!r}; give a path that exists here.")
    return absolute
