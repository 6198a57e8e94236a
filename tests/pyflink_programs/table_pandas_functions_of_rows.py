# compare: exact
# Pandas functions whose arguments or results are rows: they are DataFrames.
import pandas as pd
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import col, row
from pyflink.table.udf import udf

PAIR = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.STRING())])


@udf(result_type=PAIR, func_type="pandas")
def two(number: pd.Series):
    return pd.DataFrame({"a": number + 1, "b": number.astype(str)})


@udf(result_type=PAIR, func_type="pandas")
def renamed(rows: pd.DataFrame):
    return pd.DataFrame({"other": rows.n * 2, "names": rows.s.str.upper()})


@udf(result_type=DataTypes.STRING(), func_type="pandas")
def columns_of(rows: pd.DataFrame):
    return pd.Series(["%s %s" % tuple(row) for row in rows.itertuples(index=False)])


def main():
    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.get_config().set("parallelism.default", "1")
    fields = [DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("s", DataTypes.STRING())]
    table = t_env.from_elements([(1, "x"), (2, None), (3, "z")], DataTypes.ROW(fields))
    table.select(col("s"), two(col("n")).alias("r")).execute().print()
    table.map(renamed).execute().print()
    table.map(two(col("n"))).execute().print()
    table.select(columns_of(row(col("n"), col("s"))).alias("c")).execute().print()


if __name__ == "__main__":
    main()
