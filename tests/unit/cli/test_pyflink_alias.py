from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def run(program: str, *, path: Path | None = None) -> str:
    """In a process of its own: the finder stays installed for the rest of a process."""
    start = f"import sys; sys.path.insert(0, {str(path)!r})\n" if path else "import sys\n"
    start += "from penstock.cli import pyflink_alias; pyflink_alias.install()\n"
    finished = subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


def test_top_package_is_penstock() -> None:
    assert run("import pyflink, penstock; print(pyflink is penstock)") == "True"


def test_submodule_is_the_same_object_under_both_names() -> None:
    assert run(
        "import pyflink.common.errors as aliased\n"
        "import penstock.common.errors as own\n"
        "same = sys.modules['pyflink.common.errors'] is sys.modules['penstock.common.errors']\n"
        "print(aliased is own, same)"
    ) == "True True"  # fmt: skip


def test_order_of_the_imports_does_not_matter() -> None:
    assert run(
        "import penstock.common.errors as own\n"
        "from pyflink.common import errors\n"
        "from pyflink.common.errors import PenstockError\n"
        "print(errors is own, PenstockError is own.PenstockError)"
    ) == "True True"  # fmt: skip


def test_module_keeps_its_own_name_and_spec() -> None:
    assert run(
        "import pyflink.common.errors as m; print(m.__name__, m.__spec__.name, m.PenstockError.__module__)"
    ) == "penstock.common.errors penstock.common.errors penstock.common.errors"  # fmt: skip


def test_aliased_module_can_be_reloaded() -> None:
    assert run(
        "import importlib, pyflink.common.errors as m; print(importlib.reload(m) is m)"
    ) == "True"  # fmt: skip


@pytest.mark.parametrize("name", ["pyflink.no_such_module", "pyflink.no_such_package.module"])
def test_module_that_penstock_lacks_is_named_in_the_error(name: str) -> None:
    printed = run(f"try:\n    import {name}\nexcept ModuleNotFoundError as e: print(e.name, '|', e)")
    missing = ".".join(name.split(".")[:2])
    assert printed.startswith(f"{missing} | Penstock does not have the module '{missing}' (yet)")


def test_missing_dependency_of_a_module_is_reported_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import not_installed_anywhere\n")
    printed = run(
        f"import penstock; penstock.__path__.append({str(tmp_path)!r})\n"
        "try:\n    import pyflink.broken\nexcept ModuleNotFoundError as e: print(e)"
    )
    assert printed == "No module named 'not_installed_anywhere'"


def test_goes_before_a_real_pyflink(tmp_path: Path) -> None:
    (tmp_path / "pyflink").mkdir()
    (tmp_path / "pyflink" / "__init__.py").write_text("raise AssertionError('the real one was imported')\n")
    assert run("import pyflink; print(pyflink.__name__)", path=tmp_path) == "penstock"


def test_install_is_idempotent() -> None:
    assert run(
        "before = len(sys.meta_path); pyflink_alias.install(); print(len(sys.meta_path) - before)"
    ) == "0"  # fmt: skip


def test_other_names_that_begin_alike_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "pyflinkish.py").write_text("x = 1\n")
    assert run("import pyflinkish; print(pyflinkish.x)", path=tmp_path) == "1"


def test_install_is_cheap_for_workers() -> None:
    heavy = "{'pyspark', 'pandas', 'pyarrow', 'numpy', 'rich', 'argparse'}"
    assert run(f"print(sorted({heavy} & set(sys.modules)))") == "[]"


def test_names_that_pyflinks_modules_have_borrowed_can_be_imported_from_there() -> None:
    """Flink's own examples import DeliveryGuarantee from the module of Kafka."""
    assert run(
        "from pyflink.datastream.connectors.kafka import DeliveryGuarantee\n"
        "from penstock.connectors.base import DeliveryGuarantee as own\n"
        "from pyflink.datastream.connectors import kafka\n"
        "print(DeliveryGuarantee is own, hasattr(kafka, 'NoSuchThing'))"
    ) == "True False"  # fmt: skip
