"""Function calls, those with a syntax of their own (EXTRACT, TRIM, JSON_VALUE, ..) and all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.columns.typesystem.scalars import MAX_LENGTH, CharType, VarCharType
from penstock.table.sql.expression_grammar import ExpressionGrammar
from penstock.table.sql.words import Kind
from penstock.table.syntax.expressions import (
    Call,
    Default,
    Descriptor,
    Expr,
    FrameBound,
    Literal,
    ModelArgument,
    Named,
    Order,
    Over,
    Star,
    TableArgument,
    WindowSpec,
)
from penstock.table.syntax.position import Position
from penstock.table.syntax.queries import DerivedTable, TableSource

WITHOUT_PARENTHESES = frozenset(
    """
    CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP CURRENT_CATALOG CURRENT_USER
    SESSION_USER SYSTEM_USER USER PI
    """.split()  # noqa: SIM905
)
# Reserved words that are functions when a parenthesis follows.
_CALLABLE_WORDS = frozenset(
    """
    ABS AVG CARDINALITY CEIL CEILING CHAR_LENGTH CHARACTER_LENGTH CLASSIFIER COALESCE COLLECT CORR COUNT
    COVAR_POP COVAR_SAMP CUME_DIST CURRENT_DATE DATE DAY DENSE_RANK ELEMENT EXP FIRST_VALUE FLOOR FUSION
    GROUPING HOUR IF JSON_ARRAYAGG JSON_OBJECTAGG LAG LAST_VALUE LEAD LEFT LISTAGG LN LOWER MATCH_NUMBER MAX MIN
    MINUTE MOD MONTH NTH_VALUE NTILE NULLIF OCTET_LENGTH PERCENT_RANK POWER RANK RIGHT ROW_NUMBER SECOND SQRT
    STDDEV_POP STDDEV_SAMP SUM TIMESTAMP TIME TRANSLATE TRUNCATE UPPER USER VAR_POP VAR_SAMP YEAR ARRAY_AGG
    REPLACE INITCAP UUID QUARTER WEEK ROW MAP ARRAY GROUPING_ID GROUP_ID HOP TUMBLE SESSION CUMULATE PREV NEXT
    FIRST LAST TUMBLE_START HOP_START SESSION_START TUMBLE_END HOP_END SESSION_END TUMBLE_ROWTIME
    TUMBLE_PROCTIME HOP_ROWTIME HOP_PROCTIME SESSION_ROWTIME SESSION_PROCTIME DEFAULT SOME EVERY ANY
    """.split()  # noqa: SIM905
)
_PART_UNITS = [
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOY", "DOW", "ISODOW", "ISOYEAR", "HOUR", "MINUTE", "SECOND",
    "MILLISECOND", "MICROSECOND", "NANOSECOND", "EPOCH", "DECADE", "CENTURY", "MILLENNIUM",
]  # fmt: skip
_SHORT_UNITS = {
    "SQL_TSI_YEAR": "YEAR", "SQL_TSI_QUARTER": "QUARTER", "SQL_TSI_MONTH": "MONTH", "SQL_TSI_WEEK": "WEEK",
    "SQL_TSI_DAY": "DAY", "SQL_TSI_HOUR": "HOUR", "SQL_TSI_MINUTE": "MINUTE", "SQL_TSI_SECOND": "SECOND",
}  # fmt: skip


class CallGrammar(ExpressionGrammar):
    _specials: dict[str, Callable[[Position], Expr]] | None = None

    def table_primary(self) -> TableSource:
        raise NotImplementedError

    def order_item(self) -> Order:
        where = self.position
        operand = self.expression()
        descending = not self.accept("ASC") and self.accept("DESC")
        nulls: bool | None = None
        if self.accept("NULLS"):
            nulls = self.expect_any(("FIRST", "LAST")) == "FIRST"
        return Order(operand, not descending, nulls, position=where)

    def at_call(self) -> bool:
        word = self.peek()
        if self.at_any(WITHOUT_PARENTHESES) and (word.upper != "PI" or self.at("(", ahead=1)):
            return True
        if self.at_any(("ARRAY", "MAP")) and self.at("[", ahead=1):
            return True
        if self.at("(", ahead=1):
            callable_word = self.at_any(_CALLABLE_WORDS) or word.upper in self._special()
            return self.at_name() or callable_word
        ahead = 0
        while self.at_name(ahead) and self.at(".", ahead=ahead + 1):
            ahead += 2
        return ahead > 0 and self.at_name(ahead) and self.at("(", ahead=ahead + 1)

    def _special(self) -> dict[str, Callable[[Position], Expr]]:
        if self._specials is None:
            self._specials = self._calls_with_syntax()
        return self._specials

    def _calls_with_syntax(self) -> dict[str, Callable[[Position], Expr]]:
        return {
            "CAST": lambda where: self.cast(False, where),
            "TRY_CAST": lambda where: self.cast(True, where),
            "EXTRACT": self._extract,
            "POSITION": self._position_in,
            "TRIM": self._trim,
            "SUBSTRING": self._substring,
            "OVERLAY": self._overlay,
            "FLOOR": lambda where: self._rounded("floor", where),
            "CEIL": lambda where: self._rounded("ceil", where),
            "CEILING": lambda where: self._rounded("ceil", where),
            "TIMESTAMPADD": lambda where: self._time_unit_call("TIMESTAMPADD", where),
            "TIMESTAMPDIFF": lambda where: self._time_unit_call("TIMESTAMPDIFF", where),
            "ROW": self._row,
            "DESCRIPTOR": self._descriptor,
            "JSON_EXISTS": self._json_exists,
            "JSON_VALUE": self._json_value,
            "JSON_QUERY": self._json_query,
            "JSON_OBJECT": lambda where: self._json_pairs("JSON_OBJECT", where),
            "JSON_OBJECTAGG": lambda where: self._json_pairs("JSON_OBJECTAGG", where),
            "JSON_ARRAY": lambda where: self._json_items("JSON_ARRAY", where),
            "JSON_ARRAYAGG": lambda where: self._json_items("JSON_ARRAYAGG", where),
        }

    def call(self) -> Expr:
        where = self.position
        if self.at_any(("ARRAY", "MAP")) and self.at("[", ahead=1):
            return self._bracketed(where)
        if self.at_any(WITHOUT_PARENTHESES) and not self.at("(", ahead=1):
            return Call(self.take().upper, position=where)
        special = self._special().get(self.peek().upper)
        if special is not None:
            self.take()
            found = special(where)
            return self._behind(found) if isinstance(found, Call) else found
        name = self.take().text
        while self.accept("."):
            name += "." + self.name("the name of a function")
        return self._behind(self._plain(name, where))

    def _bracketed(self, where: Position) -> Expr:
        function = self.take().upper.lower()
        self.expect("[")
        members = () if self.at("]") else self.list_of(self.expression)
        self.expect("]")
        if function == "map" and len(members) % 2:
            raise self.refuse("MAP[..] needs pairs of keys and values, but their number is odd", where)
        return Call(function, members, position=where)

    def _plain(self, name: str, where: Position) -> Call:
        self.expect("(")
        distinct = self.accept("DISTINCT")
        if not distinct:
            self.accept("ALL")
        arguments = () if self.at(")") else self.list_of(self.argument)
        order_by = self.list_of(self.order_item) if self.accept("ORDER", "BY") else ()
        options = self._null_treatment()
        self.expect(")")
        return Call(name, arguments, distinct, order_by, options=options, position=where)

    def argument(self) -> Expr:
        """An expression, a named argument, a table, a model, or DEFAULT."""
        where = self.position
        if self.at("=>", ahead=1):
            name = self.take().text
            self.take()
            return Named(name, self.argument(), position=where)
        if self.at("DEFAULT") and self.at_any((",", ")"), ahead=1):
            self.take()
            return Default(position=where)
        if self.accept("MODEL"):
            return ModelArgument(self.path("the name of a model"), position=where)
        if self.at("TABLE"):
            return self._table_argument(where)
        if self.at_any(("SELECT", "WITH")):
            return TableArgument(DerivedTable(self.query(), position=where), position=where)
        if self.at("(") and self.at_any(("SELECT", "WITH"), ahead=1):
            return self._query_argument(where)
        if self.accept("*"):
            return Star(position=where)
        return self.expression()

    def _table_argument(self, where: Position) -> Expr:
        self.expect("TABLE")
        nested = self.at("(")
        source = self.table_primary() if not nested else self._nested_table()
        partition, order = self._distribution()
        return TableArgument(source, partition, order, position=where)

    def _nested_table(self) -> TableSource:
        self.expect("(")
        source: TableSource
        if self.at_any(("SELECT", "WITH", "VALUES")):
            source = DerivedTable(self.query(), position=self.position)
        else:
            source = self.table_primary()
        self.expect(")")
        return source

    def _query_argument(self, where: Position) -> Expr:
        self.expect("(")
        source = DerivedTable(self.query(), position=where)
        self.expect(")")
        partition, order = self._distribution()
        return TableArgument(source, partition, order, position=where)

    def _distribution(self) -> tuple[tuple[Expr, ...], tuple[Order, ...]]:
        partition: tuple[Expr, ...] = ()
        order: tuple[Order, ...] = ()
        if self.accept("PARTITION", "BY"):
            # Several need parentheses, since a comma begins the next argument.
            partition = self.in_parentheses(self.expression) if self.at("(") else (self.expression(),)
        if self.accept("ORDER", "BY"):
            order = self.in_parentheses(self.order_item) if self.at("(") else (self.order_item(),)
        return partition, order

    def _null_treatment(self) -> tuple[tuple[str, Any], ...]:
        for word in ("IGNORE", "RESPECT"):
            if self.accept(word, "NULLS"):
                return (("nulls", word),)
        return ()

    def _behind(self, found: Call) -> Expr:
        """WITHIN GROUP, null treatment, FILTER and OVER."""
        where = found.position
        values = {**found.__dict__}
        if self.accept("WITHIN", "GROUP"):
            self.expect("(", "ORDER", "BY")
            values["order_by"] = self.list_of(self.order_item)
            self.expect(")")
        values["options"] = values["options"] + self._null_treatment()
        if self.at("FILTER", "("):
            self.expect("FILTER", "(", "WHERE")
            values["where"] = self.expression()
            self.expect(")")
        call = Call(**values)
        if not self.accept("OVER"):
            return call
        window = self.window_spec() if self.at("(") else self.name("the name of a window")
        return Over(call, window, position=where)

    def window_spec(self) -> WindowSpec:
        self.expect("(")
        clause = ("PARTITION", "ORDER", "ROWS", "RANGE")
        base = self.name("the name of a window") if self.at_name() and not self.at_any(clause) else None
        partition = self.list_of(self.expression) if self.accept("PARTITION", "BY") else ()
        order = self.list_of(self.order_item) if self.accept("ORDER", "BY") else ()
        unit = self.accept_any(("ROWS", "RANGE"))
        lower = upper = None
        if unit is not None and self.accept("BETWEEN"):
            lower = self._frame_bound()
            self.expect("AND")
            upper = self._frame_bound()
        elif unit is not None:
            lower, upper = self._frame_bound(), FrameBound("current")
        self.expect(")")
        return WindowSpec(base, partition, order, unit, lower, upper)

    def _frame_bound(self) -> FrameBound:
        if self.accept("CURRENT", "ROW"):
            return FrameBound("current")
        kind, offset = ("unbounded", None) if self.accept("UNBOUNDED") else ("offset", self.expression())
        return FrameBound(kind, self.expect_any(("PRECEDING", "FOLLOWING")) == "PRECEDING", offset)

    def _unit(self, allowed: list[str] | None = None) -> str:
        found = _SHORT_UNITS.get(self.peek().upper, self.peek().upper)
        if found not in (allowed or _PART_UNITS):
            raise self.failure("a unit of time such as YEAR, DAY or SECOND", allowed or _PART_UNITS)
        self.take()
        return found

    def _extract(self, where: Position) -> Expr:
        self.expect("(")
        unit = self._unit()
        self.expect("FROM")
        operand = self.expression()
        self.expect(")")
        return Call("extract", (operand,), options=(("unit", unit),), position=where)

    def _rounded(self, function: str, where: Position) -> Expr:
        self.expect("(")
        operand = self.expression()
        options = (("unit", self._unit()),) if self.accept("TO") else ()
        arguments = [operand]
        while self.accept(","):
            arguments.append(self.expression())
        self.expect(")")
        return Call(function, tuple(arguments), options=options, position=where)

    def _time_unit_call(self, function: str, where: Position) -> Expr:
        self.expect("(")
        unit = self._unit()
        self.expect(",")
        arguments = self.list_of(self.expression)
        self.expect(")")
        return Call(function, arguments, options=(("unit", unit),), position=where)

    def _position_in(self, where: Position) -> Expr:
        self.expect("(")
        needle = self._additive()
        self.expect("IN")
        operands = [needle, self._additive()]
        if self.accept("FROM"):
            operands.append(self._additive())
        self.expect(")")
        return Call("position", tuple(operands), position=where)

    def _trim(self, where: Position) -> Expr:
        self.expect("(")
        side = self.accept_any(("BOTH", "LEADING", "TRAILING"))
        characters: Expr = Literal(" ", CharType(1, False), position=where)
        if side is not None and self.accept("FROM"):
            operand = self.expression()
        else:
            operand = self.expression()
            if self.accept("FROM"):
                characters, operand = operand, self.expression()
            elif side is not None:
                raise self.failure("'FROM'", ["FROM"])
        self.expect(")")
        return Call("trim", (operand, characters), options=(("side", side or "BOTH"),), position=where)

    def _substring(self, where: Position) -> Expr:
        self.expect("(")
        arguments = [self.expression()]
        for separator in ("FROM", "FOR"):
            if self.accept(separator) or self.accept(","):
                arguments.append(self.expression())
        self.expect(")")
        return Call("SUBSTRING", tuple(arguments), position=where)

    def _overlay(self, where: Position) -> Expr:
        self.expect("(")
        arguments = [self.expression()]
        for separator in ("PLACING", "FROM", "FOR"):
            if self.accept(separator) or self.accept(","):
                arguments.append(self.expression())
        self.expect(")")
        return Call("OVERLAY", tuple(arguments), position=where)

    def _row(self, where: Position) -> Expr:
        self.expect("(")
        members = () if self.at(")") else self.list_of(self.expression)
        self.expect(")")
        return Call("row", members, position=where)

    def _descriptor(self, where: Position) -> Expr:
        return Descriptor(self.names_in_parentheses(), position=where)

    def _json_path(self) -> tuple[Expr, Expr]:
        self.expect("(")
        document = self.expression()
        self.expect(",")
        return document, self.expression()

    def _json_exists(self, where: Position) -> Expr:
        arguments = self._json_path()
        outcome = self.accept_any(("TRUE", "FALSE", "UNKNOWN", "ERROR"))
        if outcome is not None:
            self.expect("ON", "ERROR")
        self.expect(")")
        return Call("JSON_EXISTS", arguments, options=(("on_error", outcome or "FALSE"),), position=where)

    def _json_value(self, where: Position) -> Expr:
        arguments = self._json_path()
        returning = self.data_type() if self.accept("RETURNING") else VarCharType(MAX_LENGTH)
        options: dict[str, Any] = {"returning": returning, "on_empty": ("NULL", None), "on_error": ("NULL", None)}
        while self.at_any(("NULL", "ERROR", "DEFAULT")):
            kind = self.take().upper
            value = self.expression() if kind == "DEFAULT" else None
            self.expect("ON")
            options[f"on_{self.expect_any(('EMPTY', 'ERROR')).lower()}"] = (kind, value)
        self.expect(")")
        return Call("JSON_VALUE", arguments, options=tuple(options.items()), position=where)

    def _json_query(self, where: Position) -> Expr:
        arguments = self._json_path()
        returning = self.data_type() if self.accept("RETURNING") else VarCharType(MAX_LENGTH)
        options = {"returning": returning, "wrapper": "WITHOUT", "on_empty": "NULL", "on_error": "NULL"}
        if self.accept("WITHOUT"):
            self.accept("ARRAY")
            self.expect("WRAPPER")
        elif self.accept("WITH"):
            options["wrapper"] = self.accept_any(("CONDITIONAL", "UNCONDITIONAL")) or "UNCONDITIONAL"
            self.accept("ARRAY")
            self.expect("WRAPPER")
        while self.at_any(("NULL", "ERROR", "EMPTY")):
            kind = self.take().upper
            if kind == "EMPTY":
                kind = "EMPTY " + self.expect_any(("ARRAY", "OBJECT"))
            self.expect("ON")
            options[f"on_{self.expect_any(('EMPTY', 'ERROR')).lower()}"] = kind
        self.expect(")")
        return Call("JSON_QUERY", arguments, options=tuple(options.items()), position=where)

    def _on_null(self, default: str) -> tuple[tuple[str, Any], ...]:
        kind = default
        if self.at_any(("NULL", "ABSENT")) and self.at("ON", ahead=1):
            kind = self.take().upper
            self.expect("ON", "NULL")
        self.expect(")")
        return (("on_null", kind),)

    def _json_pairs(self, function: str, where: Position) -> Expr:
        self.expect("(")
        arguments: list[Expr] = []
        while not self.at(")") and not (self.at_any(("NULL", "ABSENT")) and self.at("ON", ahead=1)):
            if arguments:
                self.expect(",")
            self.accept("KEY")
            arguments.append(self.expression())
            if self.peek().kind is Kind.SIGN and self.accept(":"):
                pass
            else:
                self.expect("VALUE")
            arguments.append(self.expression())
        return Call(function, tuple(arguments), options=self._on_null("NULL"), position=where)

    def _json_items(self, function: str, where: Position) -> Expr:
        self.expect("(")
        arguments: list[Expr] = []
        while not self.at(")") and not (self.at_any(("NULL", "ABSENT")) and self.at("ON", ahead=1)):
            if arguments:
                self.expect(",")
            arguments.append(self.expression())
        return Call(function, tuple(arguments), options=self._on_null("ABSENT"), position=where)
