"""The command that starts Spark's JVM, as Spark's own launcher says it.

`spark-submit` asks a Python where Spark is and a JVM for the command, each time: half a second before the JVM that is
wanted begins. The launcher's answer depends on options, environment and a few files, and is remembered with them.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
from pathlib import Path

from penstock.engines.spark.jvm_settings import JvmSettings
from penstock.engines.spark.remembered import identity_of, remembered

_LAUNCHER = "org.apache.spark.launcher.Main"
_SUBMIT = "org.apache.spark.deploy.SparkSubmit"
_CORE = "spark-core_"
# What the launcher looks at: these options, and beside Spark's own variables a few others.
_OF_THE_DRIVER = ("spark.driver.", "spark.submit.", "spark.remote")
_HEEDED = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "LD_LIBRARY_PATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")


def jvm_command(settings: JvmSettings) -> tuple[list[str], dict[str, str]] | None:
    """The command and its whole environment; None where only Spark's scripts know."""
    home = _spark_home()
    if home is None:
        return None
    configuration = Path(os.environ.get("SPARK_CONF_DIR") or home / "conf")
    if (configuration / "spark-env.sh").exists() or "SPARK_TESTING" in os.environ:
        return None
    scala = next(
        (jar.name.removeprefix(_CORE).partition("-")[0] for jar in (home / "jars").glob(f"{_CORE}*.jar")), None
    )
    if scala is None:
        return None
    environment = {  # as the scripts set them
        **os.environ,
        **dict(settings.environment),
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(configuration),
        "SPARK_ENV_LOADED": "1",
        "SPARK_SCALA_VERSION": scala,
        "SPARK_CONNECT_MODE": "0",
        "PYTHONHASHSEED": "0",
    }
    options = [part for key, value in settings.options for part in ("--conf", f"{key}={value}")]
    asked = shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    java = os.path.join(environment["JAVA_HOME"], "bin", "java")
    start = remembered(
        "command",
        [
            [(key, value) for key, value in settings.options if key.startswith(_OF_THE_DRIVER)],
            dict(settings.options).get("spark.master", "").partition("[")[0].partition(":")[0],
            asked,
            sorted(item for item in environment.items() if item[0].startswith("SPARK_") or item[0] in _HEEDED),
            identity_of(java),
            identity_of(home / "jars"),
            identity_of(configuration / "spark-defaults.conf"),
        ],
        lambda: _ask(java, home, [*options, *asked], environment),
    )
    return [*start, *options, *asked], environment


def _spark_home() -> Path | None:
    if "SPARK_HOME" in os.environ:
        return Path(os.environ["SPARK_HOME"])
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        return None
    package = Path(found.origin).parent
    # One that was downloaded when PySpark was installed comes first.
    homes = [package / "spark-distribution", package]
    return next((home for home in homes if (home / "bin" / "spark-submit").exists()), None)


def _ask(java: str, home: Path, arguments: list[str], environment: dict[str, str]) -> list[str]:
    """The command up to the arguments, which may hold secrets and are none of the cache's business."""
    launcher = [java, "-Xmx128m", "-cp", f"{home}/jars/*", _LAUNCHER, _SUBMIT, *arguments]
    said = subprocess.run(launcher, env=environment, capture_output=True, text=True, check=True).stdout
    # The command begins after a first NUL and a line's end, each part of it ends with another.
    command = said.partition("\0")[2].lstrip("\n").split("\0")[:-1]
    return command[: command.index(_SUBMIT) + 1]
