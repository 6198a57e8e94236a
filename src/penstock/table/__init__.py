"""Table API and SQL.

from penstock.table import EnvironmentSettings, TableEnvironment

t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
t_env.execute_sql("SELECT 'Hello' AS word").print()
"""

from penstock.table.changelog_mode import ChangelogMode
from penstock.table.compiled_plan import CompiledPlan
from penstock.table.data_view import DataView, ListView, MapView
from penstock.table.environment_settings import EnvironmentSettings
from penstock.table.explain_detail import ExplainDetail
from penstock.table.expression import Expression
from penstock.table.model_descriptor import ModelDescriptor
from penstock.table.module import HiveModule, Module, ModuleEntry
from penstock.table.plan_reference import PlanReference
from penstock.table.result_kind import ResultKind
from penstock.table.schema import Schema
from penstock.table.sql_dialect import SqlDialect
from penstock.table.statement_set import StatementSet
from penstock.table.table import GroupedTable, GroupWindowedTable, OverWindowedTable, Table, WindowGroupedTable
from penstock.table.table_config import TableConfig
from penstock.table.table_descriptor import FormatDescriptor, TableDescriptor
from penstock.table.table_environment import StreamTableEnvironment, TableEnvironment
from penstock.table.table_pipeline import TablePipeline
from penstock.table.table_result import TableResult
from penstock.table.table_schema import TableSchema
from penstock.table.types import DataTypes, Row, RowKind, UserDefinedType
from penstock.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "DataView",
    "FunctionContext",
    "ListView",
    "MapView",
    "PlanReference",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "ChangelogMode",
    "CompiledPlan",
    "DataTypes",
    "EnvironmentSettings",
    "ExplainDetail",
    "Expression",
    "FormatDescriptor",
    "GroupWindowedTable",
    "GroupedTable",
    "HiveModule",
    "ModelDescriptor",
    "Module",
    "ModuleEntry",
    "OverWindowedTable",
    "ResultKind",
    "Row",
    "RowKind",
    "Schema",
    "SqlDialect",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TablePipeline",
    "TableResult",
    "TableSchema",
    "UserDefinedType",
    "WindowGroupedTable",
]
