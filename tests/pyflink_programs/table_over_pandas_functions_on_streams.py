# compare: sorted
# Rows of a RANGE have no order inside a frame in PyFlink, so functions that tell one are over ROWS here.
import tempfile

from pyflink.table import *
from pyflink.table.expressions import *
from pyflink.table.udf import *
from pyflink.table.window import *

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
path = tempfile.mkdtemp()
with open(path + "/rows.csv", "w") as file:
    file.write(
        "2026-01-01 00:00:01,a,1,1.5\n"
        "2026-01-01 00:00:02,a,2,2.5\n"
        "2026-01-01 00:00:02,a,3,\n"
        "2026-01-01 00:00:03,b,,4.0\n"
        "2026-01-01 00:00:05,a,,0.5\n"
        "2026-01-01 00:00:04,b,7,1.0\n"
        "2026-01-01 00:00:01,a,100,9.5\n"  # late
        "2026-01-01 00:00:07,a,5,2.0\n"
        "2026-01-01 00:00:07,b,6,3.0\n"
    )
t_env.execute_sql(f"""
    CREATE TABLE src (
        ts TIMESTAMP(3), k STRING, n INT, d DOUBLE, pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
    ) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv', 'csv.null-literal' = '')
""")

text = DataTypes.STRING()
seen = udaf(lambda n, d: f"{n.dtype} {list(n)} {list(d)}", result_type=text, func_type="pandas")
mean = udaf(lambda d: d.mean(), result_type=DataTypes.DOUBLE(), func_type="pandas")
largest = udaf(lambda n: n.max(), result_type=DataTypes.INT(), func_type="pandas")
count = udaf(lambda n: len(n), result_type=DataTypes.BIGINT(), func_type="pandas")
t_env.create_temporary_function("seen", seen)
t_env.create_temporary_function("mean", mean)
t_env.create_temporary_function("largest", largest)
t_env.create_temporary_function("count_rows", count)


class Total(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, n):
        accumulator[0] += n or 0

    def retract(self, accumulator, n):
        accumulator[0] -= n or 0

    def get_value(self, accumulator):
        return accumulator[0]


t_env.create_temporary_function("total", udaf(Total(), result_type="BIGINT", accumulator_type="ARRAY<BIGINT>"))


def show(name, make):
    try:
        with make().execute().collect() as rows:
            for row in rows:
                print(name, row)
    except Exception:
        print(name, "is refused")


def sql(name, query):
    show(name, lambda: t_env.sql_query(query))


ROWS = "(PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
RANGE = "(PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW)"
sql("rows", f"SELECT k, n, seen(n, d) OVER {ROWS} FROM src")
sql("several", f"SELECT k, mean(d) OVER w, largest(n) OVER w, count_rows(n) OVER w FROM src WINDOW w AS {ROWS}")
sql("range", f"SELECT k, n, mean(d) OVER w, largest(n) OVER w, count_rows(n) OVER w FROM src WINDOW w AS {RANGE}")
sql("now", "SELECT k, n, mean(d) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN CURRENT ROW AND CURRENT ROW) FROM src")
sql("clock", "SELECT k, n, seen(n, d) OVER (PARTITION BY k ORDER BY pt ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM src")
sql("of all", "SELECT largest(n) OVER (ORDER BY pt ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM src")
sql("in a query", f"SELECT k, MAX(m) FROM (SELECT k, largest(n) OVER {ROWS} AS m FROM src) GROUP BY k")

src = t_env.from_path("src")
by_key = Over.partition_by(col("k"))
two_rows = by_key.order_by(col("ts")).preceding(row_interval(1)).following(CURRENT_ROW).alias("w")
two_seconds = by_key.order_by(col("ts")).preceding(lit(2).seconds).following(CURRENT_RANGE).alias("w")
clock = by_key.order_by(col("pt")).preceding(row_interval(2)).following(CURRENT_ROW).alias("w")
everything = by_key.order_by(col("ts")).preceding(UNBOUNDED_ROW).following(CURRENT_ROW).alias("w")
show(
    "api rows",
    lambda: src.over_window(two_rows).select(
        col("k"), seen(col("n"), col("d")).over(col("w")), mean(col("d")).over(col("w")).alias("mean")
    ),
)
show("api range", lambda: src.over_window(two_seconds).select(col("k"), largest(col("n")).over(col("w"))))
show("api clock", lambda: src.over_window(clock).select(col("k"), call("largest", col("n")).over(col("w"))))

show("api unbounded", lambda: src.over_window(everything).select(col("k"), largest(col("n")).over(col("w"))))
UNBOUNDED = "PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
sql("unbounded", f"SELECT k, largest(n) OVER ({UNBOUNDED}) FROM src")
sql("following", "SELECT largest(n) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM src")
sql("until now", "SELECT largest(n) OVER (PARTITION BY k ORDER BY ts) FROM src")
sql("row by row", f"SELECT k, total(n) OVER {ROWS} FROM src")
sql("filter", f"SELECT k, largest(n) FILTER (WHERE n > 2) OVER {ROWS} FROM src")
