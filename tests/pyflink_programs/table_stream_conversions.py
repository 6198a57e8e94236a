# compare: exact
from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, Schema, StreamTableEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
t_env = StreamTableEnvironment.create(env)
named = Types.ROW_NAMED(["name", "amount"], [Types.STRING(), Types.INT()])
rows = env.from_collection([Row("tea", 2), Row("cake", 3), Row("tea", 5)], named)
table = t_env.from_data_stream(rows)
table.print_schema()
t_env.create_temporary_view("orders", table)
big = t_env.sql_query("SELECT name, amount * 10 AS tenfold FROM orders WHERE amount > 2")
print(list(t_env.to_data_stream(big).execute_and_collect()))
totals = t_env.sql_query("SELECT name, SUM(amount) AS total FROM orders GROUP BY name")
for row in t_env.to_changelog_stream(totals).execute_and_collect():
    print(row.get_row_kind(), row)
numbers = t_env.from_data_stream(env.from_collection([1, 2], Types.INT()))
print(numbers.get_schema().get_field_names(), [tuple(row) for row in numbers.execute().collect()])
tuples = env.from_collection([(1, "a")], Types.TUPLE([Types.INT(), Types.STRING()]))
print(t_env.from_data_stream(tuples).get_schema().get_field_names())
typed = t_env.from_data_stream(rows, Schema.new_builder().column("name", DataTypes.STRING()).column(
    "amount", DataTypes.BIGINT()).build())
typed.print_schema()
