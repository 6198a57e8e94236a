"""Table API and SQL, in parts: types, SQL text, expressions, functions and logical plans.

There is no TableEnvironment yet, so nothing is exported here: what works is imported from its own module.
"""
