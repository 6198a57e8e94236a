# compare: exact
import datetime
import decimal

from pyflink.common import Row
from pyflink.table import DataTypes, EnvironmentSettings, ListView, MapView, TableEnvironment
from pyflink.table.expressions import call, col, lit, row
from pyflink.table.udf import AggregateFunction, ScalarFunction, TableAggregateFunction, TableFunction, udaf, udf, udtaf, udtf

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set("parallelism.default", "1")
t_env.get_config().set("table.local-time-zone", "UTC")


@udf(result_type=DataTypes.DECIMAL(10, 2))
def taxed(price):
    return None if price is None else price * decimal.Decimal("1.19")


@udf(result_type=DataTypes.ARRAY(DataTypes.ROW([DataTypes.FIELD("w", DataTypes.STRING()), DataTypes.FIELD("n", DataTypes.INT())])))
def counted(text):
    return [Row(w, len(w)) for w in text.split()]


@udf(result_type=DataTypes.MAP(DataTypes.STRING(), DataTypes.DATE()))
def days(day):
    return {"before": day - datetime.timedelta(days=1), "after": day + datetime.timedelta(days=1)}


@udf(result_type=DataTypes.TIMESTAMP(3))
def noon(day):
    return datetime.datetime.combine(day, datetime.time(12))


@udf(result_type=DataTypes.BYTES())
def coded(text):
    return text.encode("utf-16-le")


@udf(result_type="ROW<a INT, b STRING>")
def paired(n, text):
    return Row(n, text) if n else None


@udf(result_type=DataTypes.BOOLEAN(), func_type="pandas")
def long_ones(texts):
    return texts.str.len() > 5


@udf(result_type=DataTypes.TIME())
def later(t):
    return t.replace(hour=t.hour + 1)


@udf(result_type=DataTypes.TINYINT())
def tiny(n):
    return n


class Split(TableFunction):
    def eval(self, text, by=" "):
        for place, part in enumerate(text.split(by)):
            yield place, part


class Spread(AggregateFunction):
    def create_accumulator(self):
        return Row(None, None)

    def accumulate(self, acc, value):
        if value is not None:
            acc[0] = value if acc[0] is None else min(acc[0], value)
            acc[1] = value if acc[1] is None else max(acc[1], value)

    def get_value(self, acc):
        return None if acc[0] is None else acc[1] - acc[0]

    def get_accumulator_type(self):
        return DataTypes.ROW([DataTypes.FIELD("a", DataTypes.DECIMAL(10, 2)), DataTypes.FIELD("b", DataTypes.DECIMAL(10, 2))])

    def get_result_type(self):
        return DataTypes.DECIMAL(10, 2)


@udaf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def middle(values):
    return values.median()


table = t_env.from_elements(
    [
        (1, "to be or", datetime.date(2024, 2, 29), decimal.Decimal("10.00"), datetime.time(10, 30)),
        (2, "not to", datetime.date(2024, 12, 31), None, datetime.time(0, 0, 1)),
        (0, "be", datetime.date(1970, 1, 1), decimal.Decimal("-0.05"), datetime.time(22, 59, 59)),
    ],
    DataTypes.ROW(
        [
            DataTypes.FIELD("n", DataTypes.INT()),
            DataTypes.FIELD("t", DataTypes.STRING()),
            DataTypes.FIELD("d", DataTypes.DATE()),
            DataTypes.FIELD("p", DataTypes.DECIMAL(10, 2)),
            DataTypes.FIELD("h", DataTypes.TIME()),
        ]
    ),
)
t_env.create_temporary_view("t", table)
for f, name in ((taxed, "taxed"), (counted, "counted"), (days, "days"), (noon, "noon"), (coded, "coded"), (paired, "paired"), (long_ones, "long_ones"), (later, "later"), (tiny, "tiny"), (middle, "middle")):
    t_env.create_temporary_system_function(name, f)
t_env.create_temporary_system_function("split_up", udtf(Split(), result_types=["INT", "STRING"]))
t_env.create_temporary_system_function("spread", udaf(Spread()))


def shown(query):
    print(query)
    try:
        found = t_env.sql_query(query)
        found.print_schema()
        found.execute().print()
    except Exception as error:
        print("refused")


shown("SELECT n, taxed(p), taxed(CAST(NULL AS DECIMAL(10, 2))), tiny(n) FROM t")
shown("SELECT n, counted(t), counted(t)[1].w, CARDINALITY(counted(t)) FROM t")
shown("SELECT n, days(d)['before'], noon(d), EXTRACT(HOUR FROM noon(d)) FROM t")
shown("SELECT n, coded(SUBSTRING(t, 1, 1)), paired(n, t), paired(n, t).b, paired(n, t) IS NULL FROM t")
shown("SELECT n, long_ones(t) FROM t WHERE long_ones(t)")
shown("SELECT n, later(h), h FROM t WHERE later(h) > TIME '01:00:00'")
shown("SELECT n, i, w FROM t, LATERAL TABLE(split_up(t)) AS s(i, w) WHERE i > 0")
shown("SELECT n, i, w FROM t LEFT JOIN LATERAL TABLE(split_up(t, 'o')) AS s(i, w) ON TRUE")
shown("SELECT middle(n), middle(p) FROM t")
shown("SELECT n FROM t WHERE tiny(n)")
shown("SELECT nothere(n) FROM t")

s_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
s_env.get_config().set("parallelism.default", "1")
s_env.create_temporary_system_function("spread", udaf(Spread()))
prices = s_env.from_elements(
    [(1, decimal.Decimal("10.00")), (2, None), (1, decimal.Decimal("-0.05")), (3, decimal.Decimal("7"))],
    DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT()), DataTypes.FIELD("p", DataTypes.DECIMAL(10, 2))]),
)
s_env.create_temporary_view("prices", prices)
last = {}
with s_env.sql_query("SELECT n, spread(p) AS s, COUNT(*) AS c FROM prices GROUP BY n").execute().collect() as rows:
    for one in rows:
        last[one[0]] = tuple(one)
print(sorted(last.items()))
