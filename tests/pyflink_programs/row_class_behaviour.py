# compare: exact
from pyflink.common import Row, RowKind

r = Row(name="Ann", age=30)
print(r, repr(r), r.name, r["age"], r[0], len(r), r.as_dict(), list(r))
p = Row("Ann", 30)
print(p, p[1], len(p), p == Row("Ann", 30), p == Row("Ann", 31))
Person = Row("name", "age")
q = Person("Bob", 25)
print(q, q.name, q.age)
q.set_row_kind(RowKind.DELETE)
print(q.get_row_kind(), q)
print("name" in r, Row(a=1, b=Row(c=2)).as_dict(True))
print(r == Row(name="Ann", age=30), hash(p) == hash(Row("Ann", 30)))
p[1] = 31
print(p)
