"""What may stand after FROM: tables, functions, UNNEST, joins, time travel, hints, MATCH_RECOGNIZE."""

from __future__ import annotations

from penstock.table.sql.call_grammar import CallGrammar
from penstock.table.sql.words import Kind
from penstock.table.syntax.expressions import Call, Expr
from penstock.table.syntax.queries import (
    AliasedTable,
    DerivedTable,
    FunctionTable,
    Hint,
    Join,
    MatchRecognize,
    NamedTable,
    PatternNode,
    TableSource,
    UnnestTable,
)

_JOIN_STARTS = ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL")
_QUERY_STARTS = ("SELECT", "WITH", "VALUES")


class TableGrammar(CallGrammar):
    def hints(self) -> tuple[Hint, ...]:
        if not self.accept("/*+"):
            return ()
        found = [self._hint()]
        while not self.at("*/"):
            self.accept(",")
            found.append(self._hint())
        self.expect("*/")
        return tuple(found)

    def _hint(self) -> Hint:
        name = self.name("the name of a hint").upper()
        names: list[str] = []
        pairs: list[tuple[str, str]] = []
        if self.accept("("):
            while not self.accept(")"):
                self._hint_argument(names, pairs)
                if not self.at(")"):
                    self.expect(",")
        return Hint(name, tuple(names), tuple(pairs))

    def _hint_argument(self, names: list[str], pairs: list[tuple[str, str]]) -> None:
        word = self.peek()
        if word.kind is Kind.TEXT:
            self.take()
            key = word.text
        elif word.kind is Kind.NUMBER:
            key = self.take().text
        else:
            key = ".".join(self.path("an option"))
        if self.accept("="):
            value = self.take() if self.peek().kind is Kind.NUMBER else None
            pairs.append((key, value.text if value else self.text("the value of the option")))
        else:
            names.append(key)

    def table_list(self) -> TableSource:
        left = self._joined()
        while self.at(","):
            where = self.take().position
            left = Join("COMMA", left, self._joined(), position=where)
        return left

    def _joined(self) -> TableSource:
        left = self.table_reference()
        while self.at_any(_JOIN_STARTS):
            left = self._join(left)
        return left

    def _join(self, left: TableSource) -> TableSource:
        where = self.position
        natural = self.accept("NATURAL")
        kind = self.accept_any(("INNER", "LEFT", "RIGHT", "FULL", "CROSS")) or "INNER"
        if kind in ("LEFT", "RIGHT", "FULL"):
            self.accept("OUTER")
        self.expect("JOIN")
        right = self.table_reference()
        condition: Expr | None = None
        using: tuple[str, ...] = ()
        if kind != "CROSS" and not natural:
            if self.accept("ON"):
                condition = self.expression()
            elif self.accept("USING"):
                using = self.names_in_parentheses()
        return Join(kind, left, right, condition, using, natural, position=where)

    def table_reference(self) -> TableSource:
        """A table with whatever may follow it: MATCH_RECOGNIZE, an alias, names for its columns."""
        source = self.table_primary()
        source = self._alias(source)
        if self.at("MATCH_RECOGNIZE", "("):
            source = self._alias(self._match_recognize(source))
        return source

    def _alias(self, source: TableSource) -> TableSource:
        where = self.position
        if self.accept("AS"):
            name = self.name("a name for the table")
        elif self.at_name() and not self.at("MATCH_RECOGNIZE", "(") and not self.at("QUALIFY"):
            name = self.name()
        else:
            return source
        columns = self.names_in_parentheses() if self.at("(") else ()
        return AliasedTable(source, name, columns, position=where)

    def table_primary(self) -> TableSource:
        where = self.position
        if self.accept("LATERAL"):
            if self.accept("TABLE"):
                return FunctionTable(self._function_in_parentheses(), True, position=where)
            self.expect("(")
            query = self.query()
            self.expect(")")
            return DerivedTable(query, True, position=where)
        if self.at("TABLE", "("):
            self.expect("TABLE")
            return FunctionTable(self._function_in_parentheses(), position=where)
        if self.at("UNNEST", "("):
            self.take()
            operands = self.in_parentheses(self.expression)
            ordinality = self.accept("WITH", "ORDINALITY")
            return UnnestTable(operands, ordinality, position=where)
        if self.at("("):
            return self._parenthesized_table()
        if self._at_function():
            return FunctionTable(self._function(), position=where)
        self.accept("TABLE")
        path = self.path("the name of a table")
        hints = self.hints()
        snapshot = None
        if self.accept("FOR", "SYSTEM_TIME", "AS", "OF"):
            snapshot = self.expression()
        return NamedTable(path, hints or self.hints(), snapshot, position=where)

    def _at_function(self) -> bool:
        return self.at("(", ahead=1) and (self.at_name() or self.at_any(("TUMBLE", "HOP", "SESSION", "CUMULATE")))

    def _function(self) -> Call:
        found = self.call()
        if not isinstance(found, Call):
            raise self.refuse("Expected a table function", found.position)
        return found

    def _function_in_parentheses(self) -> Call:
        self.expect("(")
        found = self._function()
        self.expect(")")
        return found

    def _parenthesized_table(self) -> TableSource:
        where = self.position
        self.expect("(")
        if self.at_any(_QUERY_STARTS) or (self.at("(") and self._query_behind_parentheses()):
            source: TableSource = DerivedTable(self.query(), position=where)
        else:
            source = self._joined()
        self.expect(")")
        return source

    def _match_recognize(self, source: TableSource) -> TableSource:
        where = self.position
        self.expect("MATCH_RECOGNIZE", "(")
        partition = self.list_of(self.expression) if self.accept("PARTITION", "BY") else ()
        order = self.list_of(self.order_item) if self.accept("ORDER", "BY") else ()
        measures = self.list_of(self._measure) if self.accept("MEASURES") else ()
        rows = self._rows_per_match()
        after = self._after_match()
        self.expect("PATTERN")
        self.expect("(")
        pattern = self._pattern_choice()
        self.expect(")")
        within = self.expression() if self.accept("WITHIN") else None
        subsets = self.list_of(self._subset) if self.accept("SUBSET") else ()
        self.expect("DEFINE")
        defines = self.list_of(self._definition)
        self.expect(")")
        return MatchRecognize(
            source, partition, order, measures, pattern, defines, rows, after, within, subsets, position=where
        )

    def _measure(self) -> tuple[Expr, str]:
        expression = self.expression()
        self.expect("AS")
        return expression, self.name("a name for the measure")

    def _rows_per_match(self) -> str:
        kind = self.accept_any(("ONE", "ALL"))
        if kind is None:
            return "ONE"
        self.expect_any(("ROW", "ROWS"))
        self.expect("PER", "MATCH")
        return kind

    def _after_match(self) -> tuple[str, str | None]:
        if not self.accept("AFTER"):
            return ("TO NEXT ROW", None)  # as Flink takes it; the standard would skip past the last row
        self.expect("MATCH", "SKIP")
        if self.accept("PAST"):
            self.expect("LAST", "ROW")
            return ("PAST LAST ROW", None)
        self.expect("TO")
        if self.accept("NEXT"):
            self.expect("ROW")
            return ("TO NEXT ROW", None)
        end = self.accept_any(("FIRST", "LAST")) or "LAST"
        return (f"TO {end}", self.name("a variable of the pattern"))

    def _subset(self) -> tuple[str, tuple[str, ...]]:
        name = self.name("a name for the subset")
        self.expect("=")
        return name, self.names_in_parentheses("a variable of the pattern")

    def _definition(self) -> tuple[str, Expr]:
        name = self.name("a variable of the pattern")
        self.expect("AS")
        return name, self.expression()

    def _pattern_choice(self) -> PatternNode:
        choices = [self._pattern_sequence()]
        while self.accept("|"):
            choices.append(self._pattern_sequence())
        return choices[0] if len(choices) == 1 else PatternNode("choice", None, tuple(choices))

    def _pattern_sequence(self) -> PatternNode:
        parts = [self._pattern_factor()]
        while not self.at_any((")", "|", "-")):
            parts.append(self._pattern_factor())
        return parts[0] if len(parts) == 1 else PatternNode("sequence", None, tuple(parts))

    def _pattern_factor(self) -> PatternNode:
        part = self._pattern_primary()
        least, most = self._quantifier()
        if (least, most) == (1, 1):
            return part
        greedy = not self.accept("?")
        return PatternNode(part.kind, part.name, part.children, least, most, greedy)

    def _pattern_primary(self) -> PatternNode:
        if self.accept("("):
            if self.accept(")"):
                return PatternNode("empty")
            inner = self._pattern_choice()
            self.expect(")")
            return PatternNode("sequence", None, (inner,)) if (inner.least, inner.most) != (1, 1) else inner
        if self.accept("PERMUTE"):
            return PatternNode("permute", None, self.in_parentheses(self._pattern_choice))
        if self.accept("{", "-"):
            inner = self._pattern_choice()
            self.expect("-", "}")
            return PatternNode("exclude", None, (inner,))
        return PatternNode("name", self.name("a variable of the pattern"))

    def _quantifier(self) -> tuple[int, int | None]:
        sign = self.accept_any("*+?")
        if sign is not None:
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        if not self.at("{") or self.at("{", "-"):
            return 1, 1
        self.expect("{")
        least = 0 if self.at(",") else self.whole_number()
        most: int | None = least
        if self.accept(","):
            most = None if self.at("}") else self.whole_number()
        self.expect("}")
        return least, most
