# compare: exact
from pyflink.common import Instant, Row, RowKind, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, Schema, StreamTableEnvironment
from pyflink.table.expressions import col, lit

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)
t_env.get_config().set("table.local-time-zone", "UTC")


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1] * 1000


def shown(table):
    with table.execute().collect() as rows:
        for row in rows:
            print(row.get_row_kind(), row)




def kind(row, row_kind):
    row.set_row_kind(row_kind)
    return row


log = env.from_collection(
    [
        kind(Row("a", 1), RowKind.INSERT),
        kind(Row("b", 5), RowKind.INSERT),
        kind(Row("a", 1), RowKind.UPDATE_BEFORE),
        kind(Row("a", 3), RowKind.UPDATE_AFTER),
        kind(Row("b", 5), RowKind.DELETE),
    ],
    Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()]),
)
table = t_env.from_changelog_stream(log)
table.print_schema()
shown(table.group_by(col("k")).select(col("k"), col("v").sum.alias("t"), col("v").count.alias("n")))
shown(t_env.sql_query(f"SELECT COUNT(*) AS n, MAX(v) AS m FROM {table}"))

upserts = env.from_collection(
    [
        kind(Row("a", 1), RowKind.INSERT),
        kind(Row("a", 2), RowKind.UPDATE_AFTER),
        kind(Row("b", 7), RowKind.UPDATE_AFTER),
        kind(Row("a", None), RowKind.DELETE),
    ],
    Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.INT()]),
)
schema = (
    Schema.new_builder()
    .column("k", DataTypes.STRING().not_null())
    .column("v", DataTypes.INT())
    .primary_key("k")
    .build()
)
from pyflink.table.changelog_mode import ChangelogMode

keyed = t_env.from_changelog_stream(upserts, schema, ChangelogMode.upsert())
shown(keyed)
shown(keyed.select(col("v").sum.alias("t")))

timed = env.from_collection([("a", 1, 10), ("b", 3, 20), ("a", 2, 30), ("a", 12, 40)]).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
)
named = timed.map(
    lambda r: Row(r[0], r[1], r[2]), Types.ROW_NAMED(["k", "s", "v"], [Types.STRING(), Types.INT(), Types.INT()])
)
events = t_env.from_data_stream(
    named,
    Schema.new_builder()
    .column_by_expression("twice", "v * 2")
    .column_by_metadata("rt", "TIMESTAMP_LTZ(3)", "rowtime")
    .column_by_expression("pt", "PROCTIME()")
    .watermark("rt", "SOURCE_WATERMARK()")
    .build(),
)
t_env.create_temporary_view("events", events)
shown(
    t_env.sql_query(
        "SELECT k, CAST(window_start AS STRING) AS ws, SUM(v) AS t FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(rt), INTERVAL '10' SECOND))"
        " GROUP BY window_start, window_end, k"
    )
)
back = t_env.to_data_stream(t_env.sql_query("SELECT k, v, rt FROM events"))
back.map(lambda r: "%s %s" % (r[0], r[1]), Types.STRING()).print()
env.execute()
counts = t_env.sql_query("SELECT k, COUNT(*) AS n FROM events GROUP BY k")
t_env.to_changelog_stream(counts).map(
    lambda r: "%s %s %s" % (r.get_row_kind(), r[0], r[1]), Types.STRING()
).print()
env.execute()
