# compare: exact
from pyflink.common import Types

print(Types.INT() == Types.INT(), Types.INT() == Types.LONG(), Types.STRING() != Types.CHAR())
print(Types.ROW([Types.INT()]) == Types.ROW([Types.INT()]), Types.TUPLE([Types.INT()]) == Types.TUPLE([Types.LONG()]))
print(Types.ROW_NAMED(["a"], [Types.INT()]).get_field_names(), Types.ROW([Types.INT(), Types.INT()]).get_field_names())
print(Types.MAP(Types.INT(), Types.STRING()) == Types.MAP(Types.INT(), Types.STRING()))
print(Types.LIST(Types.INT()) == Types.LIST(Types.STRING()), Types.BASIC_ARRAY(Types.INT()) == Types.BASIC_ARRAY(Types.INT()))
print(len(Types.TUPLE([Types.INT(), Types.STRING()]).get_field_types()))
