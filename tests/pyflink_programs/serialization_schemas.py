# compare: exact
from pyflink.common.serialization import RowFieldExtractorSchema, SimpleStringSchema

for index in (-1, 0, 3):
    try:
        RowFieldExtractorSchema(index)
        print(index, "is taken")
    except ValueError as error:
        print(error)
print(type(SimpleStringSchema()).__name__, type(SimpleStringSchema("ISO-8859-1")).__name__)
