# compare: sorted
import tempfile

from pyflink.table import *
from pyflink.table.udf import *

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set("parallelism.default", "1")
path = tempfile.mkdtemp()
with open(path + "/rows.csv", "w") as file:
    file.write(
        "2026-01-01 00:00:01,a,1,1.5\n"
        "2026-01-01 00:00:02,a,2,2.5\n"
        "2026-01-01 00:00:03,a,3,\n"
        "2026-01-01 00:00:03,b,7,4.0\n"
        "2026-01-01 00:00:06,a,,0.5\n"
        "2026-01-01 00:00:04,b,8,1.0\n"
        "2026-01-01 00:00:08,a,5,2.0\n"
        "2026-01-01 00:00:08,b,6,3.0\n"
        "2026-01-01 00:00:09,c,,\n"
    )
t_env.execute_sql(f"""
    CREATE TABLE src (ts TIMESTAMP(3), k STRING, n INT, d DOUBLE)
    WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv', 'csv.null-literal' = '')
""")


def of_series(result_type):
    return udaf(result_type=result_type, func_type="pandas")


@of_series("STRING")
def seen(n, d):
    return f"{n.dtype} {list(n)} {list(d)}"


@of_series("STRING")
def types(*columns):
    return " ".join(f"{column.dtype}:{column.iloc[-1]!r}" for column in columns)


@of_series("INT")
def largest(n):
    return n.max()


@of_series("TIMESTAMP(3)")
def latest(ts):
    return ts.max()


class Spread(AggregateFunction):
    def open(self, function_context):
        self.unit = 10

    def create_accumulator(self):
        return []

    def accumulate(self, accumulator, *columns):
        accumulator.append((columns[0].max() - columns[0].min()) * self.unit)

    def get_value(self, accumulator):
        return accumulator[0]


for name, function in {"seen": seen, "types": types, "largest": largest, "latest": latest}.items():
    t_env.create_temporary_function(name, function)
t_env.create_temporary_function("spread", udaf(Spread(), result_type="DOUBLE", func_type="pandas"))


class Total(AggregateFunction):
    def create_accumulator(self):
        return [0]

    def accumulate(self, accumulator, n):
        accumulator[0] += n or 0

    def get_value(self, accumulator):
        return accumulator[0]


t_env.create_temporary_function("total", udaf(Total(), result_type="BIGINT", accumulator_type="ARRAY<BIGINT>"))


def sql(name, query):
    try:
        with t_env.execute_sql(query).collect() as rows:
            for row in rows:
                print(name, row)
    except Exception:
        print(name, "is refused")


FRAMES = [
    "",
    "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND INTERVAL '2' SECOND FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
]
for frame in FRAMES:
    sql(frame, f"SELECT k, n, seen(n, d) OVER (PARTITION BY k ORDER BY ts {frame}) FROM src")
sql("of all", "SELECT k, largest(n) OVER (ORDER BY ts, k ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM src")
sql("descending", "SELECT k, seen(n, d) OVER (PARTITION BY k ORDER BY n DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM src")
sql(
    "two windows",
    "SELECT k, n, largest(n) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW),"
    " largest(n) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),"
    " spread(n) OVER (ORDER BY ts) FROM src",
)
sql("latest", "SELECT k, n, latest(ts) OVER (PARTITION BY k ORDER BY n) FROM src")
sql(
    "types",
    "SELECT types(CAST(n AS TINYINT), CAST(n AS BIGINT), CAST(d AS FLOAT), CAST(d AS DECIMAL(5, 2)), n > 2, k, ts,"
    " CAST(ts AS DATE), CAST(ts AS TIME), ARRAY[n, 1]) OVER (PARTITION BY k ORDER BY ts) FROM src",
)
sql("grouped", "SELECT k, seen(n, d), largest(n) FROM src GROUP BY k")
sql("grouped without NULL", "SELECT k, seen(n, d), largest(n) FROM src WHERE n IS NOT NULL GROUP BY k")
sql("row by row", "SELECT k, total(n) OVER (PARTITION BY k ORDER BY ts) FROM src")
sql("distinct", "SELECT k, largest(DISTINCT n) OVER (PARTITION BY k ORDER BY ts) FROM src")
