# compare: exact
import datetime
from decimal import Decimal

from pyflink.common import Instant, Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)


def attempt(name, values, declared):
    try:
        stream = env.from_collection([0], Types.INT()).flat_map(lambda _: values, declared)
        seen = stream.rebalance().map(lambda v: "%r %s" % (v, type(v).__name__), Types.STRING()).execute_and_collect()
        print(name, list(seen))
    except Exception as error:
        print(name, "failed")


attempt("ints", [[1, 2], []], Types.PRIMITIVE_ARRAY(Types.INT()))
attempt("longs", [[2**40]], Types.PRIMITIVE_ARRAY(Types.LONG()))
attempt("shorts", [[1, -5]], Types.PRIMITIVE_ARRAY(Types.SHORT()))
attempt("bytes", [b"ab", b""], Types.PRIMITIVE_ARRAY(Types.BYTE()))
attempt("floats", [[0.1, 2.5]], Types.PRIMITIVE_ARRAY(Types.FLOAT()))
attempt("doubles", [[0.1, float("inf")]], Types.PRIMITIVE_ARRAY(Types.DOUBLE()))
attempt("booleans", [[True, False]], Types.PRIMITIVE_ARRAY(Types.BOOLEAN()))
attempt("basic ints", [[1, None, 3]], Types.BASIC_ARRAY(Types.INT()))
attempt("basic texts", [["a", None]], Types.BASIC_ARRAY(Types.STRING()))
attempt("basic doubles", [[1.5, None]], Types.BASIC_ARRAY(Types.DOUBLE()))
attempt("object rows", [[Row(1, "a"), None]], Types.OBJECT_ARRAY(Types.ROW([Types.INT(), Types.STRING()])))
attempt("object maps", [[{"a": 1}, {}]], Types.OBJECT_ARRAY(Types.MAP(Types.STRING(), Types.INT())))
attempt("object arrays", [[[1, 2], [3]]], Types.OBJECT_ARRAY(Types.PRIMITIVE_ARRAY(Types.INT())))
attempt("object decimals", [[Decimal("1.50"), Decimal("-3")]], Types.OBJECT_ARRAY(Types.BIG_DEC()))
attempt("object dates", [[datetime.date(1969, 12, 31)]], Types.OBJECT_ARRAY(Types.SQL_DATE()))
attempt("instants", [Instant.of_epoch_milli(1700000000123)], Types.INSTANT())
attempt("instants before", [Instant(-5, 999_000_000)], Types.INSTANT())
attempt("lists of instants", [[Instant(1, 1000)]], Types.LIST(Types.INSTANT()))
attempt("times", [datetime.time(1, 2, 3, 456789)], Types.SQL_TIME())
attempt("maps", [{1: None, 2: [1.0]}], Types.MAP(Types.INT(), Types.LIST(Types.DOUBLE())))
attempt("maps of tuples", [{(1, "a"): Row(b=2)}], Types.MAP(Types.TUPLE([Types.INT(), Types.STRING()]), Types.ROW_NAMED(["b"], [Types.INT()])))
attempt("decimals", [Decimal("1E+5"), Decimal("0.000000000000000000000001")], Types.BIG_DEC())
attempt("sets", [{1, 2}], Types.PICKLED_BYTE_ARRAY())
attempt("tuples in rows", [Row((1, 2), [3])], Types.ROW([Types.TUPLE([Types.INT(), Types.INT()]), Types.LIST(Types.LONG())]))
attempt("lists for tuples", [[1, "a"]], Types.TUPLE([Types.INT(), Types.STRING()]))
attempt("tuples for lists", [(1, 2)], Types.LIST(Types.INT()))
attempt("tuples for rows", [(1, "a")], Types.ROW([Types.INT(), Types.STRING()]))
attempt("dicts for rows", [{"a": 1, "b": "x"}], Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]))
attempt("text for int", ["1"], Types.INT())
attempt("float for int", [1.5], Types.INT())
attempt("bool for int", [True], Types.INT())
attempt("int for double", [3], Types.DOUBLE())
attempt("int for float", [3], Types.FLOAT())
attempt("int for boolean", [2], Types.BOOLEAN())
attempt("int for text", [5], Types.STRING())
attempt("bytes for text", [b"abc"], Types.STRING())
attempt("large byte", [200], Types.BYTE())
attempt("large int", [2**31], Types.INT())
attempt("datetime for date", [datetime.datetime(2024, 1, 2, 3)], Types.SQL_DATE())
