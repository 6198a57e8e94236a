"""Every name of PyFlink's DataStream API is there with its parameters, or is in the table of refusals and says so."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest
from tests.contract.api_coverage import PAGE, coverage_page
from tests.contract.pyflink_api import ApiName, api_names, call_without_meaning

from penstock.cli import pyflink_alias
from penstock.common.errors import NotSupportedError
from penstock.contract import REFUSED, refusal_of

# Aggregate functions inside PyFlink's own operators, which no program names.
OF_FUNCTIONS = ("pyflink.table.functions",)
NAMES = [name for name in api_names() if name.module not in OF_FUNCTIONS]
CALLABLE = ("method", "static", "classmethod", "function")

# These refuse the None that the test gives them, not the call.
ONLY_CHECK_THEIR_ARGUMENT = {
    "pyflink.common.serialization.Encoder.__init__",
    "pyflink.datastream.checkpoint_config.CheckpointConfig.__init__",
    "pyflink.datastream.formats.avro.AvroRowDeserializationSchema.__init__",
    "pyflink.datastream.formats.avro.AvroRowSerializationSchema.__init__",
    "pyflink.datastream.formats.avro.AvroSchema.__init__",
    "pyflink.datastream.formats.avro.AvroSchema.parse_string",
    "pyflink.datastream.formats.csv.CsvRowDeserializationSchema.Builder.__init__",
    "pyflink.datastream.formats.csv.CsvRowSerializationSchema.Builder.__init__",
    "pyflink.datastream.formats.json.JsonRowDeserializationSchema.Builder.type_info",
    "pyflink.datastream.formats.json.JsonRowSerializationSchema.Builder.with_type_info",
    "pyflink.datastream.formats.parquet.ParquetColumnarRowInputFormat.__init__",
    "pyflink.datastream.formats.orc.OrcBulkWriters.for_row_type",
    "pyflink.datastream.formats.parquet.ParquetBulkWriters.for_row_type",
    "pyflink.table.types.to_arrow_type",
    "pyflink.datastream.stream_execution_environment.StreamExecutionEnvironment.create_input",
}


def shown_parameters(function: Any) -> list[str]:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = inspect.signature(function).parameters.values()
    return [f"{stars.get(p.kind, '')}{p.name}" for p in parameters if p.name not in ("self", "cls")]


def wraps_java(parameters: list[str]) -> bool:
    """Such constructors are called by PyFlink itself, never by programs."""
    return any(name.lstrip("_").startswith("j_") for name in parameters)


def refuses(name: ApiName) -> bool:
    try:
        called = call_without_meaning(name)
        if inspect.iscoroutine(called):
            called.close()
    except NotSupportedError:
        return True
    except Exception:
        return False
    return False


def test_the_table_of_names_was_read() -> None:
    assert len(NAMES) > 1_700


def test_every_name_is_there() -> None:
    missing = []
    for name in NAMES:
        try:
            name.here()
        except (ImportError, AttributeError) as error:
            missing.append(f"{name}: {error}")
    assert missing == []


def test_parameters_have_the_names_and_the_order_of_pyflink() -> None:
    wrong = []
    for name in NAMES:
        if name.kind not in CALLABLE or refusal_of(name.full):
            continue
        wanted, has = name.parameters(), shown_parameters(name.here())
        if wanted[:1] == ["*args"] or wraps_java(wanted):
            continue
        if has[: len(wanted)] != wanted:
            wrong.append(f"{name}: wanted {wanted}, has {has}")
    assert wrong == []


def test_additional_parameters_can_be_left_out() -> None:
    wrong = []
    for name in NAMES:
        if name.kind in CALLABLE and not refusal_of(name.full) and not wraps_java(name.parameters()):
            parameters = [
                p for p in inspect.signature(name.here()).parameters.values() if p.name not in ("self", "cls")
            ]
            for extra in parameters[len(name.parameters()) :]:
                if extra.default is extra.empty and extra.kind not in (extra.VAR_POSITIONAL, extra.VAR_KEYWORD):
                    wrong.append(f"{name}: {extra.name}")
    assert wrong == []


def test_what_the_table_refuses_raises_and_nothing_else_does() -> None:
    kinds = [name for name in NAMES if name.kind in CALLABLE]
    raising = {name.full for name in kinds if refuses(name)} - ONLY_CHECK_THEIR_ARGUMENT
    # Members of a class that cannot be made are out of reach, and so are callbacks of refused interfaces.
    listed = {name.full for name in kinds if refusal_of(name.full)}
    unlisted = sorted(raising - listed)
    assert unlisted == [], "these raise NotSupportedError and have to be in penstock.contract.REFUSED"
    own_entries = {full for full in listed if full in REFUSED}
    assert sorted(own_entries - raising) == [], "these are in penstock.contract.REFUSED, but do not raise"


@pytest.mark.parametrize("entry", sorted(REFUSED))
def test_entry_is_used_and_says_why(entry: str) -> None:
    assert any(name.full == entry or name.full.startswith(f"{entry}.") for name in api_names()), "no such name"
    assert len(REFUSED[entry]) > 10


def test_a_class_that_is_refused_cannot_be_made() -> None:
    made = []
    for entry in REFUSED:
        for name in NAMES:
            if name.full == entry and name.kind == "class" and inspect.isclass(name.here()):
                try:
                    name.here()(*[None] * len(inspect.signature(name.here()).parameters))
                except NotSupportedError:
                    continue
                except TypeError:
                    continue
                made.append(entry)
    assert made == []


def test_modules_that_come_later_say_so() -> None:
    pyflink_alias.install()
    with pytest.raises(ModuleNotFoundError, match="aggregates: call those of SQL"):
        importlib.import_module("pyflink.table.functions")


def test_the_page_about_coverage_is_up_to_date() -> None:
    assert PAGE.exists() and PAGE.read_text(encoding="utf-8") == coverage_page(), (
        "docs/api-coverage.md is out of date: run .venv/bin/python -m tests.contract.api_coverage"
    )


def test_names_that_pyflinks_modules_have_from_others_can_be_imported_from_there_too() -> None:
    """Module, name and home, as PyFlink 2.3 has them; what only links Python to Java is left out."""
    pyflink_alias.install()
    wrong = []
    for line in (Path(__file__).parent / "pyflink-2.3-borrowed.tsv").read_text(encoding="utf-8").splitlines():
        module, name, home = line.split("\t")
        found = getattr(importlib.import_module(module), name, None)
        if found is None or found is not getattr(importlib.import_module(home), name):
            wrong.append(f"{module}.{name}")
    assert wrong == []


def test_modules_that_only_programs_of_pyflink_ask_for() -> None:
    pyflink_alias.install()
    assert importlib.import_module("pyflink.version").__version__ == "2.3.0"
    assert importlib.import_module("pyflink.common.constants").MIN_LONG_VALUE == -(2**63)
    with pytest.raises(NotSupportedError, match="no Java code"):
        importlib.import_module("pyflink.java_gateway").get_gateway()
