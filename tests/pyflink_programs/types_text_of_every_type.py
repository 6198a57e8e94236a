# compare: exact
from pyflink.common import Row, Types
from pyflink.common.typeinfo import (BasicArrayTypeInfo, ExternalTypeInfo, ListTypeInfo, MapTypeInfo, PickledBytesTypeInfo,
                                     PrimitiveArrayTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation)

every = [
    Types.STRING(), Types.BYTE(), Types.BOOLEAN(), Types.SHORT(), Types.INT(), Types.LONG(), Types.FLOAT(), Types.DOUBLE(),
    Types.CHAR(), Types.BIG_INT(), Types.BIG_DEC(), Types.INSTANT(), Types.SQL_DATE(), Types.SQL_TIME(),
    Types.SQL_TIMESTAMP(), Types.PICKLED_BYTE_ARRAY(), Types.ROW([Types.INT(), Types.STRING()]),
    Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.LIST(Types.INT())]), Types.TUPLE([Types.INT(), Types.LONG()]),
    Types.PRIMITIVE_ARRAY(Types.INT()), Types.BASIC_ARRAY(Types.STRING()), Types.OBJECT_ARRAY(Types.ROW([Types.INT()])),
    Types.MAP(Types.STRING(), Types.INT()), Types.LIST(Types.DOUBLE()),
]
for info in every:
    print(type(info).__name__, str(info), isinstance(info, TypeInformation))
row = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
print(row.get_field_names(), [str(t) for t in row.get_field_types()], isinstance(row, RowTypeInfo))
print(Types.TUPLE([Types.INT()]).get_field_types() == [Types.INT()], isinstance(Types.TUPLE([]), TupleTypeInfo))
print(row == Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]), row == Types.ROW([Types.INT(), Types.STRING()]))
for what, call in {
    "primitive array of strings": lambda: Types.PRIMITIVE_ARRAY(Types.STRING()),
    "basic array of rows": lambda: Types.BASIC_ARRAY(Types.ROW([Types.INT()])),
}.items():
    try:
        print(what, call())
    except Exception as error:
        print(what, type(error).__name__)
