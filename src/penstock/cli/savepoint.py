"""`penstock savepoint`: takes a savepoint of a running job, or removes one that is not needed any more."""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING, Any

from penstock.cli.locations import absolute_location, savepoint_location

if TYPE_CHECKING:
    from penstock.storage import Storage

_METADATA = "_metadata"
_REMAINS_OF_WRITING = re.compile(r"\.(level-\d+-subtask-\d+|_metadata)\.[0-9a-f]+")  # by earlier versions


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", nargs="?", help="id of the job, or the beginning of it")
    parser.add_argument(
        "directory",
        metavar="DIR",
        nargs="?",
        type=absolute_location,
        help="directory to write the savepoint below; default: execution.checkpointing.savepoint-dir of the job",
    )
    parser.add_argument("--dispose", metavar="PATH", type=savepoint_location, help="remove this savepoint")
    parser.add_argument("--json", action="store_true", help="for scripts")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.common.errors import ConfigurationError

    if (arguments.job is None) == (arguments.dispose is None):
        raise ConfigurationError("give either a job (penstock savepoint JOB [DIR]) or --dispose PATH")
    if arguments.dispose is not None:
        return _dispose(arguments.dispose, arguments.json)
    return _take(arguments.job, arguments.directory, arguments.json)


def _take(prefix: str, directory: str | None, as_json: bool) -> int:
    from penstock.cli.job_client import START_SECONDS, JobClient
    from penstock.cli.submitted_jobs import job_with_driver

    job = job_with_driver(prefix)
    location = JobClient(job, START_SECONDS).savepoint(directory)
    print(json.dumps({"id": job.job_id, "location": location}) if as_json else location)
    return 0


def _dispose(path: str, as_json: bool) -> int:
    left = remove_savepoint(path)
    if as_json:
        print(json.dumps({"disposed": path, "left": left}))
    else:
        print(f"disposed {path}")
        if left:
            print(f"the directory stays: it holds files that are not the savepoint's ({', '.join(left)})")
    return 0


def remove_savepoint(path: str) -> list[str]:
    """Removes the savepoint's files, and the directory if nothing else is in it; gives what else is."""
    from penstock.storage import storage_at

    storage = storage_at(path)
    saved = set(_files_of(_read_metadata(path, storage)))
    # First, so that what an interruption leaves is not taken for a savepoint.
    storage.delete(_METADATA)
    for name in storage.names():
        if name in saved or _REMAINS_OF_WRITING.fullmatch(name):
            storage.delete(name)
    left = storage.names()
    if not left:
        storage.delete_folder()
    return left


def _files_of(saved: dict[str, Any]) -> list[str]:
    """Parts of format 2 are a file each."""
    return [file["name"] for part in saved["parts"] for file in part.get("files", [part])]


def _read_metadata(path: str, storage: Storage) -> dict[str, Any]:
    """Enough to know that this is a savepoint; a damaged one may be removed too."""
    from penstock.common.errors import ConfigurationError

    try:
        saved: dict[str, Any] = json.loads(storage.read(_METADATA))["savepoint"]
        if not (isinstance(saved["job_id"], str) and all(isinstance(name, str) for name in _files_of(saved))):
            raise ValueError("job or parts are missing")
    except (FileNotFoundError, NotADirectoryError):
        raise ConfigurationError(
            f"{path!r} is no savepoint: there is no {_METADATA} file in it; give the directory savepoint-…"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{path!r} is no savepoint that this version knows ({_METADATA}: {error}), so that nothing "
            "was removed; if you are sure, remove the directory yourself"
        ) from None
    return saved
