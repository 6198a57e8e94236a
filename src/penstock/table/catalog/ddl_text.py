"""Tables and views as the statements that create them: what SHOW CREATE gives without passwords, and what the file
catalog keeps."""

from __future__ import annotations

from penstock.common.credentials import shown_settings
from penstock.table.catalog.column_text import with_quoted_names
from penstock.table.catalog.object_names import quoted
from penstock.table.catalog.objects import CatalogBaseTable, CatalogModel
from penstock.table.sql import statements as st


def create_statement(path: tuple[str, ...], table: CatalogBaseTable, temporary: bool = False) -> str:
    name = ".".join(quoted(part) for part in path)
    word = "TEMPORARY " if temporary else ""
    if table._view is not None:
        columns = "".join(f"  {quoted(column)},\n" for column in table._view.columns)
        listed = f"(\n{columns.rstrip()[:-1]}\n)" if columns else ""
        comment = f"COMMENT '{_text(table._body.comment)}'\n" if table._body.comment else ""
        return f"CREATE {word}VIEW {name} {listed}{chr(10) if listed else ''}{comment}AS {table._view.text}"
    body = table._body
    names = [column.name for column in body.columns]
    parts = [_column(column, names) for column in body.columns]
    if body.watermark is not None:
        column = ".".join(quoted(part) for part in body.watermark.column)
        parts.append(f"WATERMARK FOR {column} AS {with_quoted_names(body.watermark.text, names)}")
    if body.primary_key is not None:
        key = body.primary_key
        columns = ", ".join(quoted(column) for column in key.columns)
        parts.append(f"CONSTRAINT {quoted(key.name or default_key_name(key))} PRIMARY KEY ({columns}) NOT ENFORCED")
    lines = [f"CREATE {word}TABLE {name} (", ",\n".join(f"  {part}" for part in parts), ")"]
    if body.comment:
        lines.append(f"COMMENT '{_text(body.comment)}'")
    if body.distribution is not None:
        lines.append(_distribution(body.distribution))
    if body.partitioned_by:
        lines.append(f"PARTITIONED BY ({', '.join(quoted(column) for column in body.partitioned_by)})")
    if body.options:
        lines.append(f"WITH (\n{options_text(body.options)}\n)")
    return "\n".join(lines)


def create_model_statement(path: tuple[str, ...], model: CatalogModel, temporary: bool = False) -> str:
    lines = [f"CREATE {'TEMPORARY ' if temporary else ''}MODEL {'.'.join(quoted(part) for part in path)}"]
    for word, schema in zip(("INPUT", "OUTPUT"), model._schemas or (None, None), strict=True):
        if schema is not None and schema._body.columns:
            lines.append(f"{word} ({', '.join(_column(column, []) for column in schema._body.columns)})")
    if model.get_comment():
        lines.append(f"COMMENT '{_text(model.get_comment())}'")
    lines.append(f"WITH (\n{options_text(shown_options(tuple(model.get_options().items())))}\n)")
    return "\n".join(lines)


def options_text(options: st.Options) -> str:
    return ",\n".join(f"  '{_text(key)}' = '{_text(value)}'" for key, value in sorted(options))


def shown_options(options: st.Options) -> st.Options:
    return tuple(shown_settings(dict(options)).items())


def default_key_name(key: st.PrimaryKey) -> str:
    return "_".join(["PK", *key.columns])


def _column(column: st.AnyColumn, names: list[str]) -> str:
    comment = f" COMMENT '{_text(column.comment)}'" if column.comment else ""
    match column:
        case st.ComputedColumn(name, _, text):
            return f"{quoted(name)} AS {with_quoted_names(text, names)}{comment}"
        case st.MetadataColumn(name, data_type, key, virtual):
            source = f" FROM '{_text(key)}'" if key is not None else ""
            word = " VIRTUAL" if virtual else ""
            return f"{quoted(name)} {data_type.as_serializable_string()} METADATA{source}{word}{comment}"
        case st.Column(name, data_type):
            return f"{quoted(name)} {data_type.as_serializable_string()}{comment}"
    raise AssertionError(column)


def _distribution(distribution: st.Distribution) -> str:
    columns = f"({', '.join(quoted(column) for column in distribution.columns)})" if distribution.columns else ""
    kind = f" BY {distribution.kind or ''}{columns}" if columns else ""
    buckets = f" INTO {distribution.buckets} BUCKETS" if distribution.buckets is not None else ""
    return f"DISTRIBUTED{kind}{buckets}"


def _text(value: str | None) -> str:
    return (value or "").replace("'", "''")
