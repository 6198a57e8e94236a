"""ALTER of tables, views, databases, catalogs, functions and models."""

from __future__ import annotations

from typing import Any

from penstock.table.sql import statements as st
from penstock.table.sql.create_grammar import CreateGrammar, _TableParts

_KINDS = ("TABLE", "MATERIALIZED", "VIEW", "DATABASE", "CATALOG", "FUNCTION", "MODEL", "CONNECTION", "TEMPORARY")
_Actions = tuple[tuple[str, Any], ...]


class AlterGrammar(CreateGrammar):
    def alter(self) -> st.Statement:
        where = self.position
        self.expect("ALTER")
        temporary = self.accept("TEMPORARY")
        system = temporary and self.accept("SYSTEM")
        kind = self.expect_any(_KINDS)
        if kind in ("TABLE", "MATERIALIZED"):
            return self._alter_table(kind, where)
        exists = self.if_exists()
        path = self.path(f"the name of a {kind.lower()}")
        action, value = self._alter_object(kind)
        return st.AlterObject(kind, path, action, value, temporary, system, exists, position=where)

    def _alter_object(self, kind: str) -> tuple[str, Any]:
        if kind == "FUNCTION":
            self.expect("AS")
            class_name = self.text("the class of the function in single quotes")
            language = self.expect_any(("PYTHON", "JAVA", "SCALA")) if self.accept("LANGUAGE") else None
            return "AS", (class_name, language)
        if kind == "VIEW" and self.accept("AS"):
            query, text = self._query_with_text()
            return "AS", (query, text)
        if kind in ("VIEW", "MODEL") and self.accept("RENAME"):
            self.expect("TO")
            return "RENAME", self.path("a new name")
        if kind == "CATALOG" and self.at("COMMENT"):
            return "COMMENT", self.comment()
        if kind != "VIEW" and self.accept("SET"):
            return "SET", self.options()
        if kind != "VIEW" and self.accept("RESET"):
            return "RESET", self._keys()
        expected = {"VIEW": ["RENAME", "AS"], "MODEL": ["SET", "RESET", "RENAME"]}.get(kind, ["SET", "RESET"])
        raise self.failure(" or ".join(f"'{word}'" for word in expected), expected)

    def _keys(self) -> st.Path:
        return self.in_parentheses(lambda: self.text("the key of an option in single quotes"))

    def _alter_table(self, kind: str, where: Any) -> st.Statement:
        materialized = kind == "MATERIALIZED"
        if materialized:
            self.expect("TABLE")
        exists = self.if_exists()
        path = self.path("the name of a table")
        partition: tuple[tuple[str, Any], ...] = ()
        if not materialized and self.accept("PARTITION"):
            partition = self.partition_values()
        actions = self._materialized_action() if materialized else None
        name = "MATERIALIZED TABLE" if materialized else "TABLE"
        return st.AlterTable(name, path, actions or self._table_actions(), exists, partition, position=where)

    def _materialized_action(self) -> _Actions | None:
        if self.accept("SUSPEND"):
            return (("SUSPEND", None),)
        if self.accept("RESUME"):
            return (("RESUME", self.options() if self.accept("WITH") else ()),)
        if self.accept("REFRESH"):
            return (("REFRESH", self.partition_values() if self.accept("PARTITION") else ()),)
        if self.accept("AS"):
            return (("AS", self._query_with_text()),)
        if self.accept("SET", "FRESHNESS"):
            self.expect("=")
            return (("FRESHNESS", self.expression()),)
        if self.accept("SET", "REFRESH_MODE"):
            self.expect("=")
            return (("REFRESH_MODE", self.expect_any(("FULL", "CONTINUOUS"))),)
        return None

    def _table_actions(self) -> _Actions:
        if self.accept("RENAME"):
            return (self._rename(),)
        if self.accept("SET"):
            return (("SET", self.options()),)
        if self.accept("RESET"):
            return (("RESET", self._keys()),)
        if self.accept("COMPACT"):
            return (("COMPACT", None),)
        if self.accept("ADD"):
            return self._add("ADD")
        if self.accept("MODIFY"):
            return self._add("MODIFY")
        if self.accept("DROP"):
            return (self._drop_part(),)
        words = ["RENAME", "SET", "RESET", "ADD", "MODIFY", "DROP", "COMPACT"]
        raise self.failure(", ".join(words[:-1]) + " or COMPACT", words)

    def _rename(self) -> tuple[str, Any]:
        if self.accept("TO"):
            return "RENAME", self.path("a new name")
        old = self.path("the name of a column")
        self.expect("TO")
        return "RENAME COLUMN", (old, self.path("a new name"))

    def _add(self, word: str) -> _Actions:
        if word == "ADD" and self.at_any(("PARTITION", "IF")):
            exists = self.if_not_exists()
            partitions = []
            while self.accept("PARTITION"):
                values = self.partition_values()
                partitions.append((values, self.options() if self.accept("WITH") else ()))
            return (("ADD PARTITION", (tuple(partitions), exists)),)
        if self.at_any(("DISTRIBUTION", "DISTRIBUTED")):
            return ((f"{word} DISTRIBUTION", self.distribution()),)
        parts = _TableParts()
        if self.accept("("):
            self.table_part(parts)
            while self.accept(","):
                self.table_part(parts)
            self.expect(")")
        else:
            self.table_part(parts)
        actions: list[tuple[str, Any]] = [(word, column) for column in parts.columns]
        if parts.watermark is not None:
            actions.append((f"{word} WATERMARK", parts.watermark))
        if parts.primary_key is not None:
            actions.append((f"{word} PRIMARY KEY", parts.primary_key))
        return tuple(actions)

    def _drop_part(self) -> tuple[str, Any]:
        if self.accept("PRIMARY"):
            self.expect("KEY")
            return "DROP PRIMARY KEY", None
        if self.accept("CONSTRAINT"):
            return "DROP CONSTRAINT", self.name("the name of a constraint")
        for word in ("WATERMARK", "DISTRIBUTION"):
            if self.at(word):
                self.take()
                return f"DROP {word}", None
        if self.at_any(("PARTITION", "IF")):
            exists = self.if_exists()
            partitions = []
            while self.accept("PARTITION"):
                partitions.append(self.partition_values())
                self.accept(",")
            return "DROP PARTITION", (tuple(partitions), exists)
        columns = (
            self.in_parentheses(lambda: self.path("the name of a column"))
            if self.at("(")
            else (self.path("the name of a column"),)
        )
        return "DROP", columns
