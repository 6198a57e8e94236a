"""Schemas of relations and catalog tables as users see them."""

from __future__ import annotations

from penstock.columns.typed.nodes import Typed
from penstock.table.catalog.columns import Column
from penstock.table.catalog.ddl_text import default_key_name
from penstock.table.catalog.resolved_schema import ResolvedSchema, UniqueConstraint, WatermarkSpec
from penstock.table.logical.nodes import Relation
from penstock.table.logical.resolved_table import ResolvedTable
from penstock.table.resolved_expression import ResolvedExpression
from penstock.table.sql import statements as st


def schema_of_relation(relation: Relation) -> ResolvedSchema:
    return ResolvedSchema([Column.physical(field.name, field.data_type) for field in relation.fields])


def schema_of_table(table: ResolvedTable, body: st.TableBody) -> ResolvedSchema:
    columns: list[Column] = []
    for declared, field, node in zip(body.columns, table.fields, table.expressions, strict=True):
        columns.append(_column(declared, field.data_type, node))
    marks = []
    if table.watermark is not None:
        place, node = table.watermark
        marks.append(WatermarkSpec.of(table.fields[place].name, ResolvedExpression(node)))
    key = None
    if body.primary_key is not None:
        name = body.primary_key.name or default_key_name(body.primary_key)
        key = UniqueConstraint.primary_key(name, list(table.primary_key))
    return ResolvedSchema(columns, marks, key)


def _column(declared: st.AnyColumn, data_type: object, node: Typed) -> Column:
    match declared:
        case st.ComputedColumn(name):
            column: Column = Column.computed(name, ResolvedExpression(node))
        case st.MetadataColumn(name, _, key, virtual):
            column = Column.metadata(name, node.data_type, key, virtual)
        case st.Column(name):
            column = Column.physical(name, node.data_type)
    return column.with_comment(declared.comment)
