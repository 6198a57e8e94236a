"""Queries: WITH, SELECT with its clauses, set operations, VALUES, ORDER BY and LIMIT."""

from __future__ import annotations

from penstock.columns.typesystem.scalars import IntType
from penstock.table.sql.table_grammar import TableGrammar
from penstock.table.sql.words import Kind
from penstock.table.syntax.expressions import Aliased, Call, Expr, Literal, WindowSpec
from penstock.table.syntax.queries import (
    CommonTable,
    GroupingSet,
    NamedTable,
    Ordered,
    Query,
    Select,
    SetOperation,
    TableQuery,
    ValuesQuery,
    With,
)


class QueryGrammar(TableGrammar):
    def query(self) -> Query:
        where = self.position
        tables: tuple[CommonTable, ...] = ()
        if self.accept("WITH"):
            tables = self.list_of(self._common_table)
        query = self._ordered()
        return With(tables, query, position=where) if tables else query

    def _common_table(self) -> CommonTable:
        name = self.name("the name of a table expression")
        columns = self.names_in_parentheses() if self.at("(") else ()
        self.expect("AS", "(")
        query = self.query()
        self.expect(")")
        return CommonTable(name, columns, query)

    def _ordered(self) -> Query:
        where = self.position
        query = self._united()
        order_by = self.list_of(self.order_item) if self.accept("ORDER", "BY") else ()
        offset = limit = None
        while True:
            if offset is None and self.accept("OFFSET"):
                offset = self.expression()
                self.accept_any(("ROW", "ROWS"))
            elif limit is None and self.accept("LIMIT"):
                limit = None if self.accept("ALL") else self.expression()
                if limit is None:
                    break
                if self.accept(","):
                    offset, limit = limit, self.expression()
            elif limit is None and self.accept("FETCH"):
                self.expect_any(("FIRST", "NEXT"))
                one = Literal(1, IntType(False), position=self.position)
                limit = one if self.at_any(("ROW", "ROWS")) else self.expression()
                self.expect_any(("ROW", "ROWS"))
                self.expect("ONLY")
            else:
                break
        if not order_by and offset is None and limit is None:
            return query
        return Ordered(query, order_by, offset, limit, position=where)

    def _united(self) -> Query:
        left = self._intersected()
        while self.at_any(("UNION", "EXCEPT", "MINUS")):
            word = self.take()
            keep_all = self.accept("ALL")
            if not keep_all:
                self.accept("DISTINCT")
            kind = "EXCEPT" if word.upper == "MINUS" else word.upper
            left = SetOperation(kind, keep_all, left, self._intersected(), position=word.position)
        return left

    def _intersected(self) -> Query:
        left = self._simple()
        while self.at("INTERSECT"):
            word = self.take()
            keep_all = self.accept("ALL")
            if not keep_all:
                self.accept("DISTINCT")
            left = SetOperation("INTERSECT", keep_all, left, self._simple(), position=word.position)
        return left

    def _simple(self) -> Query:
        where = self.position
        if self.accept("("):
            query = self.query()
            self.expect(")")
            return query
        if self.accept("VALUES"):
            return ValuesQuery(self.list_of(self._values_row), position=where)
        if self.accept("TABLE"):
            return TableQuery(NamedTable(self.path("the name of a table"), position=where), position=where)
        if self.at("SELECT"):
            return self._select()
        raise self.failure("a query (SELECT, WITH, VALUES or a parenthesis)", ["SELECT", "WITH", "VALUES"])

    def _values_row(self) -> tuple[Expr, ...]:
        item = self.expression()
        if isinstance(item, Call) and item.function == "row":
            return item.arguments
        return (item,)

    def _select(self) -> Query:
        where = self.position
        self.expect("SELECT")
        hints = self.hints()
        self.accept("STREAM")
        distinct = self.accept("DISTINCT")
        if not distinct:
            self.accept("ALL")
        items = self.list_of(self.select_item)
        source = self.table_list() if self.accept("FROM") else None
        condition = self.expression() if self.accept("WHERE") else None
        group_by = self._group_by() if self.accept("GROUP", "BY") else None
        having = self.expression() if self.accept("HAVING") else None
        windows: tuple[tuple[str, WindowSpec], ...] = ()
        if self.accept("WINDOW"):
            windows = self.list_of(self._window_definition)
        qualify = self.expression() if self.accept("QUALIFY") else None
        return Select(items, source, condition, group_by, having, windows, qualify, distinct, hints, position=where)

    def select_item(self) -> Expr:
        where = self.position
        item = self.expression()
        if self.accept("AS"):
            if self.at("("):
                return Aliased(item, self.names_in_parentheses(), position=where)
            if self.peek().kind is Kind.TEXT:
                raise self.failure("a name (in backticks, not in quotes)")
            return Aliased(item, (self.name("a name for the column"),), position=where)
        if self.at_name():
            return Aliased(item, (self.name(),), position=where)
        return item

    def _window_definition(self) -> tuple[str, WindowSpec]:
        name = self.name("the name of a window")
        self.expect("AS")
        return name, self.window_spec()

    def _group_by(self) -> tuple[Expr | GroupingSet, ...]:
        self.accept("DISTINCT") or self.accept("ALL")
        return self.list_of(self._group_item)

    def _group_item(self) -> Expr | GroupingSet:
        found = self._grouping_sets()
        if found is not None:
            return found
        if self.at("(", ")"):
            self.expect("(", ")")
            return GroupingSet("SETS", ((),))
        return self.expression()

    def _grouping_sets(self) -> GroupingSet | None:
        for words, kind in ((("GROUPING", "SETS"), "SETS"), (("ROLLUP",), "ROLLUP"), (("CUBE",), "CUBE")):
            if self.at(*words, "("):
                self.expect(*words)
                return GroupingSet(kind, self.in_parentheses(self._grouping_element))
        return None

    def _grouping_element(self) -> GroupingSet | tuple[Expr, ...]:
        found = self._grouping_sets()
        if found is not None:
            return found
        if self.at("(", ")"):
            self.expect("(", ")")
            return ()
        item = self.expression()
        if isinstance(item, Call) and item.function == "row":
            return item.arguments
        return (item,)
