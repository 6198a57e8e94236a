# compare: sorted
from pyflink.table import *
from pyflink.table.expressions import *

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
t = t_env.from_elements(
    [(1, "ab", 2.5, [1, 2], {"k": 1}, True), (2, None, -1.0, [], {}, None)],
    DataTypes.ROW(
        [
            DataTypes.FIELD("i", DataTypes.INT().not_null()),
            DataTypes.FIELD("s", DataTypes.STRING()),
            DataTypes.FIELD("d", DataTypes.DOUBLE()),
            DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.INT())),
            DataTypes.FIELD("m", DataTypes.MAP(DataTypes.STRING(), DataTypes.INT())),
            DataTypes.FIELD("b", DataTypes.BOOLEAN()),
        ]
    ),
)
t.select(
    col("s") + "x",
    col("s") + col("i"),
    lit("n") + 1,
    lit("a") + "b" + col("d"),
    col("s") + col("b"),
    lit("=") + null_of(DataTypes.INT()),
).execute().print()
t.select(
    if_then_else(col("b"), col("i"), lit(0)).alias("x"),
    if_then_else(col("i") > 1, "big", "small"),
    col("b").then("y", "n").alias("t"),
    col("s").if_null("none"),
    col("a").at(1),
    col("m").at("k"),
    col("a").cardinality,
).execute().print()
t.select(
    (col("i") + 1).alias("p"),
    -col("d"),
    col("d").abs,
    col("d").round(0),
    col("i").cast(DataTypes.STRING()),
    col("s").upper_case,
    col("s").substring(1, 1),
    col("s").like("a%"),
    col("i").in_(1, 5),
    col("d").between(-2, 0),
).execute().print()
t.add_columns(concat_ws("-", col("s"), lit("z")).alias("c")).rename_columns(col("i").alias("id")).drop_columns(
    col("m"), col("a")
).where(~col("b") | col("b").is_null).execute().print()
t.select(
    with_columns(range_("i", "d")), without_columns(col("a"), col("m")) if False else lit(1).alias("one")
).execute().print()
print(t) if False else None
t.get_schema() and print(t.get_schema().get_field_names(), t.get_schema().get_field_data_types())
u = t.select(col("i"), col("s")).union_all(t.select(col("i") + 10, lit("u"))).distinct()
for r in u.execute().collect():
    print(r)
j = (
    t.select(col("i"), col("s"))
    .join(t.select(col("i").alias("k"), col("d")))
    .where(col("i") == col("k"))
    .select(col("i"), col("d"))
)
j.execute().print()
t.group_by(col("b")).select(
    col("b"), col("i").sum.alias("s"), col("d").avg, col("s").count.alias("c"), col("i").max - col("i").min
).execute().print()
t.select(col("i").sum + 1, (col("d").max * 2).alias("m"), col("i").count.cast(DataTypes.STRING())).execute().print()
