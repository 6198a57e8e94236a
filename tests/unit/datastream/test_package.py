"""The package offers PyFlink's names without loading what a worker does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

import penstock.datastream
from penstock.common.typeinfo import Types
from penstock.datastream import OutputTag


def test_workers_do_not_load_the_environment() -> None:
    program = (
        "import sys, penstock.datastream.functions, penstock.datastream.state, penstock.datastream.window\n"
        "print(*sys.modules, sep='\\n')"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert "penstock.datastream.functions" in loaded
    unwanted = {"stream_execution_environment", "data_stream"}
    assert not loaded & {"pyspark", *(f"penstock.datastream.{name}" for name in unwanted)}


def test_names_are_listed_and_unknown_ones_refused() -> None:
    assert set(penstock.datastream.__all__) <= set(dir(penstock.datastream))
    assert penstock.datastream.MapFunction is penstock.datastream.functions.MapFunction
    with pytest.raises(AttributeError, match="no attribute 'MapFuncton'"):
        _ = penstock.datastream.MapFuncton


def test_every_listed_name_says_where_it_lives() -> None:
    assert set(penstock.datastream.__all__) == set(penstock.datastream._MODULE_OF)


def test_output_tags_with_equal_id_and_type_are_the_same() -> None:
    assert OutputTag("late", Types.LONG()) == OutputTag("late", Types.LONG())
    assert OutputTag("late", Types.LONG()) != OutputTag("late", Types.STRING())
    assert OutputTag("late").type_info == Types.PICKLED_BYTE_ARRAY()
    assert OutputTag("row", [Types.LONG()]).type_info == Types.ROW([Types.LONG()])


def test_wrong_output_tags_are_refused() -> None:
    with pytest.raises(ValueError, match="non-empty"):
        OutputTag("")
    with pytest.raises(TypeError, match="TypeInformation"):
        OutputTag("late", int)  # type: ignore[arg-type]
