# compare: exact
from pyflink.common import Configuration

for text in ["a;b;c", "[a, b, c]", "a", "", None, "['x y', z]", "[1, 2]", "- a\n- b", "a:1,b:2", "a; b", "[a;b]",
             "[]", "file:///x;file:///y", "[true, 1.5]"]:
    print(repr(text), Configuration.parse_list_value(text))
config = Configuration.from_dict({"pipeline.jars": "", "python.files": "a.py,b.py"})
print(sorted(config.to_dict().items()))
