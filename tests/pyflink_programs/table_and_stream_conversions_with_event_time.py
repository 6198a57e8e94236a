# compare: sorted
from pyflink.common import Types, Row, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment, Schema, DataTypes
from pyflink.table.expressions import col, lit
from pyflink.table.window import Tumble


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)
t_env.get_config().set_local_timezone("UTC")
ds = env.from_collection(
    [Row("a", 1, 1000), Row("b", 2, 2000), Row("a", 3, 61000), Row("b", 5, 62000), Row("a", 7, 125000)],
    Types.ROW_NAMED(["k", "v", "t"], [Types.STRING(), Types.INT(), Types.LONG()]),
).assign_timestamps_and_watermarks(WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp()))
table = t_env.from_data_stream(
    ds,
    Schema.new_builder()
    .column_by_expression("rt", "CAST(TO_TIMESTAMP_LTZ(t, 3) AS TIMESTAMP(3))")
    .column_by_metadata("ts", DataTypes.TIMESTAMP_LTZ(3), "rowtime")
    .watermark("rt", "rt - INTERVAL '1' SECOND")
    .build(),
)
w = (
    table.window(Tumble.over(lit(1).minutes).on(col("rt")).alias("w"))
    .group_by(col("w"), col("k"))
    .select(
        col("k"), col("w").start.alias("s"), col("w").end.alias("e"), col("v").sum.alias("v"), col("ts").max.alias("m")
    )
)
out = t_env.to_data_stream(w)
out.map(lambda r: "%s %s %s %s" % (r[0], r[1], r[2], r[3]), Types.STRING()).print()
env.execute()
counts = t_env.sql_query(f"SELECT k, COUNT(*) c, SUM(v) s FROM {table} GROUP BY k")
ch = t_env.to_changelog_stream(counts)
ch.map(lambda r: "%s %s" % (r.get_row_kind(), r), Types.STRING()).print("changes")
env.execute()
