"""Random queries over two tables that change, in words of SQLite too: joins, groups, sets, Top-N, OVER, nested."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Row = tuple[Any, ...]

_GROUPED = ("COUNT(*)", "COUNT({0})", "SUM({0})", "MIN({0})", "MAX({0})", "COUNT(DISTINCT {0})", "SUM(DISTINCT {0})",
            "COUNT(*) FILTER (WHERE {0} > 1)", "MIN({0}) FILTER (WHERE {0} <> 2)")  # fmt: skip


@dataclass(frozen=True)
class Relation:
    """A query whose columns are c0, c1, ..: whole numbers all of them, any of them null."""

    sql: str
    width: int

    def columns(self, alias: str) -> str:
        return ", ".join(f"{alias}.c{place}" for place in range(self.width))


def random_relation(rng: random.Random, depth: int) -> Relation:
    if depth == 0 or rng.random() < 0.1:
        table = rng.choice("AB")
        return Relation(f"SELECT g AS c0, v AS c1, w AS c2 FROM {table}", 3)
    make = rng.choice(
        (_filtered, _grouped, _grouped, _joined, _joined, _semi_joined, _set_operation, _ranked, _distinct, _over)
    )
    return make(rng, depth - 1)


def _filtered(rng: random.Random, depth: int) -> Relation:
    source = random_relation(rng, depth)
    column = f"c{rng.randrange(source.width)}"
    condition = rng.choice((f"{column} > 1", f"{column} IS NULL", f"{column} IS NOT NULL", f"{column} IN (0, 2, 3)"))
    return Relation(f"SELECT * FROM ({source.sql}) AS f WHERE {condition}", source.width)


def _grouped(rng: random.Random, depth: int) -> Relation:
    source = random_relation(rng, depth)
    keys = sorted(rng.sample(range(source.width), min(source.width, rng.choice((1, 1, 2)))))
    calls = [one.format(f"c{rng.randrange(source.width)}") for one in rng.sample(_GROUPED, rng.choice((1, 2, 3)))]
    names = ", ".join(f"c{key}" for key in keys)
    selected = [f"c{key} AS c{place}" for place, key in enumerate(keys)]
    selected += [f"{call} AS c{place}" for place, call in enumerate(calls, len(keys))]
    having = rng.choice(("", "", " HAVING COUNT(*) > 1"))
    return Relation(f"SELECT {', '.join(selected)} FROM ({source.sql}) AS s GROUP BY {names}{having}", len(selected))


def _joined(rng: random.Random, depth: int) -> Relation:
    left, right = random_relation(rng, depth), random_relation(rng, rng.randrange(depth + 1))
    kind = rng.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
    equal = rng.choice(("=", "=", "IS NOT DISTINCT FROM"))
    condition = f"l.c0 {equal} r.c{rng.randrange(right.width)}"
    condition += rng.choice(("", "", f" AND l.c{left.width - 1} < r.c{right.width - 1}"))
    columns = [f"l.c{place}" for place in range(left.width)] + [f"r.c{place}" for place in range(right.width)]
    chosen = sorted(rng.sample(range(len(columns)), min(4, len(columns))))
    selected = ", ".join(f"{columns[one]} AS c{place}" for place, one in enumerate(chosen))
    return Relation(f"SELECT {selected} FROM ({left.sql}) AS l {kind} ({right.sql}) AS r ON {condition}", len(chosen))


def _semi_joined(rng: random.Random, depth: int) -> Relation:
    left, right = random_relation(rng, depth), random_relation(rng, rng.randrange(depth + 1))
    asked = rng.choice(
        (
            f"l.c0 IN (SELECT c0 FROM ({right.sql}) AS i)",
            f"EXISTS (SELECT 1 FROM ({right.sql}) AS r WHERE r.c0 = l.c0)",
            f"NOT EXISTS (SELECT 1 FROM ({right.sql}) AS r WHERE r.c0 = l.c0)",
            f"NOT EXISTS (SELECT 1 FROM ({right.sql}) AS r WHERE r.c0 = l.c0 AND r.c{right.width - 1} > l.c0)",
        )
    )
    return Relation(f"SELECT {left.columns('l')} FROM ({left.sql}) AS l WHERE {asked}", left.width)


def _set_operation(rng: random.Random, depth: int) -> Relation:
    left, right = random_relation(rng, depth), random_relation(rng, rng.randrange(depth + 1))
    width = min(left.width, right.width, rng.choice((1, 2, 3)))
    names = ", ".join(f"c{place}" for place in range(width))
    kind = rng.choice(("UNION ALL", "UNION", "INTERSECT", "EXCEPT"))
    return Relation(f"SELECT {names} FROM ({left.sql}) AS l {kind} SELECT {names} FROM ({right.sql}) AS r", width)


def _ranked(rng: random.Random, depth: int) -> Relation:
    source = random_relation(rng, depth)
    columns = [f"c{place}" for place in range(source.width)]
    order = ", ".join(f"{name}{rng.choice(('', ' DESC'))}" for name in rng.sample(columns, len(columns)))
    number, end = f"ROW_NUMBER() OVER (PARTITION BY c0 ORDER BY {order}) AS n", rng.randrange(1, 4)
    shown = [*columns, "n"] if rng.random() < 0.5 else columns
    selected = ", ".join(f"{name} AS c{place}" for place, name in enumerate(shown))
    start = rng.choice(("", "", " AND n >= 2")) if end > 1 else ""
    return Relation(
        f"SELECT {selected} FROM (SELECT *, {number} FROM ({source.sql}) AS s) AS t WHERE n <= {end}{start}", len(shown)
    )


def _over(rng: random.Random, depth: int) -> Relation:
    source = random_relation(rng, depth)
    columns = [f"c{place}" for place in range(source.width)]
    order = ", ".join(
        f"{name}{rng.choice(('', ' DESC'))}" for name in rng.sample(columns, rng.choice((1, len(columns))))
    )
    partition = rng.choice(("", "PARTITION BY c0 ", f"PARTITION BY c{source.width - 1} "))
    calls = rng.sample(("SUM({0})", "COUNT({0})", "MIN({0})", "MAX({0})", "RANK()", "DENSE_RANK()"), rng.choice((1, 2)))
    shown = [*columns[:2], *(f"{one.format(rng.choice(columns))} OVER ({partition}ORDER BY {order})" for one in calls)]
    selected = ", ".join(f"{name} AS c{place}" for place, name in enumerate(shown))
    return Relation(f"SELECT {selected} FROM ({source.sql}) AS s", len(shown))


def _distinct(rng: random.Random, depth: int) -> Relation:
    source = random_relation(rng, depth)
    chosen = sorted(rng.sample(range(source.width), rng.randrange(1, source.width + 1)))
    selected = ", ".join(f"c{one} AS c{place}" for place, one in enumerate(chosen))
    return Relation(f"SELECT DISTINCT {selected} FROM ({source.sql}) AS s", len(chosen))


def answer(sql: str, tables: dict[str, Sequence[Row]]) -> Counter[Row]:
    """What SQLite says of the tables as they are; nulls come first in its orders, as in Flink's."""
    connection = sqlite3.connect(":memory:")
    for name, rows in tables.items():
        connection.execute(f"CREATE TABLE {name} (g INT, v INT, w INT)")
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
    found = Counter(connection.execute(sql).fetchall())
    connection.close()
    return found
