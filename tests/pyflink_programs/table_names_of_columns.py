# compare: exact
from pyflink.common import *
from pyflink.datastream import *
from pyflink.table import *
from pyflink.table.expressions import *
from pyflink.table.window import *
from pyflink.table.udf import *

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)
t_env.execute_sql(
    "CREATE TABLE src (id BIGINT, s STRING, v BIGINT NOT NULL, r ROW<a INT, b ROW<c STRING>>, m MAP<STRING, INT>, arr ARRAY<INT>, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, pt AS PROCTIME()) WITH ('connector'='datagen')"
)
t = t_env.from_path("src")


def show(name, f):
    try:
        print(
            name,
            [
                (str(n), str(d))
                for n, d in zip(f().get_schema().get_field_names(), f().get_schema().get_field_data_types())
            ],
        )
    except BaseException as e:
        print(name, "fails")


show(
    "cast",
    lambda: t.select(
        col("id").cast(DataTypes.STRING()),
        (col("id") + 1).cast(DataTypes.INT()),
        col("id").cast(DataTypes.STRING()).cast(DataTypes.INT()),
        col("v").try_cast(DataTypes.INT()),
        lit(1).cast(DataTypes.STRING()),
    ),
)
show(
    "get",
    lambda: t.select(
        col("r").get("a"), col("r").get("b").get("c"), col("r").get("a") + 1, col("arr").at(1), col("m").at("x")
    ),
)
show("flatten", lambda: t.select(col("r").flatten))
show("agg", lambda: t.select(col("v").sum, col("v").count, col("v").max.alias("m"), col("v").sum + 1, col("v").avg))
show(
    "agg cast",
    lambda: t.group_by(col("id")).select(
        col("v").sum.cast(DataTypes.STRING()),
        col("v").sum.alias("q"),
        col("v").count.distinct if hasattr(col("v").count, "distinct") else col("v").count,
    ),
)
show("key alias", lambda: t.group_by((col("id") + 1).alias("k")).select(col("k"), col("v").sum))
w = Tumble.over(lit(10).seconds).on(col("ts")).alias("w")
show(
    "win",
    lambda: (
        t.window(w)
        .group_by(col("w"), col("id"))
        .select(col("id"), col("w").start, col("w").end, col("v").sum, col("w").rowtime, col("w").start.alias("x"))
    ),
)
show(
    "win expr",
    lambda: (
        t.window(w).group_by(col("w")).select(col("w").start.cast(DataTypes.STRING()), col("v").sum * 2, col("v").max)
    ),
)
o = Over.partition_by(col("id")).order_by(col("ts")).preceding(UNBOUNDED_RANGE).alias("o")
show(
    "over",
    lambda: t.over_window(o).select(col("id"), col("v").sum.over(col("o")), col("v").max.over(col("o")).alias("mx")),
)
show(
    "lits",
    lambda: t.select(
        lit(1),
        lit("a"),
        lit(1.5),
        lit(True),
        lit(None, DataTypes.INT()),
        array(1, 2),
        row(1, "a"),
        map_("a", 1),
        pi(),
        current_date(),
        uuid(),
        rand(),
    ),
)
show(
    "text",
    lambda: t.select(
        col("s").upper_case,
        col("s").substring(1, 2),
        col("s").char_length,
        concat("a", col("s")),
        col("s").like("a%"),
        col("s").is_null,
        -col("v"),
        col("v") % 2,
        col("v") == 1,
        ~(col("v") == 1),
    ),
)
show("add", lambda: t.select(col("id"), col("v")).add_columns(col("v") + 1, (col("v") + 2).alias("z")))
show(
    "rename",
    lambda: (
        t.select(col("id"), col("v"))
        .rename_columns(col("v").alias("q"))
        .add_or_replace_columns((col("q") * 2).alias("q"))
    ),
)
show(
    "all",
    lambda: t.select(col("id"), col("*")) if False else t.select(col("*")).drop_columns(col("r"), col("m"), col("arr")),
)
show(
    "join",
    lambda: t.select(col("id"), col("v")).left_outer_join(
        t.select(col("id").alias("i2"), col("v").alias("v2")), col("id") == col("i2")
    ),
)
show("union", lambda: t.select(col("v")).union_all(t.select(col("v").alias("z"))))
show("distinct", lambda: t.select(col("id") + 1).distinct())


@udf(result_type=DataTypes.STRING())
def up(s):
    return s


show("udf", lambda: t.select(up(col("s")), up(col("s")).alias("z")))
show("sql", lambda: t_env.sql_query("SELECT id + 1, COUNT(*), MAX(v), CAST(id AS STRING) FROM src GROUP BY id"))
S = lambda *a: t_env.from_data_stream(*a)
show(
    "ds tuple",
    lambda: S(
        env.from_collection(
            [(1, "x", 1.5, True)], Types.TUPLE([Types.INT(), Types.STRING(), Types.DOUBLE(), Types.BOOLEAN()])
        )
    ),
)
show("ds int", lambda: S(env.from_collection([1], Types.INT())))
show("ds str", lambda: S(env.from_collection(["a"], Types.STRING())))
show("ds int named", lambda: S(env.from_collection([1], Types.INT()), col("q")))
show("ds row", lambda: S(env.from_collection([Row(1, "x")], Types.ROW([Types.INT(), Types.STRING()]))))
show(
    "ds list",
    lambda: S(
        env.from_collection(
            [Row([1], {"a": 1}, [2])],
            Types.ROW(
                [Types.LIST(Types.INT()), Types.MAP(Types.STRING(), Types.INT()), Types.PRIMITIVE_ARRAY(Types.LONG())]
            ),
        )
    ),
)
