# compare: sorted
from pyflink.common import Types, Row, RowKind
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import *
from pyflink.table.expressions import *
from pyflink.table.changelog_mode import ChangelogMode

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)
ty = Types.ROW_NAMED(["name", "score"], [Types.STRING(), Types.INT()])
ds = env.from_collection(
    [
        Row.of_kind(RowKind.INSERT, "a", 12),
        Row.of_kind(RowKind.INSERT, "b", 5),
        Row.of_kind(RowKind.UPDATE_AFTER, "a", 100),
        Row.of_kind(RowKind.DELETE, "b", None),
    ],
    ty,
)
t = t_env.from_changelog_stream(
    ds,
    Schema.new_builder().primary_key("f0").build()
    if False
    else Schema.new_builder()
    .column("name", DataTypes.STRING().not_null())
    .column("score", DataTypes.INT())
    .primary_key("name")
    .build(),
    ChangelogMode.upsert(),
)
t_env.create_temporary_view("s", t)
t_env.execute_sql("SELECT name, score FROM s").print()
print(t_env.sql_query("SELECT SUM(score) total, COUNT(*) n FROM s").get_resolved_schema())
for r in t_env.execute_sql("SELECT SUM(score) total, COUNT(*) n FROM s").collect():
    print(r.get_row_kind(), r)
nested = Types.ROW_NAMED(
    ["id", "info"],
    [Types.INT(), Types.ROW_NAMED(["tags", "m"], [Types.LIST(Types.STRING()), Types.MAP(Types.STRING(), Types.INT())])],
)
nt = t_env.from_data_stream(
    env.from_collection([Row(id=1, info=Row(tags=["x", "y"], m={"k": 1})), Row(id=2, info=Row(tags=[], m={}))], nested)
)
print(nt.get_resolved_schema())
for r in (
    nt.select(col("id"), col("info").get("tags").alias("tags"), col("info").get("m").at("k").alias("k"), col("info"))
    .execute()
    .collect()
):
    print(r.get_row_kind(), r)
app = t_env.to_append_stream(nt.select(col("id")), Types.ROW([Types.INT()]))
app.print("app")
ret = t_env.to_retract_stream(
    t_env.sql_query("SELECT id % 1 g, COUNT(*) c FROM (VALUES 1, 2) AS v(id) GROUP BY id % 1"),
    Types.ROW([Types.INT(), Types.LONG()]),
)
ret.print("ret")
env.execute()
