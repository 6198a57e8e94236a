# compare: exact
import pandas as pd, os
from pyflink.common import *
from pyflink.datastream import *
from pyflink.table import *
from pyflink.table.expressions import *
from pyflink.table.udf import *

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)


@udf(result_type=DataTypes.BIGINT(), func_type="pandas")
def plus(a, b):
    return a + b


@udf(result_type=DataTypes.STRING())
def up(s):
    return None if s is None else s.upper()


@udtf(result_types=[DataTypes.STRING(), DataTypes.INT()])
def split(s):
    for w in s.split(" "):
        yield w, len(w)


@udaf(result_type=DataTypes.DOUBLE(), func_type="pandas")
def mean(v):
    return v.mean()


t = t_env.from_elements(
    [(1, "a b", 2), (2, "ccc", 3), (1, "d", 5)],
    DataTypes.ROW(
        [
            DataTypes.FIELD("id", DataTypes.BIGINT()),
            DataTypes.FIELD("s", DataTypes.STRING()),
            DataTypes.FIELD("v", DataTypes.BIGINT()),
        ]
    ),
)


def show(name, x):
    print("--", name, flush=True)
    try:
        x.print_schema()
        with x.execute().collect() as rs:
            for r in rs:
                print(r.get_row_kind(), r)
    except BaseException as e:
        print("fails", str(e)[:0])


show("udf", t.select(col("id"), plus(col("id"), col("v")).alias("p"), up(col("s"))))
show("udtf", t.join_lateral(split(col("s")).alias("w", "n")).select(col("id"), col("w"), col("n")))
show("left", t.where(col("id") == 2).left_outer_join_lateral(split(col("s")).alias("w", "n")))
show("group", t.group_by(col("id")).select(col("id"), col("v").sum.alias("total"), col("v").count))
show("distinct", t.select(col("id")).distinct())
ds = t_env.to_data_stream(t)
print(ds.get_type())
print([r for r in ds.map(lambda r: (r[0], r.s if hasattr(r, "s") else r[1])).execute_and_collect()])
cs = t_env.to_changelog_stream(t.group_by(col("id")).select(col("id"), col("v").sum.alias("total")))
print([(r.get_row_kind(), tuple(r)) for r in cs.execute_and_collect()])
d2 = env.from_collection([(1, "x"), (2, "y")], Types.TUPLE([Types.INT(), Types.STRING()]))
t3 = t_env.from_data_stream(d2, col("n"), col("w"))
t3.print_schema()
print([tuple(r) for r in t3.execute().collect()])
print(t.to_pandas().values.tolist())
t_env.from_pandas(pd.DataFrame({"a": [1, 2], "b": ["x", None]})).execute().print()
t_env.create_temporary_view("tt", t)
t_env.execute_sql("SELECT id, COUNT(*) AS c FROM tt GROUP BY id").print()
t_env.create_temporary_function("up2", up)
print(list(map(tuple, t_env.sql_query("SELECT up2(s) FROM tt").execute().collect())))
print(
    t_env.list_views(),
    t_env.list_user_defined_functions(),
    t_env.list_tables(),
    t_env.get_current_catalog(),
    t_env.get_current_database(),
)
