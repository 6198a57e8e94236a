"""What lies behind a TableEnvironment: catalogs with their tables, statements, and the results that they give."""
