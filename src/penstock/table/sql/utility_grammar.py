"""Statements that look or steer: SHOW, DESCRIBE, USE, SET, modules, jars, statistics, jobs."""

from __future__ import annotations

from penstock.table.sql import statements as st
from penstock.table.sql.alter_grammar import AlterGrammar
from penstock.table.sql.words import Kind

# What SHOW can list: its words, and what may follow (f: FROM or IN, l: LIKE, L: also ILIKE, n: a name, p: PARTITION).
_SHOWS: tuple[tuple[str, str], ...] = (
    ("CURRENT CATALOG", ""),
    ("CURRENT DATABASE", ""),
    ("CATALOGS", "L"),
    ("DATABASES", "fL"),
    ("TABLES", "fL"),
    ("VIEWS", "fL"),
    ("MATERIALIZED TABLES", "fL"),
    ("FUNCTIONS", "fL"),
    ("USER FUNCTIONS", "fL"),
    ("PROCEDURES", "fL"),
    ("MODELS", "fL"),
    ("CONNECTIONS", "fL"),
    ("COLUMNS", "fL"),
    ("PARTITIONS", "np"),
    ("MODULES", ""),
    ("FULL MODULES", ""),
    ("JARS", ""),
    ("JOBS", ""),
    ("CREATE TABLE", "n"),
    ("CREATE VIEW", "n"),
    ("CREATE CATALOG", "n"),
    ("CREATE MATERIALIZED TABLE", "n"),
    ("CREATE MODEL", "n"),
    ("CREATE FUNCTION", "n"),
)
_DESCRIBED = ("CATALOG", "DATABASE", "FUNCTION", "MODEL", "CONNECTION")


class UtilityGrammar(AlterGrammar):
    def show(self) -> st.Statement:
        where = self.position
        self.expect("SHOW")
        for kind, rest in _SHOWS:
            if self.accept(*kind.split()):
                return self._shown(kind, rest, where)
        starts = [kind for kind, _ in _SHOWS]
        raise self.failure("what to show, as TABLES or FUNCTIONS", [kind.split()[0] for kind in starts])

    def _shown(self, kind: str, rest: str, where: object) -> st.Statement:
        values: dict[str, object] = {"position": where}
        if "n" in rest:
            values["path"] = self.path("a name")
        preposition = self.accept_any(("FROM", "IN")) if "f" in rest else None
        if preposition is not None:
            values.update(preposition=preposition, path=self.path("a name"))
        elif kind == "COLUMNS":
            raise self.failure("'FROM' or 'IN'", ["FROM", "IN"])
        if "p" in rest and self.accept("PARTITION"):
            values["partition"] = self.partition_values()
        if "L" in rest:
            values["negated"] = self.accept("NOT")
            like_kind = self.accept_any(("LIKE", "ILIKE"))
            if like_kind is not None:
                values.update(like_kind=like_kind, like=self.text("a pattern in single quotes"))
            elif values["negated"]:
                raise self.failure("'LIKE' or 'ILIKE'", ["LIKE", "ILIKE"])
        return st.Show(kind, **values)  # type: ignore[arg-type]

    def describe(self) -> st.Statement:
        where = self.position
        self.expect_any(("DESCRIBE", "DESC"))
        if self.accept("JOB"):
            return st.Describe("JOB", (self.text("the id of a job in single quotes"),), position=where)
        kind = "TABLE"
        if self.at_any(_DESCRIBED) and (self.at_name(1) or self.at("EXTENDED", ahead=1)):
            kind = self.take().upper
        extended = self.accept("EXTENDED")
        return st.Describe(kind, self.path("a name"), extended, position=where)

    def use(self) -> st.Statement:
        where = self.position
        self.expect("USE")
        if self.accept("CATALOG"):
            return st.UseCatalog(self.name("the name of a catalog"), position=where)
        if self.accept("MODULES"):
            return st.UseModules(self.list_of(lambda: self.name("the name of a module")), position=where)
        return st.UseDatabase(self.path("the name of a database"), position=where)

    def load(self) -> st.Statement:
        where = self.position
        self.expect("LOAD", "MODULE")
        name = self.name("the name of a module")
        options = self.options() if self.accept("WITH") else ()
        return st.LoadModule(name, options, position=where)

    def unload(self) -> st.Statement:
        where = self.position
        self.expect("UNLOAD", "MODULE")
        return st.UnloadModule(self.name("the name of a module"), position=where)

    def set_option(self) -> st.Statement:
        where = self.position
        self.expect("SET")
        if self._at_end():
            return st.SetOption(position=where)
        key = self._option_key()
        self.expect("=")
        return st.SetOption(key, self._option_value(), position=where)

    def reset_option(self) -> st.Statement:
        where = self.position
        self.expect("RESET")
        return st.ResetOption(None if self._at_end() else self._option_key(), position=where)

    def _at_end(self) -> bool:
        return self.peek().kind is Kind.END or self.at(";")

    def _option_key(self) -> str:
        if self.peek().kind is Kind.TEXT:
            return self.text()
        start = self._index
        while not self._at_end() and not self.at("="):
            self.take()
        if self._index == start:
            raise self.failure("the key of an option in single quotes")
        return self.since(start)

    def _option_value(self) -> str:
        """In quotes, or, as old scripts write it, everything up to the end."""
        if self.peek().kind is Kind.TEXT:
            return self.text()
        start = self._index
        while not self._at_end():
            self.take()
        if self._index == start:
            raise self.failure("the value of the option in single quotes")
        return self.since(start)

    def jar(self) -> st.Statement:
        where = self.position
        action = self.expect_any(("ADD", "REMOVE"))
        self.expect("JAR")
        return st.JarStatement(action, self.text("the path of a jar in single quotes"), position=where)

    def analyze(self) -> st.Statement:
        where = self.position
        self.expect("ANALYZE", "TABLE")
        path = self.path("the name of a table")
        partition = self.partition_values(every_value=False) if self.accept("PARTITION") else ()
        self.expect("COMPUTE", "STATISTICS")
        columns: st.Path = ()
        all_columns = False
        if self.accept("FOR"):
            all_columns = self.accept("ALL")
            self.expect("COLUMNS")
            if not all_columns:
                columns = self.list_of(lambda: self.name("the name of a column"))
        return st.AnalyzeTable(path, partition, columns, all_columns, position=where)

    def stop_job(self) -> st.Statement:
        where = self.position
        self.expect("STOP", "JOB")
        job_id = self.text("the id of a job in single quotes")
        savepoint = drain = False
        while self.accept("WITH"):
            if self.expect_any(("SAVEPOINT", "DRAIN")) == "DRAIN":
                drain = True
            else:
                savepoint = True
        return st.StopJob(job_id, savepoint, drain, position=where)
