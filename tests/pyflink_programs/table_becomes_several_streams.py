# compare: sorted
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment
from pyflink.table.expressions import col

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)
people = env.from_collection([Row("a", 1), Row("b", 2)], Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()]))
table = t_env.from_data_stream(people)
t_env.to_data_stream(table).map(lambda r: "first %s %d" % (r[0], r[1]), Types.STRING()).print()
t_env.to_data_stream(table).map(lambda r: "again %s %d" % (r[0], r[1]), Types.STRING()).print()
t_env.to_append_stream(table.select(col("n")), Types.ROW([Types.INT()])).print("append")
t_env.to_changelog_stream(table.group_by(col("name")).select(col("name"), col("n").sum.alias("n"))).map(
    lambda r: "%s %s %d" % (r.get_row_kind(), r[0], r[1]), Types.STRING()
).print("change")
env.execute()
