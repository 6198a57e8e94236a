# compare: exact
from pyflink.common import Types

infos = [
    Types.STRING(), Types.BYTE(), Types.BOOLEAN(), Types.SHORT(), Types.INT(), Types.LONG(), Types.FLOAT(), Types.DOUBLE(),
    Types.CHAR(), Types.BIG_INT(), Types.BIG_DEC(), Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP(),
    Types.INSTANT(), Types.PICKLED_BYTE_ARRAY(), Types.LIST(Types.INT()), Types.MAP(Types.STRING(), Types.LONG()),
    Types.PRIMITIVE_ARRAY(Types.INT()), Types.BASIC_ARRAY(Types.STRING()), Types.OBJECT_ARRAY(Types.INT()),
    Types.TUPLE([Types.INT(), Types.STRING()]), Types.ROW([Types.INT(), Types.STRING()]),
    Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.ROW([Types.LONG()])]),
]
for info in infos:
    print(type(info).__name__, info)
print(Types.INT() == Types.INT(), Types.INT() == Types.LONG(), Types.LIST(Types.INT()) == Types.LIST(Types.INT()))
row = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
print(row.get_field_names(), row.get_field_types(), row.get_field_index("b"))
print(Types.TUPLE([Types.INT()]).get_field_types())
