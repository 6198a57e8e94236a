"""CREATE and DROP, and the pieces of which tables are made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.table.sql import statements as st
from penstock.table.sql.query_grammar import QueryGrammar
from penstock.table.sql.words import Kind
from penstock.table.syntax.expressions import Expr

_LIKE_FEATURES = (
    "ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS",
)  # fmt: skip
_LIKE_STRATEGIES = ("INCLUDING", "EXCLUDING", "OVERWRITING")
_DROP_KINDS = ("TABLE", "VIEW", "FUNCTION", "CATALOG", "DATABASE", "MODEL", "CONNECTION", "MATERIALIZED")


class _TableParts:
    """Collects what stands between the parentheses of CREATE TABLE, or after ADD and MODIFY."""

    def __init__(self) -> None:
        self.columns: list[st.AnyColumn] = []
        self.names: list[str] = []
        self.watermark: st.Watermark | None = None
        self.primary_key: st.PrimaryKey | None = None


class CreateGrammar(QueryGrammar):
    def options(self, what: str = "the key of an option in single quotes") -> st.Options:
        """`('connector' = 'kafka', ..)`; empty parentheses are fine."""
        self.expect("(")
        pairs: list[tuple[str, str]] = []
        while not self.accept(")"):
            if pairs:
                self.expect(",")
            key = self.text(what)
            self.expect("=")
            pairs.append((key, self.text(f"the value of '{key}' in single quotes")))
        return tuple(pairs)

    def comment(self) -> str | None:
        return self.text("the comment in single quotes") if self.accept("COMMENT") else None

    def if_not_exists(self) -> bool:
        if self.accept("IF"):
            self.expect("NOT", "EXISTS")
            return True
        return False

    def if_exists(self) -> bool:
        if self.accept("IF"):
            self.expect("EXISTS")
            return True
        return False

    def create(self) -> st.Statement:
        where = self.position
        self.expect("CREATE")
        or_word = self.expect_any(("REPLACE", "ALTER")) if self.accept("OR") else None
        temporary = self.accept("TEMPORARY")
        system = temporary and self.accept("SYSTEM")
        if self.accept("TABLE"):
            return self._create_table(temporary, or_word == "REPLACE", where)
        if self.accept("MATERIALIZED"):
            self.expect("TABLE")
            return self._create_materialized(or_word == "ALTER", where)
        kind = self.expect_any(("VIEW", "FUNCTION", "CATALOG", "DATABASE", "MODEL", "CONNECTION", "TABLE"))
        exists = self.if_not_exists()
        match kind:
            case "VIEW":
                return self._create_view(temporary, exists, where)
            case "FUNCTION":
                return self._create_function(temporary, system, exists, where)
            case "MODEL":
                return self._create_model(temporary, exists, where)
            case "CATALOG":
                name, comment = self.name("the name of a catalog"), self.comment()
                options = self.options() if self.accept("WITH") else ()
                return st.CreateCatalog(name, options, comment or self.comment(), exists, position=where)
        path, comment = self.path(f"the name of a {kind.lower()}"), self.comment()
        options = self.options() if self.accept("WITH") else ()
        if kind == "DATABASE":
            return st.CreateDatabase(path, options, comment, exists, position=where)
        return st.CreateConnection(path, options, comment, temporary, exists, position=where)

    def replace_table(self) -> st.Statement:
        where = self.position
        self.expect("REPLACE", "TABLE")
        return replace(self._create_table(False, True, where), must_exist=True)

    def _create_table(self, temporary: bool, replaces: bool, where: Any) -> st.CreateTable:
        exists = self.if_not_exists()
        path = self.path("the name of a table")
        body = self._table_body()
        like = self._like() if self.accept("LIKE") else None
        query = self.query() if self.accept("AS") else None
        return st.CreateTable(path, body, temporary, exists, like, query, replaces, position=where)

    def _create_materialized(self, or_alter: bool, where: Any) -> st.Statement:
        self.if_not_exists()
        path = self.path("the name of a materialized table")
        body = self._table_body()
        freshness: Expr | None = None
        if self.accept("FRESHNESS"):
            self.expect("=")
            freshness = self.expression()
        mode = None
        if self.accept("REFRESH_MODE"):
            self.expect("=")
            mode = self.expect_any(("FULL", "CONTINUOUS"))
        self.expect("AS")
        query, text = self._query_with_text()
        return st.CreateMaterializedTable(path, body, query, text, freshness, mode, or_alter, position=where)

    def _query_with_text(self) -> tuple[Any, str]:
        start = self._index
        query = self.query()
        return query, self.since(start)

    def _table_body(self) -> st.TableBody:
        parts = _TableParts()
        if self.at("("):
            self.expect("(")
            while not self.accept(")"):
                self.table_part(parts)
                if not self.at(")"):
                    self.expect(",")
        comment = self.comment()
        distribution = self.distribution() if self.at_any(("DISTRIBUTED", "DISTRIBUTION")) else None
        partitioned: st.Path = ()
        if self.accept("PARTITIONED"):
            self.expect("BY")
            partitioned = self.names_in_parentheses()
        if distribution is None and self.at_any(("DISTRIBUTED", "DISTRIBUTION")):
            distribution = self.distribution()
        options = self.options() if self.accept("WITH") else ()
        return st.TableBody(
            tuple(parts.columns), tuple(parts.names), parts.watermark, parts.primary_key, comment, distribution,
            partitioned, options,
        )  # fmt: skip

    def distribution(self) -> st.Distribution:
        self.expect_any(("DISTRIBUTED", "DISTRIBUTION"))
        kind: str | None = None
        columns: st.Path = ()
        buckets: int | None = None
        if self.accept("BY"):
            kind = self.accept_any(("HASH", "RANGE"))
            columns = self.names_in_parentheses()
        if self.accept("INTO"):
            buckets = self.whole_number("the number of buckets")
            self.expect("BUCKETS")
        return st.Distribution(kind, columns, buckets)

    def table_part(self, parts: _TableParts) -> None:
        """A column, WATERMARK FOR, or PRIMARY KEY."""
        if self.at("WATERMARK", "FOR"):
            parts.watermark = self.watermark()
        elif self.at("PRIMARY", "KEY") or self.at("CONSTRAINT") or self.at("UNIQUE"):
            parts.primary_key = self.primary_key()
        else:
            self._column(parts)

    def watermark(self) -> st.Watermark:
        self.expect("WATERMARK", "FOR")
        column = self.path("the name of a column")
        self.expect("AS")
        start = self._index
        expression = self.expression()
        return st.Watermark(column, expression, self.since(start))

    def primary_key(self) -> st.PrimaryKey:
        name = self.name("the name of a constraint") if self.accept("CONSTRAINT") else None
        if self.at("UNIQUE"):
            raise self.refuse("UNIQUE constraints are not supported: only PRIMARY KEY .. NOT ENFORCED is")
        self.expect("PRIMARY", "KEY")
        columns = self.names_in_parentheses()
        return st.PrimaryKey(columns, name, self._enforced())

    def _enforced(self) -> bool:
        if self.accept("NOT"):
            self.expect("ENFORCED")
            return False
        return self.accept("ENFORCED") or True

    def _column(self, parts: _TableParts) -> None:
        where = self.position
        name = self.name("the name of a column")
        if self.at_any((",", ")")):
            parts.names.append(name)
            return
        if self.accept("AS"):
            start = self._index
            expression = self.expression()
            text = self.since(start)
            parts.columns.append(st.ComputedColumn(name, expression, text, self.comment(), self._place()))
            return
        data_type = self.data_type()
        if self.accept("METADATA"):
            key = self.text("the key of the metadata in single quotes") if self.accept("FROM") else None
            virtual = self.accept("VIRTUAL")
            parts.columns.append(st.MetadataColumn(name, data_type, key, virtual, self.comment(), self._place()))
            return
        if self.at("CONSTRAINT") or self.at("PRIMARY", "KEY"):
            constraint = self.name("the name of a constraint") if self.accept("CONSTRAINT") else None
            self.expect("PRIMARY", "KEY")
            if parts.primary_key is not None:
                raise self.refuse("A table can have only one primary key", where)
            parts.primary_key = st.PrimaryKey((name,), constraint, self._enforced())
        parts.columns.append(st.Column(name, data_type, self.comment(), self._place()))

    def _place(self) -> str | None:
        if self.accept("FIRST"):
            return "FIRST"
        return "AFTER " + self.name("the name of a column") if self.accept("AFTER") else None

    def _like(self) -> st.LikeClause:
        path = self.path("the name of a table")
        options: list[tuple[str, str]] = []
        if self.accept("("):
            while not self.accept(")"):
                strategy = self.expect_any(_LIKE_STRATEGIES)
                options.append((strategy, self.expect_any(_LIKE_FEATURES)))
                self.accept(",")
        return st.LikeClause(path, tuple(options))

    def _create_view(self, temporary: bool, exists: bool, where: Any) -> st.Statement:
        path = self.path("the name of a view")
        columns = self.names_in_parentheses() if self.at("(") else ()
        comment = self.comment()
        self.expect("AS")
        query, text = self._query_with_text()
        return st.CreateView(path, query, text, columns, comment, temporary, exists, position=where)

    def _create_function(self, temporary: bool, system: bool, exists: bool, where: Any) -> st.Statement:
        path = self.path("the name of a function")
        self.expect("AS")
        class_name = self.text("the class of the function in single quotes")
        language = self.expect_any(("PYTHON", "JAVA", "SCALA")) if self.accept("LANGUAGE") else None
        resources: list[tuple[str, str]] = []
        if self.accept("USING"):
            resources.append(self._resource())
            while self.accept(","):
                resources.append(self._resource())
        options = self.options() if self.accept("WITH") else ()
        return st.CreateFunction(
            path, class_name, language, tuple(resources), options, temporary, system, exists, position=where
        )

    def _resource(self) -> tuple[str, str]:
        return self.expect_any(("JAR", "FILE", "ARCHIVE")), self.text("a path in single quotes")

    def _create_model(self, temporary: bool, exists: bool, where: Any) -> st.Statement:
        path = self.path("the name of a model")
        inputs = self._model_columns() if self.accept("INPUT") else ()
        outputs = self._model_columns() if self.accept("OUTPUT") else ()
        comment = self.comment()
        options = self.options() if self.accept("WITH") else ()
        query = self.query() if self.accept("AS") else None
        return st.CreateModel(path, inputs, outputs, comment, options, query, temporary, exists, position=where)

    def _model_columns(self) -> tuple[st.Column, ...]:
        def column() -> st.Column:
            name = self.name("the name of a column")
            data_type = self.data_type()
            return st.Column(name, data_type, self.comment())

        return self.in_parentheses(column)

    def drop(self) -> st.Statement:
        where = self.position
        self.expect("DROP")
        temporary = self.accept("TEMPORARY")
        system = temporary and self.accept("SYSTEM")
        kind = self.expect_any(_DROP_KINDS)
        if kind == "MATERIALIZED":
            self.expect("TABLE")
            kind = "MATERIALIZED TABLE"
        exists = self.if_exists()
        path = self.path(f"the name of a {kind.lower()}")
        cascade = kind == "DATABASE" and self.accept_any(("RESTRICT", "CASCADE")) == "CASCADE"
        return st.Drop(kind, path, temporary, system, exists, cascade, position=where)

    def partition_values(self, every_value: bool = True) -> tuple[tuple[str, Any], ...]:
        """`(day = '2024-01-01', hour)`: a key without a value stands for all values, where that is allowed."""

        def pair() -> tuple[str, Any]:
            key = self.name("the name of a partition column")
            if not every_value and not self.at("="):
                return key, None
            self.expect("=")
            if self.peek().kind is Kind.TEXT:
                return key, self.text()
            return key, self.expression()

        return self.in_parentheses(pair)
