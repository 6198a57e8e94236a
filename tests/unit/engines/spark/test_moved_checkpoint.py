"""Spark's checkpoint after its directory has got the next number."""

from __future__ import annotations

from pathlib import Path

from penstock.engines.spark.moved_checkpoint import settle_in


def test_paths_of_schemas_follow_the_directory(tmp_path: Path) -> None:
    metadata = tmp_path / "run-12" / "spark" / "state" / "0" / "_metadata" / "v2"
    metadata.mkdir(parents=True)
    before = 'v2\n{"stateSchemaFilePaths":["file:/h/run-9/spark/state/0/_stateSchema/default/0_x"],"of":"run-9"}'
    (metadata / "0").write_text(before)
    (metadata / ".0.crc").write_bytes(b"\xbd\x00")
    settle_in(tmp_path / "run-12" / "spark")
    assert (metadata / "0").read_text() == before.replace("/run-9/", "/run-12/")
    assert [path.name for path in metadata.iterdir()] == ["0"], "the old checksum is gone"
    settle_in(tmp_path / "run-12" / "spark")
    assert (metadata / "0").read_text() == before.replace("/run-9/", "/run-12/")
    settle_in(tmp_path / "run-1" / "spark")  # a job that just begins
