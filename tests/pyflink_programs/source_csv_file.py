# compare: exact
import os
import tempfile

from pyflink.common import WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource
from pyflink.datastream.formats.csv import CsvReaderFormat, CsvSchema
from pyflink.table import DataTypes

path = os.path.join(tempfile.mkdtemp(), "people.csv")
with open(path, "w", encoding="utf-8") as file:
    file.write('Ann,30,1.5,true\n"Bob, the second",25,0.25,false\n')

schema = (
    CsvSchema.builder()
    .add_string_column("name")
    .add_number_column("age", DataTypes.BIGINT())
    .add_number_column("size", DataTypes.DOUBLE())
    .add_boolean_column("member")
    .build()
)
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), path).build()
people = env.from_source(source, WatermarkStrategy.no_watermarks(), "csv")
for person in people.map(lambda p: (p["name"], p["age"] + 1, p["size"], p["member"])).execute_and_collect():
    print(person)
