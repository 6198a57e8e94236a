"""Table API and SQL, in parts: types, SQL text, expressions, functions and logical plans.

There is no TableEnvironment yet, so nothing is exported here: what works is imported from its own module.
"""

# `import pyflink.table` is refused as long as this is true, instead of failing at the first name that is missing.
UNFINISHED = True
