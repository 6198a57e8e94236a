# compare: sorted
from pyflink.common import Types, Row, Encoder
from pyflink.datastream import *
from pyflink.datastream.connectors.file_system import *
from pyflink.datastream.formats.csv import CsvSchema, CsvReaderFormat, CsvBulkWriters
from pyflink.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from pyflink.common import WatermarkStrategy
from pyflink.table import DataTypes
import tempfile, os, glob

d = tempfile.mkdtemp()
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
schema = (
    CsvSchema.builder()
    .add_number_column("id", DataTypes.BIGINT())
    .add_array_column("tags", "#", DataTypes.STRING())
    .add_string_column("name")
    .set_column_separator("|")
    .build()
)
rows = env.from_collection(
    [Row(1, ["a", "b"], "x"), Row(2, ["c"], "y|z"), Row(3, ["q"], "")],
    Types.ROW_NAMED(["id", "tags", "name"], [Types.LONG(), Types.BASIC_ARRAY(Types.STRING()), Types.STRING()]),
)
rows.sink_to(FileSink.for_bulk_format(d, CsvBulkWriters.for_schema(schema)).build())
env.execute()
for f in glob.glob(d + "/**/part*", recursive=True):
    print(open(f).read().rstrip("\n"))
src = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), d).build()
ds = env.from_source(src, WatermarkStrategy.no_watermarks(), "csv")
ds.map(lambda r: "%s %s %s" % (r["id"], r["tags"], r[2]), Types.STRING()).print()
env.execute()
