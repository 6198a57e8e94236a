# compare: exact
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, lit
from pyflink.table.udf import udf

t_env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
t_env.get_config().set("parallelism.default", "1")


@udf(result_type=DataTypes.STRING())
def shout(word):
    return None if word is None else word.upper() + "!"


people = t_env.from_elements([(1, "Ann", 1.5), (2, "Bo", None), (3, None, 2.25)], DataTypes.ROW([
    DataTypes.FIELD("id", DataTypes.INT()), DataTypes.FIELD("name", DataTypes.STRING()),
    DataTypes.FIELD("size", DataTypes.DOUBLE())]))
people.order_by(col("id")).execute().print()
people.select(col("id"), shout(col("name")).alias("loud"), col("size") + lit(1)).order_by(col("id").desc).execute().print()
t_env.create_temporary_view("people", people)
t_env.execute_sql("SELECT COUNT(*) AS n, MAX(size) AS largest FROM people").print()
t_env.execute_sql("SELECT * FROM people WHERE id > 100").print()
t_env.execute_sql("SHOW TABLES").print()
t_env.execute_sql("DESCRIBE people").print()
print(t_env.execute_sql("SELECT 1 AS n").get_result_kind())
with people.select(col("name")).execute().collect() as results:
    print(sorted(str(row[0]) for row in results))
