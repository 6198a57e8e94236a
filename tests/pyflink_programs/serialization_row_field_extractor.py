# compare: exact
from pyflink.common.serialization import RowFieldExtractorSchema

for index in (0, 7, -1, "1", 1.5, None):
    try:
        RowFieldExtractorSchema(index)
        print(index, "is taken")
    except Exception:
        print(index, "is refused")
