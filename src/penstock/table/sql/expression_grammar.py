"""Expressions by precedence, from OR down to what binds tightest; Calcite's order, which Flink uses."""

from __future__ import annotations

from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import DayTimeIntervalType, YearMonthIntervalType
from penstock.columns.typesystem.type_text import parse_type
from penstock.table.sql import literals
from penstock.table.sql.cursor import Cursor
from penstock.table.sql.words import Kind
from penstock.table.syntax.expressions import (
    Call,
    Case,
    CastTo,
    ExistsQuery,
    Expr,
    FieldOf,
    InQuery,
    Literal,
    Name,
    QuantifiedQuery,
    ScalarQuery,
    Star,
)
from penstock.table.syntax.position import Position
from penstock.table.syntax.queries import Query

_COMPARISONS = {
    "=": "equals",
    "<>": "notEquals",
    "<": "lessThan",
    "<=": "lessThanOrEqual",
    ">": "greaterThan",
    ">=": "greaterThanOrEqual",
}
_TRUTHS = {"NULL": "Null", "TRUE": "True", "FALSE": "False", "UNKNOWN": "Null"}
_JSON_KINDS = ("VALUE", "SCALAR", "ARRAY", "OBJECT")
_QUERY_STARTS = ("SELECT", "WITH", "VALUES")
INTERVAL_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")


class ExpressionGrammar(Cursor):
    """Calls with a syntax of their own are in CallGrammar, queries in QueryGrammar."""

    def query(self) -> Query:
        raise NotImplementedError

    def call(self) -> Expr:
        raise NotImplementedError

    def at_call(self) -> bool:
        raise NotImplementedError

    def expression(self) -> Expr:
        left = self._conjunction()
        while self.at("OR"):
            where = self.take().position
            left = Call("or", (left, self._conjunction()), position=where)
        return left

    def _conjunction(self) -> Expr:
        left = self._negation()
        while self.at("AND"):
            where = self.take().position
            left = Call("and", (left, self._negation()), position=where)
        return left

    def _negation(self) -> Expr:
        if self.at("NOT") and not self.at("NOT", "EXISTS"):
            where = self.take().position
            return Call("not", (self._negation(),), position=where)
        if self.at("NOT"):
            where = self.take().position
            return Call("not", (self._judged(),), position=where)
        return self._judged()

    def _judged(self) -> Expr:
        """IS [NOT] NULL, TRUE, FALSE, UNKNOWN, JSON: after a whole comparison."""
        left = self._comparison()
        while self.at("IS") and not self.at("IS", "DISTINCT") and not self.at("IS", "NOT", "DISTINCT"):
            where = self.take().position
            negated = self.accept("NOT")
            if self.accept("JSON"):
                kind = self.accept_any(_JSON_KINDS) or "VALUE"
                test: Expr = Call("IS_JSON", (left,), options=(("kind", kind),), position=where)
                left = Call("not", (test,), position=where) if negated else test
                continue
            truth = self.expect_any([*_TRUTHS, "DISTINCT", "JSON"])
            left = Call(f"is{'Not' if negated else ''}{_TRUTHS[truth]}", (left,), position=where)
        return left

    def _comparison(self) -> Expr:
        left = self._range()
        while True:
            where = self.position
            sign = self.accept_any(_COMPARISONS)
            if sign is not None:
                left = self._compared(left, _COMPARISONS[sign], where)
            elif self.peek().upper == "!=":
                raise self.refuse("Flink knows no '!=': write '<>'")
            elif self.accept("IS", "DISTINCT", "FROM"):
                left = Call("isDistinctFrom", (left, self._range()), position=where)
            elif self.accept("IS", "NOT", "DISTINCT", "FROM"):
                left = Call("isNotDistinctFrom", (left, self._range()), position=where)
            else:
                return left

    def _compared(self, left: Expr, comparison: str, where: Position) -> Expr:
        if self.at_any(("ALL", "ANY", "SOME")) and self.at("(", ahead=1):
            quantifier = self.take().upper
            self.expect("(")
            query = self.query()
            self.expect(")")
            return QuantifiedQuery(left, comparison, "ALL" if quantifier == "ALL" else "ANY", query, position=where)
        return Call(comparison, (left, self._range()), position=where)

    def _range(self) -> Expr:
        left = self._additive()
        while True:
            where = self.position
            negated = self.at("NOT") and self.at_any(("IN", "BETWEEN", "LIKE", "SIMILAR"), ahead=1)
            if negated:
                self.take()
            if self.accept("IN"):
                left = self._membership(left, negated, where)
                continue
            if self.accept("BETWEEN"):
                test = self._between(left, where)
            elif self.accept("LIKE"):
                test = self._pattern("LIKE", left, where)
            elif self.accept("SIMILAR"):
                self.expect("TO")
                test = self._pattern("similar", left, where)
            elif self.accept("OVERLAPS"):
                test = self._overlaps(left, where)
            else:
                return left
            left = Call("not", (test,), position=where) if negated else test

    def _membership(self, left: Expr, negated: bool, where: Position) -> Expr:
        self.expect("(")
        if self.at_any(_QUERY_STARTS):
            query = self.query()
            self.expect(")")
            operands = left.arguments if isinstance(left, Call) and left.function == "row" else (left,)
            return InQuery(operands, query, negated, position=where)
        members = self.list_of(self.expression)
        self.expect(")")
        test = Call("in", (left, *members), position=where)
        return Call("not", (test,), position=where) if negated else test

    def _between(self, left: Expr, where: Position) -> Expr:
        symmetric = self.accept("SYMMETRIC")
        if not symmetric:
            self.accept("ASYMMETRIC")
        low = self._additive()
        self.expect("AND")
        bounds = (left, low, self._additive())
        return Call("betweenSymmetric" if symmetric else "between", bounds, position=where)

    def _pattern(self, function: str, left: Expr, where: Position) -> Expr:
        operands = [left, self._additive()]
        if self.accept("ESCAPE"):
            operands.append(self._additive())
        return Call(function, tuple(operands), position=where)

    def _overlaps(self, left: Expr, where: Position) -> Expr:
        right = self._additive()
        operands: list[Expr] = []
        for side in (left, right):
            if not (isinstance(side, Call) and side.function == "row" and len(side.arguments) == 2):
                raise self.refuse("OVERLAPS compares two pairs: (start, end) OVERLAPS (start, end)", where)
            operands.extend(side.arguments)
        return Call("temporalOverlaps", tuple(operands), position=where)

    def _additive(self) -> Expr:
        left = self._multiplicative()
        while self.at_any("+-"):
            word = self.take()
            function = "plus" if word.text == "+" else "minus"
            left = Call(function, (left, self._multiplicative()), position=word.position)
        return left

    def _multiplicative(self) -> Expr:
        left = self._unary()
        while self.at_any(("*", "/", "%", "||")):
            word = self.take()
            function = {"*": "times", "/": "divide", "%": "mod", "||": "concatenate"}[word.text]
            left = Call(function, (left, self._unary()), position=word.position)
        return left

    def _unary(self) -> Expr:
        where = self.position
        if self.accept("+"):
            number = self.peek().kind is Kind.NUMBER
            return self._unary() if number else Call("plusPrefix", (self._unary(),), position=where)
        if self.accept("-"):
            if self.peek().kind is Kind.NUMBER:
                return self._postfix(self._number(negative=True))
            return Call("minusPrefix", (self._unary(),), position=where)
        return self._postfix(self._primary())

    def _postfix(self, left: Expr) -> Expr:
        while True:
            where = self.position
            if self.accept("["):
                left = Call("at", (left, self.expression()), position=where)
                self.expect("]")
            elif self.at(".") and not isinstance(left, Name):
                self.take()
                left = FieldOf(left, self.name("the name of a field"), position=where)
            else:
                return left

    def _primary(self) -> Expr:
        word = self.peek()
        where = word.position
        if word.kind is Kind.NUMBER or (word.text == "." and self.peek(1).kind is Kind.NUMBER):
            return self._number()
        if word.kind is Kind.TEXT:
            return literals.text(self._adjacent_texts(), where)
        if word.kind is Kind.BYTES:
            return self._bytes()
        if word.kind is Kind.WORD and self.peek(1).kind is Kind.TEXT:
            quoted = self._prefixed_text()
            if quoted is not None:
                return quoted
        if self.accept("("):
            return self._parenthesized(where)
        if self.accept("*"):
            return Star(position=where)
        if self.accept("NULL"):
            return Literal(None, scalars.NullType(), position=where)
        if self.at_any(("TRUE", "FALSE")):
            return Literal(self.take().upper == "TRUE", scalars.BooleanType(False), position=where)
        if self.at("UNKNOWN"):
            self.take()
            return Literal(None, scalars.BooleanType(), position=where)
        if self.accept("CASE"):
            return self._case(where)
        if self.at("EXISTS", "("):
            self.expect("EXISTS", "(")
            query = self.query()
            self.expect(")")
            return ExistsQuery(query, position=where)
        if self.at("INTERVAL") and (self.peek(1).kind is Kind.TEXT or self.at_any("+-", ahead=1)):
            return self._interval(where)
        if self.at_call():
            return self.call()
        return self._name()

    def _name(self) -> Expr:
        where = self.position
        parts = [self.name("an expression or the name of a column")]
        while self.at("."):
            if self.at(".", "*"):
                self.expect(".", "*")
                return Star(tuple(parts), position=where)
            self.take()
            parts.append(self.name("the name of a column or field"))
        return Name(tuple(parts), position=where)

    def _number(self, negative: bool = False) -> Expr:
        word = self.take()
        text = word.text
        if text == ".":
            text = "." + self.take().text
        try:
            return literals.number(text, word.position, negative)
        except ValueError as error:
            raise self.refuse(f"Numeric literal out of range: {error}", word.position) from None

    def _adjacent_texts(self) -> str:
        parts = [self.take().text]
        while self.peek().kind is Kind.TEXT:
            parts.append(self.take().text)
        return "".join(parts)

    def _bytes(self) -> Expr:
        word = self.take()
        try:
            return literals.hex_bytes(word.text, word.position)
        except ValueError:
            raise self.refuse(f"x'{word.text}' needs an even number of hexadecimal digits", word.position) from None

    def _prefixed_text(self) -> Expr | None:
        """DATE '..', TIME '..', TIMESTAMP '..', and texts with a character set in front."""
        word = self.peek()
        readers = {"DATE": literals.date, "TIME": literals.time, "TIMESTAMP": literals.timestamp}
        if word.upper in readers:
            self.take()
            text = self.take()
            try:
                return readers[word.upper](text.text, word.position)
            except ValueError as error:
                raise self.refuse(f"Illegal {word.upper} literal: {error}", text.position) from None
        if word.text.startswith("_"):
            self.take()
            return literals.text(self._adjacent_texts(), word.position)
        return None

    def interval_type(self) -> DayTimeIntervalType | YearMonthIntervalType:
        """The qualifier after an interval, as DAY TO SECOND(3)."""
        text = "INTERVAL " + self._interval_field()
        if self.accept("TO"):
            text += " TO " + self._interval_field()
        found: DataType = parse_type(text)
        assert isinstance(found, (DayTimeIntervalType, YearMonthIntervalType))
        return found

    def _interval_field(self) -> str:
        """A unit, also in the plural, with its precision."""
        unit = self.peek().upper.removesuffix("S")
        if unit not in INTERVAL_UNITS:
            raise self.failure("the unit of the interval: YEAR, MONTH, DAY, HOUR, MINUTE or SECOND", INTERVAL_UNITS)
        self.take()
        if not self.at("("):
            return unit
        digits = self.in_parentheses(self.whole_number)
        return f"{unit}({', '.join(map(str, digits))})"

    def _interval(self, where: Position) -> Expr:
        self.expect("INTERVAL")
        negative = self.accept("-")
        if not negative:
            self.accept("+")
        text = self.peek()
        value = self.text("the interval in single quotes")
        data_type = self.interval_type()
        try:
            return literals.interval(value, negative, data_type, where)
        except ValueError as error:
            raise self.refuse(f"Illegal interval literal: {error}", text.position) from None

    def _parenthesized(self, where: Position) -> Expr:
        if self.at_any(_QUERY_STARTS) or (self.at("(") and self._query_behind_parentheses()):
            query = self.query()
            self.expect(")")
            return ScalarQuery(query, position=where)
        members = self.list_of(self.expression)
        self.expect(")")
        if len(members) > 1:
            return Call("row", members, position=where)
        inner = members[0]
        difference = isinstance(inner, Call) and inner.function == "minus"
        if difference and self.at_any(INTERVAL_UNITS) and isinstance(inner, Call):
            return Call("intervalBetween", inner.arguments, options=(("type", self.interval_type()),), position=where)
        return inner

    def _query_behind_parentheses(self) -> bool:
        ahead = 0
        while self.at("(", ahead=ahead):
            ahead += 1
        return self.at_any(_QUERY_STARTS, ahead=ahead)

    def _case(self, where: Position) -> Expr:
        operand = None if self.at("WHEN") else self.expression()
        branches = []
        while self.accept("WHEN"):
            tests = self.list_of(self.expression) if operand is not None else (self.expression(),)
            self.expect("THEN")
            branches.append((tests, self.expression()))
        if not branches:
            raise self.failure("'WHEN'", ["WHEN"])
        default = self.expression() if self.accept("ELSE") else None
        self.expect("END")
        return Case(operand, tuple(branches), default, position=where)

    def cast(self, safe: bool, where: Position) -> Expr:
        self.expect("(")
        operand = self.expression()
        self.expect("AS")
        data_type = self.data_type()
        self.expect(")")
        return CastTo(operand, data_type, safe, position=where)
