# compare: exact
from pyflink.common import Row

row = Row(name="tea", n=2)
print(row.name, row["n"], row[0], len(row), list(row), row.as_dict(), "name" in row)
row["n"] = 3
row[0] = "coffee"
print(row)
make = Row("a", "b")
print(make(1, 2), make(1, 2).a)
positional = Row(1, "x")
print(positional, positional[1], [value for value in positional])
print(Row(1, 2) == Row(1, 2), Row(a=1) == Row(a=1), hash(Row(1)) == hash(Row(1)))
positional.set_field_names(["p", "q"])
print(positional.q, positional.as_dict())
for call in [lambda: row.missing, lambda: row["missing"], lambda: Row(1, a=2)]:
    try:
        call()
        print("passes")
    except Exception as error:
        print(type(error).__name__)
