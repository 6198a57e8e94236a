# compare: exact
import pandas as pd
from pyflink.table import EnvironmentSettings, TableEnvironment, DataTypes
from pyflink.table.expressions import col, lit, row, call
from pyflink.table.udf import (
    udf,
    udaf,
    udtf,
    ScalarFunction,
    AggregateFunction,
    TableFunction,
    udtaf,
    TableAggregateFunction,
)
from pyflink.common import Row

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
factor = 3


class Add(ScalarFunction):
    def __init__(self, by):
        self.by = by

    def open(self, ctx):
        self.seen = 0
        self.name = ctx.get_job_parameter("who", "nobody")

    def eval(self, a, b=None):
        self.seen += 1
        return "%s %s %s" % (self.name, a + self.by, b)


add = udf(Add(5), result_type=DataTypes.STRING())
times = udf(lambda a: a * factor, result_type=DataTypes.BIGINT())


@udf(result_type=DataTypes.ROW([DataTypes.FIELD("lo", DataTypes.BIGINT()), DataTypes.FIELD("hi", DataTypes.BIGINT())]))
def bounds(a):
    return Row(a - 1, a + 1)


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def letters(s):
    for i, c in enumerate(s or ""):
        yield c, i


class WAvg(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def get_value(self, a):
        return a[0] / a[1] if a[1] else None

    def accumulate(self, a, v, w):
        a[0] += v * w
        a[1] += w

    def retract(self, a, v, w):
        a[0] -= v * w
        a[1] -= w

    def get_result_type(self):
        return DataTypes.DOUBLE()

    def get_accumulator_type(self):
        return DataTypes.ROW([DataTypes.FIELD("f0", DataTypes.BIGINT()), DataTypes.FIELD("f1", DataTypes.BIGINT())])


wavg = udaf(WAvg())


class Top2(TableAggregateFunction):
    def emit_value(self, a):
        for v in a[:2]:
            yield Row(v)

    def create_accumulator(self):
        return []

    def accumulate(self, a, v):
        a.append(v)
        a.sort(reverse=True)
        del a[2:]

    def get_accumulator_type(self):
        return DataTypes.ARRAY(DataTypes.BIGINT())

    def get_result_type(self):
        return DataTypes.ROW([DataTypes.FIELD("top", DataTypes.BIGINT())])


top2 = udtaf(Top2())
t = t_env.from_elements(
    [(1, "ab", 2), (4, "c", 1), (9, None, 3), (4, "", 5)],
    DataTypes.ROW(
        [
            DataTypes.FIELD("a", DataTypes.BIGINT()),
            DataTypes.FIELD("s", DataTypes.STRING()),
            DataTypes.FIELD("w", DataTypes.BIGINT()),
        ]
    ),
)
t.select(
    add(col("a"), col("s")),
    times(col("a")).alias("x"),
    bounds(col("a")).get("hi").alias("hi"),
    bounds(col("a")).alias("r"),
).execute().print()
t.join_lateral(letters(col("s")).alias("c", "i")).select(col("a"), col("c"), col("i")).execute().print()
t.left_outer_join_lateral(letters(col("s")).alias("c", "i")).select(col("a"), col("c"), col("i")).execute().print()
t.map(bounds(col("a"))).execute().print()
t.flat_map(letters(col("s"))).execute().print()
t_env.create_temporary_function("adder", add)
t_env.create_temporary_system_function("lets", letters)
t_env.create_temporary_view("v", t)
t_env.execute_sql("SELECT adder(a, s) x, UPPER(c) FROM v, LATERAL TABLE(lets(s)) AS l(c, i) WHERE i >= 0").print()
b_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
b_env.get_config().set("parallelism.default", "1")
b = b_env.from_elements([(1, "ab", 2), (4, "c", 1), (9, None, 3), (4, "", 5)], ["a", "s", "w"])
b.group_by(col("s")).select(col("s"), col("a").sum.alias("x")).order_by(col("x")).execute().print()
