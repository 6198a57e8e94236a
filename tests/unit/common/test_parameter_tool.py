from __future__ import annotations

from pathlib import Path

import pytest

from penstock.common import ParameterTool
from penstock.common.errors import ConfigurationError


def test_forms_of_arguments() -> None:
    tool = ParameterTool.from_args(["--input", "a b", "-n", "-5", "--verbose", "--rate", "1.5", "--on", "true"])
    assert tool.get("input") == "a b" and tool.get_int("n") == -5 and tool.get_double("rate") == 1.5
    assert tool.has("verbose") and tool.get_boolean("verbose") is True and tool.get("verbose") is None
    assert tool.get_boolean("on") is True and tool.get_number_of_parameters() == 5


@pytest.mark.parametrize(("args", "said"), [(["x"], "'x' at position 1"), (["--"], "no name")])
def test_wrong_arguments(args: list[str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        ParameterTool.from_args(args)


def test_missing_and_wrong_values_name_the_key_and_the_known_ones() -> None:
    tool = ParameterTool.from_args(["--input", "x", "--flag"])
    with pytest.raises(ConfigurationError, match="'inptu'. Known parameters: flag, input. Did you mean 'input'"):
        tool.get_required("inptu")
    with pytest.raises(ConfigurationError, match="'flag' was given without a value"):
        tool.get_required("flag")
    with pytest.raises(ConfigurationError, match="'input' must be a whole number, not 'x'"):
        tool.get_int("input", 3)
    with pytest.raises(ConfigurationError, match="'limit'"):
        tool.get_long("limit")
    assert tool.get_int("limit", 3) == 3 and tool.get("limit", "d") == "d"


def test_properties_file(tmp_path: Path) -> None:
    file = tmp_path / "job.properties"
    file.write_text("# comment\n! too\na=1\n b : two words \nc three\nd=x\\\n   y\ne\\=f=\\u00e9\\tz\nempty=\n")
    assert ParameterTool.from_properties_file(file).to_map() == {
        "a": "1", "b": "two words ", "c": "three", "d": "xy", "e=f": "é\tz", "empty": "",
    }  # fmt: skip
    with pytest.raises(ConfigurationError, match="does not exist"):
        ParameterTool.from_properties_file(tmp_path / "none")


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_TEST_PARAMETER", "7")
    assert ParameterTool.from_system_properties().get_int("PENSTOCK_TEST_PARAMETER") == 7


def test_merge_and_unrequested() -> None:
    first, second = ParameterTool.from_map({"a": 1, "b": 2}), ParameterTool.from_map({"b": 3, "c": 4})
    first.get("a")
    merged = first.merge_with(second)
    assert merged.to_map() == {"a": "1", "b": "3", "c": "4"}
    assert merged.get_unrequested_parameters() == {"b", "c"}
    assert merged.get_configuration().get_integer("c", 0) == 4
