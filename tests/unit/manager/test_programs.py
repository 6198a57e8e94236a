"""Uploaded programs: what is taken, what is refused, and what becomes of an archive."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.manager.job_entry import LaunchPlan
from penstock.manager.programs import UploadedPrograms
from penstock.rest.cluster import Submission


class Uploads(UploadedPrograms):
    def __init__(self, directory: Path) -> None:
        self.submitted: list[LaunchPlan] = []
        super().__init__(directory / "programs", self._take)
        self._scratch = directory

    def _take(self, launch: LaunchPlan, job_id: str | None) -> str:
        self.submitted.append(launch)
        return job_id or "new"

    def archive(self, **files: str) -> str:
        path = self._scratch / "upload"
        with zipfile.ZipFile(path, "w") as target:
            for name, content in files.items():
                target.writestr(name.replace("__", "/").replace("_py", ".py").replace("_txt", ".txt"), content)
        return self.add("my job.zip", path).id


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path)


def test_an_archive_brings_modules_and_requirements(uploads: Uploads) -> None:
    program = uploads.archive(main_py="", helpers__tools_py="", requirements_txt="numpy")
    assert uploads.run(program, Submission(arguments=("a",), parallelism=2, job_id="7")) == "7"
    [launch] = uploads.submitted
    files = Path(launch.working_directory)
    assert Path(launch.script) == files / "main.py" and (files / "helpers" / "tools.py").is_file()
    assert launch.configuration == {"python.requirements": str(files / "requirements.txt")}
    assert (launch.arguments, launch.parallelism) == (("a",), 2)
    assert [each.name for each in uploads.all()] == ["my_job.zip"]
    assert uploads.remove(program) and not uploads.remove(program) and list(uploads.all()) == []


def test_which_file_is_the_program(uploads: Uploads) -> None:
    program = uploads.archive(one_py="", two_py="")
    with pytest.raises(ConfigurationError, match=r"one.py, two.py: say it as the entry"):
        uploads.run(program, Submission())
    uploads.run(program, Submission(script="two.py"))
    assert uploads.submitted[0].script.endswith("two.py")
    with pytest.raises(ConfigurationError, match="no file '../x'"):
        uploads.run(program, Submission(script="../x"))


@pytest.mark.parametrize(("name", "complaint"), [("job.jar", "neither a Python script"), ("job.zip", "no zip archive")])
def test_what_is_no_program_is_refused(uploads: Uploads, tmp_path: Path, name: str, complaint: str) -> None:
    file = tmp_path / "upload"
    file.write_bytes(b"PK nonsense")
    with pytest.raises(ConfigurationError, match=complaint):
        uploads.add(name, file)
    assert list(uploads.all()) == [] and list((tmp_path / "programs").glob("*")) == []


def test_an_archive_cannot_write_elsewhere(uploads: Uploads, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="leads out of it"):
        uploads.archive(**{"..__..__evil_py": "x"})
    assert not list(tmp_path.rglob("evil.py"))


def test_ids_of_others_lead_nowhere(uploads: Uploads) -> None:
    with pytest.raises(JobExecutionError, match="no program"):
        uploads.run("../..", Submission())
    assert not uploads.remove("..")
    with pytest.raises(ConfigurationError, match="Unknown option"):
        uploads.run(uploads.archive(main_py=""), Submission(configuration={"no.such.option.at.all": "1"}))
