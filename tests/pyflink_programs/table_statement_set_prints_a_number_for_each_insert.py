# compare: sorted
from pyflink.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.get_config().set("parallelism.default", "1")
for name in ("a", "b"):
    t_env.execute_sql("CREATE TABLE %s (n INT) WITH ('connector' = 'blackhole')" % name)
both = t_env.create_statement_set()
both.add_insert_sql("INSERT INTO a VALUES 1")
both.add_insert("b", t_env.sql_query("SELECT 2 AS n"))
result = both.execute()
result.wait()
result.print()
t_env.execute_sql("INSERT INTO a VALUES 3").print()
