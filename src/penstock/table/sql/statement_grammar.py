"""A statement: which kind it is, those that change data, and those that wrap others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from penstock.table.sql import statements as st
from penstock.table.sql.utility_grammar import UtilityGrammar
from penstock.table.sql.words import Kind
from penstock.table.syntax.expressions import Expr

_EXPLAIN_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")


class StatementGrammar(UtilityGrammar):
    def statements(self) -> Iterator[st.Statement]:
        self.skip_semicolons()
        while self.peek().kind is not Kind.END:
            yield self.statement()
            if self.peek().kind is not Kind.END and not self.at(";"):
                raise self.failure("';' or the end of the statement")
            self.skip_semicolons()

    def statement(self) -> st.Statement:
        readers = self._readers()
        first = self.peek().upper
        if first in readers:
            return readers[first]()
        if self.at_any(("SELECT", "WITH", "VALUES", "(", "TABLE")):
            where = self.position
            return st.QueryStatement(self.query(), position=where)
        raise self.failure("the beginning of a statement, as SELECT, INSERT or CREATE", [*readers, "SELECT", "WITH"])

    def _readers(self) -> dict[str, Callable[[], st.Statement]]:
        return {
            "CREATE": self.create,
            "REPLACE": self.replace_table,
            "ALTER": self.alter,
            "DROP": self.drop,
            "INSERT": self._insert,
            "DELETE": self._delete,
            "UPDATE": self._update,
            "TRUNCATE": self._truncate,
            "CALL": self._procedure,
            "BEGIN": self._begin,
            "END": self._end,
            "EXECUTE": self._execute,
            "EXPLAIN": self._explain,
            "COMPILE": self._compile,
            "SHOW": self.show,
            "DESCRIBE": self.describe,
            "DESC": self.describe,
            "USE": self.use,
            "LOAD": self.load,
            "UNLOAD": self.unload,
            "SET": self.set_option,
            "RESET": self.reset_option,
            "ADD": self.jar,
            "REMOVE": self.jar,
            "ANALYZE": self.analyze,
            "STOP": self.stop_job,
        }

    def _insert(self) -> st.Statement:
        where = self.position
        self.expect("INSERT")
        overwrite = self.expect_any(("INTO", "OVERWRITE")) == "OVERWRITE"
        self.accept("TABLE")
        path = self.path("the name of a table")
        options = tuple(pair for hint in self.hints() if hint.name == "OPTIONS" for pair in hint.pairs)
        partition = self.partition_values() if self.accept("PARTITION") else ()
        columns: st.Path = ()
        if self.at("(") and not self.at_any(("SELECT", "WITH", "VALUES", "("), ahead=1):
            columns = self.in_parentheses(lambda: ".".join(self.path("the name of a column")))
        query = self.query()
        conflict = None
        if self.accept("ON"):
            self.expect("CONFLICT", "DO")
            conflict = self.expect_any(("ERROR", "NOTHING", "DEDUPLICATE"))
        return st.Insert(path, query, columns, partition, overwrite, options, conflict, position=where)

    def _delete(self) -> st.Statement:
        where = self.position
        self.expect("DELETE", "FROM")
        path = self.path("the name of a table")
        return st.Delete(path, self.expression() if self.accept("WHERE") else None, position=where)

    def _update(self) -> st.Statement:
        where = self.position
        self.expect("UPDATE")
        path = self.path("the name of a table")
        self.expect("SET")

        def assignment() -> tuple[str, Expr]:
            name = self.name("the name of a column")
            self.expect("=")
            return name, self.expression()

        assignments = self.list_of(assignment)
        condition = self.expression() if self.accept("WHERE") else None
        return st.Update(path, assignments, condition, position=where)

    def _truncate(self) -> st.Statement:
        where = self.position
        self.expect("TRUNCATE", "TABLE")
        return st.TruncateTable(self.path("the name of a table"), position=where)

    def _procedure(self) -> st.Statement:
        where = self.position
        self.expect("CALL")
        return st.CallProcedure(self.call(), position=where)

    def _begin(self) -> st.Statement:
        where = self.position
        self.expect("BEGIN", "STATEMENT", "SET")
        return st.BeginStatementSet(position=where)

    def _end(self) -> st.Statement:
        where = self.position
        self.expect("END")
        return st.EndStatementSet(position=where)

    def _execute(self) -> st.Statement:
        where = self.position
        self.expect("EXECUTE")
        if self.at("STATEMENT", "SET"):
            return self._statement_set()
        if self.accept("PLAN"):
            return st.ExecutePlan(self.text("the path of a plan in single quotes"), position=where)
        return self.statement()

    def _statement_set(self) -> st.Statement:
        where = self.position
        self.expect("STATEMENT", "SET", "BEGIN")
        inserts: list[st.Statement] = []
        while not self.at("END"):
            inserts.append(self._set_member())
            self.expect(";")
        self.expect("END")
        if not inserts:
            raise self.failure("'INSERT'", ["INSERT"])
        return st.StatementSet(tuple(inserts), position=where)

    def _set_member(self) -> st.Statement:
        if self.at("CREATE"):
            return self.create()
        if not self.at("INSERT"):
            raise self.failure("'INSERT' or 'END'", ["INSERT", "END"])
        return self._insert()

    def _explain(self) -> st.Statement:
        where = self.position
        self.expect("EXPLAIN")
        details: tuple[str, ...] = ()
        if self.accept("PLAN"):
            self.expect("FOR")
        elif self.at_any(_EXPLAIN_DETAILS):
            details = self.list_of(lambda: self.expect_any(_EXPLAIN_DETAILS))
        inner = self._statement_set() if self.at("STATEMENT", "SET") else self.statement()
        return st.Explain(inner, details, position=where)

    def _compile(self) -> st.Statement:
        where = self.position
        self.expect("COMPILE")
        execute = self.accept("AND")
        if execute:
            self.expect("EXECUTE")
        self.expect("PLAN")
        file = self.text("the path of a plan in single quotes")
        exists = self.if_not_exists()
        self.expect("FOR")
        start = self._index
        inner = self._statement_set() if self.at("STATEMENT", "SET") else self.statement()
        return st.CompilePlan(file, inner, exists, execute, text=self.since(start), position=where)
