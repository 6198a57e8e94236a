# compare: exact
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import (
    and_, array, call_sql, coalesce, col, concat, if_then_else, lit, map_, not_, null_of, or_, row, row_interval, with_columns, without_columns, range_, uuid
)

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
t_env.get_config().set("table.local-time-zone", "UTC")
t = t_env.from_elements(
    [(1, "a", 10.5), (2, "b", None), (3, "a", 2.25), (4, None, 7.0), (5, "b", -1.0)],
    DataTypes.ROW([DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("k", DataTypes.STRING()), DataTypes.FIELD("x", DataTypes.DOUBLE())]),
)
o = t_env.from_elements([("a", "ann"), ("b", "bob"), ("c", "cid"), ("a", "amy")], ["key", "name"])


def shown(name, make):
    print(name)
    try:
        table = make()
        table.print_schema()
        with table.execute().collect() as rows:
            found = ["%s %s" % (one.get_row_kind(), tuple(one)) for one in rows]
        print("\n".join(sorted(found) if name in ("join", "sub", "union all") else found))
    except Exception as error:
        print("refused")


C = col
shown("add", lambda: t.add_columns((C("x") * 2).alias("y"), concat(C("k"), "!").alias("z")))
shown("add or replace", lambda: t.add_or_replace_columns(C("k").upper_case.alias("k"), lit(1).alias("one")))
shown("rename", lambda: t.rename_columns(C("id").alias("number")))
shown("drop", lambda: t.drop_columns(C("x"), C("k")))
shown("with", lambda: t.select(with_columns(range_("id", "k")), C("x").is_null.alias("n")))
shown("without", lambda: t.select(without_columns(C("x"))))
shown("where", lambda: t.where(and_(C("x") > 0, or_(C("k") == "a", C("k").is_null))).select(C("id")))
shown("filter not", lambda: t.filter(not_(C("k") == "a")))
shown("in", lambda: t.where(C("k").in_("a", "b")).select(C("id"), C("id").between(2, 4).alias("b"), C("x").not_between(0, 5)))
shown("distinct", lambda: t.select(C("k")).distinct())
shown("group", lambda: t.group_by(C("k")).select(C("k"), C("x").sum.alias("s"), C("x").avg.alias("a"), C("id").count.distinct.alias("c"), C("x").min.alias("m")))
shown("having", lambda: t.group_by(C("k")).select(C("k"), C("x").sum.alias("s")).where(C("s") > 5))
shown("aggregate all", lambda: t.select(C("x").sum0.alias("s"), C("k").count.alias("c"), C("id").max.alias("m"), C("k").collect.alias("l")))
shown("join", lambda: t.join(o, C("k") == C("key")).select(C("id"), C("name")))
shown("union all", lambda: t.select(C("k")).union_all(o.select(C("key"))).where(C("k") == "a"))
shown("order", lambda: t.order_by(C("x").desc).fetch(2))
shown("offset", lambda: t.order_by(C("id").asc).offset(1).fetch(2))
shown("limit", lambda: t.limit(2))
shown("collections", lambda: t.select(array(C("id"), 2).alias("a"), map_("k", C("k")).alias("m"), row(C("id"), "x").alias("r"), array(1, 2, 3).at(2).alias("e"), map_("k", 1).at("k"), array(1, 2).cardinality).limit(1))
shown("get", lambda: t.select(row(C("id"), C("k")).alias("r")).select(C("r").get("f1").alias("g"), C("r").flatten).limit(1))
shown("cast", lambda: t.select(C("x").cast(DataTypes.INT()).alias("i"), C("id").cast(DataTypes.STRING()), C("k").try_cast(DataTypes.INT()), null_of(DataTypes.DATE()).alias("n")))
shown("conditional", lambda: t.select(if_then_else(C("x") > 3, "big", "small").alias("s"), coalesce(C("k"), "none").alias("c"), C("x").if_null(0.0).alias("f"), (C("x") > 3).then(1, 2).alias("t")))
shown("text", lambda: t.select(C("k").lpad(3, "*"), C("k").substring(1, 1), C("k").position("a"), C("k").like("a%"), C("k").char_length, C("k").init_cap, C("k").overlay("zz", 1, 1), C("k").replace("a", "b"), C("k").trim(), C("k") + "x"))
shown("number", lambda: t.select(C("x").abs, C("x").floor(), C("x").ceil(), C("x").round(0), C("x").sign, C("id") % 2, -C("x"), C("id") / 2, C("x").truncate(1)))
shown("sql", lambda: t.select(call_sql("UPPER(k) || '!'").alias("u"), call_sql("id * 2 + 1").alias("n")))
shown("dates", lambda: t.select(lit("2024-02-29").to_date.alias("d"), lit("2024-02-29 10:00:00").to_timestamp.alias("ts"), (lit("2024-02-29").to_date + lit(1).month).alias("p"), lit("10:00:00").to_time.alias("h")).limit(1))
shown("missing", lambda: t.select(C("nothere")))
shown("bad types", lambda: t.select(C("k") * 2))
shown("bad join", lambda: t.join(t, C("id") == C("id")))
shown("as", lambda: t.alias("a", "b", "c").where(C("a") > 4))
shown("sub", lambda: t.where(C("k").in_(o.select(C("key")))).select(C("id")))
print(t.get_schema().get_field_names(), t.get_resolved_schema().get_column_names() if hasattr(t, "get_resolved_schema") else "")
