# compare: exact
from pyflink.common import Types
from pyflink.datastream import OutputTag

tag = OutputTag("late", Types.INT())
print(tag.tag_id, tag.type_info == Types.INT())
for build in [lambda: OutputTag(""), lambda: OutputTag(None)]:
    try:
        build()
        print("is taken")
    except ValueError:
        print("is refused")
