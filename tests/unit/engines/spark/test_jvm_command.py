"""The command of Spark's launcher, without Spark's scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.engines.spark import jvm_command as module
from penstock.engines.spark.java import java_home
from penstock.engines.spark.jvm_command import jvm_command
from penstock.engines.spark.jvm_settings import JvmSettings

SECRET = ("spark.hadoop.fs.s3a.secret.key", "very-secret")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "penstock"


def settings(*options: tuple[str, str]) -> JvmSettings:
    return JvmSettings((("spark.master", "local[2,4]"), *options), (("JAVA_HOME", java_home()),), None)


def command_of(*options: tuple[str, str]) -> list[str]:
    found = jvm_command(settings(*options))
    assert found is not None
    return found[0]


def test_it_is_the_launchers_with_all_options_and_asked_for_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = (("spark.driver.memory", "321m"), ("spark.driver.extraJavaOptions", "-Da=b -Dc=d"), SECRET)
    command = command_of(*options)
    assert command[0].endswith("bin/java") and "-Xmx321m" in command and {"-Da=b", "-Dc=d"} <= {*command}
    assert any(part.startswith("--add-opens=java.base/java.nio") for part in command), "what Spark needs of Java"
    place = command.index("org.apache.spark.deploy.SparkSubmit")
    assert command[place + 1 :: 2][:-1] == ["--conf"] * 4 and command[-1] == "pyspark-shell"
    assert command[place + 2 :: 2] == [f"{key}={value}" for key, value in settings(*options).options]
    assert not any("very-secret" in file.read_text() for file in cache.iterdir())

    monkeypatch.setattr(module, "_ask", lambda *_: pytest.fail("asked again"))
    assert command_of(*options) == command
    assert command_of(*options, ("spark.app.name", "other"))[:place] == command[:place]


def test_options_and_files_that_change_it_are_asked_about_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(module, "_ask", lambda *arguments: asked.append(arguments[2]) or ["java", f"-D{len(asked)}"])
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert command_of()[1] == command_of()[1] == "-D1"
    assert command_of(("spark.driver.memory", "1g"))[1] == "-D2"
    (tmp_path / "spark-defaults.conf").write_text("spark.driver.memory 3g\n")
    assert command_of()[1] == "-D3"
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dx=y")
    assert command_of()[1] == "-D4"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.driver.memory=5g pyspark-shell")
    assert command_of()[1:4] == ["-D5", "--conf", "spark.master=local[2,4]"]
    assert command_of()[-3:] == ["--conf", "spark.driver.memory=5g", "pyspark-shell"]


def test_where_a_script_sets_the_environment_spark_starts_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-env.sh").write_text("export SPARK_LOCAL_DIRS=/somewhere\n")
    assert jvm_command(settings()) is None
