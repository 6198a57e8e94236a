# compare: sorted
from pyflink.common import Row
from pyflink.table import *
from pyflink.table.expressions import *
from pyflink.table.udf import *
from pyflink.table.window import *
import tempfile

d = tempfile.mkdtemp()
open(d + "/a.csv", "w").write(
    "a,1,2026-01-01 00:00:01\nb,2,2026-01-01 00:00:03\na,3,2026-01-01 00:00:07\na,4,2026-01-01 00:00:21\n"
)
t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
t_env.create_temporary_table(
    "src",
    TableDescriptor.for_connector("filesystem")
    .schema(
        Schema.new_builder()
        .column("k", DataTypes.STRING())
        .column("v", DataTypes.INT())
        .column("ts", DataTypes.TIMESTAMP(3))
        .column_by_expression("w", "v * 2")
        .watermark("ts", "ts - INTERVAL '1' SECOND")
        .build()
    )
    .option("path", d)
    .format(FormatDescriptor.for_format("csv").build())
    .build(),
)
t = t_env.from_path("src")


def rows(name, table):
    with table.execute().collect() as found:
        for r in found:
            print(name, r.get_row_kind(), r)


W = col("x")
rows(
    "tumble",
    t.window(Tumble.over(lit(5).seconds).on(col("ts")).alias("x"))
    .group_by(W, col("k"))
    .select(col("k"), W.start, W.end, W.rowtime, col("v").sum, col("w").max),
)
rows(
    "slide",
    t.window(Slide.over(lit(10).seconds).every(lit(5).seconds).on(col("ts")).alias("x"))
    .group_by(W)
    .select(W.start, col("v").count, col("k").collect.cast(DataTypes.STRING()) if False else col("v").avg),
)
rows(
    "session",
    t.window(Session.with_gap(lit(5).seconds).on(col("ts")).alias("x"))
    .group_by(col("k"), W)
    .select(col("k"), W.start, W.end, col("v").sum.alias("s")),
)
rows(
    "over",
    t.over_window(
        Over.partition_by(col("k")).order_by(col("ts")).preceding(lit(10).seconds).following(CURRENT_RANGE).alias("x")
    ).select(col("k"), col("v"), col("v").sum.over(W).alias("s"), col("v").count.over(W)),
)
limit = 2
big = udf(lambda v: v > limit, result_type=DataTypes.BOOLEAN())
t_env.create_temporary_function("big", big)
t_env.create_temporary_view("bigs", t.where(big(col("v"))).select(col("k"), col("v")))
rows("view", t_env.from_path("bigs"))
rows("sql", t_env.sql_query("SELECT k, v FROM src WHERE NOT big(v)"))
two = (
    t.window(Tumble.over(lit(5).seconds).on(col("ts")).alias("x"))
    .group_by(W, col("k"))
    .select(W.rowtime.alias("rt"), col("v").sum.alias("v"))
)
rows(
    "twice",
    two.window(Tumble.over(lit(20).seconds).on(col("rt")).alias("y"))
    .group_by(col("y"))
    .select(col("y").start, col("v").sum),
)
print(sorted(t_env.list_temporary_views()), sorted(t_env.list_tables()), sorted(t_env.list_user_defined_functions()))
