"""What users wrote, before names and types are looked up: expressions and queries, from SQL and Table API alike."""
