# compare: exact
from pyflink.common import Row, RowKind

row = Row(1, "a", None)
named = Row(n=1, s="a")
print(row, named, repr(row), repr(named), len(row), len(named))
print(named.as_dict(), Row(a=Row(b=1)).as_dict(), Row(a=Row(b=1)).as_dict(recursive=True))
print(row == Row(1, "a", None), row == Row(1, "a"), named == Row(s="a", n=1), row != Row(2, "a", None))
print("n" in named, named["n"], named[0], row[1], list(row), [v for v in named])
row[2] = "c"
named["s"] = "changed"
try:
    named.n = 9
except AttributeError:
    print("attributes are not set")
print(row, named)
row.set_field_names(["x", "y", "z"])
print(row, row.x, row["z"], row.as_dict())
Person = Row("name", "age")
alice = Person("Alice", 11)
print(Person, alice, alice.name, Person("Bob", 12).as_dict())
kinds = Row.of_kind(RowKind.DELETE, 5, "x")
print(kinds, kinds.get_row_kind(), [str(k) for k in RowKind], kinds == Row(5, "x"))
kinds.set_row_kind(RowKind.UPDATE_AFTER)
print(kinds, kinds.get_row_kind().name)
print(hash(Row(1, 2)) == hash(Row(1, 2)), {Row(1, 2): "v"}[Row(1, 2)])
for what, call in {
    "missing attribute": lambda: named.nothing,
    "missing name": lambda: named["nothing"],
    "missing index": lambda: row[7],
    "both": lambda: Row(1, a=2),
    "dict of positions": lambda: Row(1, 2).as_dict(),
    "too many": lambda: Person("a", 1, 2),
}.items():
    try:
        print(what, call())
    except Exception as error:
        print(what, type(error).__name__)
print(sorted([Row(2, "a"), Row(1, "z"), Row(1, "b")], key=lambda r: (r[0], r[1])))
try:
    print(Row(1, 2) < Row(1, 3), Row(2) > Row(1), Row(1) <= Row(1))
except TypeError:
    print("rows have no order")
