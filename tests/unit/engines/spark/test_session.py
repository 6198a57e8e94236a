"""What a Spark master may be."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.common.errors import NotSupportedError
from penstock.engines.spark.gateway import start_jvm_ahead


def test_spark_connect_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotSupportedError, match=r"Spark Connect \(sc://host:15002\).*spark://host:7077"):
        start_jvm_ahead("sc://host:15002", {}, tmp_path / "logs" / "spark.log", verbose=False)
    with pytest.raises(NotSupportedError, match="Spark Connect"):
        start_jvm_ahead(None, {"spark.master": "sc://host"}, tmp_path / "logs" / "spark.log", verbose=False)
    monkeypatch.setenv("SPARK_REMOTE", "sc://other")
    with pytest.raises(NotSupportedError, match="sc://other.*unset SPARK_REMOTE"):
        start_jvm_ahead("local[1]", {}, tmp_path / "logs" / "spark.log", verbose=False)
