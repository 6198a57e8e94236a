"""TableEnvironment: where a program declares tables and runs SQL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from penstock.columns.typesystem.base import DataType
from penstock.common.configuration import Configuration
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.stream import DataStream
from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
from penstock.table.catalog.base import Catalog
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import (
    CatalogBaseTable,
    CatalogDescriptor,
    CatalogFunction,
    CatalogModel,
    CatalogView,
)
from penstock.table.changelog_mode import ChangelogMode
from penstock.table.compiled_plan import CompiledPlan
from penstock.table.environment_settings import EnvironmentSettings
from penstock.table.expression import Expression
from penstock.table.logical import nodes as plan
from penstock.table.logical.queries import QueryBuilder
from penstock.table.logical.resolved_table import resolve_table
from penstock.table.logical.sinks import build_sink
from penstock.table.logical.tables import TableDefinition
from penstock.table.model_descriptor import ModelDescriptor
from penstock.table.module import Module, ModuleEntry
from penstock.table.plan_reference import PlanReference
from penstock.table.schema import Schema
from penstock.table.session import data_streams
from penstock.table.session.definition_statements import add_catalog
from penstock.table.session.explanation import explanation
from penstock.table.session.plan_documents import compiled
from penstock.table.session.program_rows import relation_of_elements, relation_of_frame
from penstock.table.session.show import user_functions
from penstock.table.session.statements import execute, sink_of
from penstock.table.session.table_session import TableSession
from penstock.table.sql import statements as st
from penstock.table.sql.dialect import parse_path, parse_statement
from penstock.table.sql.errors import SqlValidationError
from penstock.table.statement_set import StatementSet
from penstock.table.table import Table
from penstock.table.table_config import TableConfig
from penstock.table.table_descriptor import TableDescriptor
from penstock.table.table_result import TableResult

if TYPE_CHECKING:
    import pandas

__all__ = ["StreamTableEnvironment", "TableEnvironment"]

_NO_JAVA = "no Java code runs here. Write the function in Python: create_temporary_function(path, udf(..))"


class TableEnvironment:
    """Declares tables, views and functions, and runs SQL::

    t_env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    t_env.execute_sql("SELECT 1 AS a").print()
    """

    def __init__(self, j_tenv: Any = None, *, session: TableSession | None = None) -> None:
        if session is None:
            raise ProgramError("Make a TableEnvironment with TableEnvironment.create(settings).")
        self._session = session

    @staticmethod
    def create(environment_settings: EnvironmentSettings | Configuration) -> TableEnvironment:
        settings = _settings(environment_settings)
        env = StreamExecutionEnvironment.get_execution_environment(settings.get_configuration())
        return TableEnvironment(session=_session(env, settings))

    # Catalogs and modules

    def create_catalog(self, catalog_name: str, catalog_descriptor: CatalogDescriptor) -> None:
        if catalog_name in self._session.catalogs.catalogs:
            raise ProgramError(f"There is a catalog {catalog_name!r} already.")
        options = catalog_descriptor.configuration.to_dict()
        add_catalog(self._session, catalog_name, options, catalog_descriptor.comment)

    def register_catalog(self, catalog_name: str, catalog: Catalog) -> None:
        """A catalog of the program's own: a subclass of Catalog."""
        if catalog_name in self._session.catalogs.catalogs:
            raise ProgramError(f"There is a catalog {catalog_name!r} already.")
        if not isinstance(catalog, Catalog):
            raise ProgramError(f"register_catalog() takes a Catalog, not {catalog!r}.")
        self._session.catalogs.catalogs[catalog_name] = catalog

    def get_catalog(self, catalog_name: str) -> Catalog | None:
        return self._session.catalogs.catalogs.get(catalog_name)

    def load_module(self, module_name: str, module: Module) -> None:
        self._session.load_module(module_name)

    def unload_module(self, module_name: str) -> None:
        self._session.unload_module(module_name)

    def use_modules(self, *module_names: str) -> None:
        self._session.use_modules(list(module_names))

    def list_modules(self) -> list[str]:
        return list(self._session.used_modules)

    def list_full_modules(self) -> list[ModuleEntry]:
        return [ModuleEntry(name, name in self._session.used_modules) for name in self._session.modules]

    def list_catalogs(self) -> list[str]:
        return sorted(self._session.catalogs.catalogs)

    def list_databases(self) -> list[str]:
        return sorted(self._session.catalogs.catalog(self.get_current_catalog()).list_databases())

    def get_current_catalog(self) -> str:
        return self._session.catalogs.current_catalog

    def use_catalog(self, catalog_name: str) -> None:
        self._session.catalogs.use_catalog(catalog_name)

    def get_current_database(self) -> str:
        return self._session.catalogs.current_database

    def use_database(self, database_name: str) -> None:
        self._session.catalogs.use_database((database_name,))

    # Functions

    def create_java_temporary_system_function(self, name: str, function_class_name: str) -> None:
        raise NotSupportedError(f"create_java_temporary_system_function({name!r}): {_NO_JAVA}.")

    def create_temporary_system_function(self, name: str, function: Any) -> None:
        """A Python function under a name that hides built-in ones."""
        self._session.catalogs.functions[name.lower()] = CatalogFunction(function=function)

    def drop_temporary_system_function(self, name: str) -> bool:
        return self._session.catalogs.functions.pop(name.lower(), None) is not None

    def create_java_function(self, path: str, function_class_name: str, ignore_if_exists: bool | None = None) -> None:
        raise NotSupportedError(f"create_java_function({path!r}): {_NO_JAVA}.")

    def drop_function(self, path: str) -> bool:
        name = self._full_name(path)
        catalog, place = self._session.catalogs.catalog(name[0]), ObjectPath(name[1], name[2])
        found = catalog.function_exists(place)
        catalog.drop_function(place, True)
        return found

    def create_java_temporary_function(self, path: str, function_class_name: str) -> None:
        raise NotSupportedError(f"create_java_temporary_function({path!r}): {_NO_JAVA}.")

    def create_temporary_function(self, path: str, function: Any) -> None:
        """A Python function under a name of the current database."""
        self._session.catalogs.temporary_functions[self._full_name(path)] = CatalogFunction(function=function)

    def drop_temporary_function(self, path: str) -> bool:
        return self._session.catalogs.temporary_functions.pop(self._full_name(path), None) is not None

    def list_user_defined_functions(self) -> list[str]:
        return user_functions(self._session)

    def list_functions(self) -> list[str]:
        return [row[0] for row in self.execute_sql("SHOW FUNCTIONS").collect()]

    # Tables and views

    def create_temporary_table(
        self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool | None = False
    ) -> None:
        self._create(path, descriptor, True, bool(ignoreIfExists))

    def create_table(self, path: str, descriptor: TableDescriptor, ignoreIfExists: bool | None = False) -> None:
        self._create(path, descriptor, False, bool(ignoreIfExists))

    def _create(self, path: str, descriptor: TableDescriptor, temporary: bool, ignore: bool) -> None:
        body = descriptor._body()
        resolve_table(body)
        self._session.catalogs.create(self._full_name(path), CatalogBaseTable(body=body), temporary, ignore)

    def from_path(self, path: str) -> Table:
        """The table or view of that name."""
        return self.sql_query(f"SELECT * FROM {path}")

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """A table that has no name in a catalog."""
        return self.from_path(self._anonymous(CatalogBaseTable(body=descriptor._body())))

    def _anonymous(self, table: CatalogBaseTable) -> str:
        name = self._session.anonymous_name()
        self._session.catalogs.create(self._session.catalogs.full_name((name,)), table, True, False)
        return f"`{name}`"

    def _register_inline(self, table: Table) -> str:
        view = CatalogView("", relation=table._relation)
        return self._anonymous(CatalogBaseTable(body=st.TableBody(), view=view)).strip("`")

    def create_temporary_view(
        self,
        view_path: str,
        table_or_data_stream: Table | DataStream,
        *fields_or_schema: str | Expression[Any] | Schema,
    ) -> None:
        """A Table, or a DataStream, under a name."""
        table = table_or_data_stream
        if isinstance(table, DataStream):
            table = Table(data_streams.relation_of(table, fields_or_schema, self._session), self)
        view = CatalogView("", relation=table._relation)
        made = CatalogBaseTable(body=st.TableBody(), view=view)
        self._session.catalogs.create(self._full_name(view_path), made, True, False)

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool | None = False) -> None:
        view = CatalogView("", relation=table._relation)
        made = CatalogBaseTable(body=st.TableBody(), view=view)
        self._session.catalogs.create(self._full_name(view_path), made, False, bool(ignore_if_exists))

    def list_tables(self) -> list[str]:
        return self._session.catalogs.known_names()

    def list_views(self) -> list[str]:
        catalogs = self._session.catalogs
        return catalogs.list_tables(catalogs.current_catalog, catalogs.current_database, True)

    def list_materialized_tables(self) -> list[str]:
        return []

    def list_temporary_tables(self) -> list[str]:
        return self._temporary(False)

    def list_temporary_views(self) -> list[str]:
        return self._temporary(True)

    def _temporary(self, views: bool) -> list[str]:
        catalogs = self._session.catalogs
        place = (catalogs.current_catalog, catalogs.current_database)
        found = [name for name, table in catalogs.temporary.items() if (table._view is not None) == views]
        return sorted(name[2] for name in found if name[:2] == place)

    def drop_temporary_table(self, table_path: str) -> bool:
        return self._session.catalogs.drop(self._full_name(table_path), False, True, ignore=True)

    def drop_table(self, table_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        return self._session.catalogs.drop(self._full_name(table_path), False, False, bool(ignore_if_not_exists))

    def drop_temporary_view(self, view_path: str) -> bool:
        return self._session.catalogs.drop(self._full_name(view_path), True, True, ignore=True)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        return self._session.catalogs.drop(self._full_name(view_path), True, False, bool(ignore_if_not_exists))

    def _full_name(self, path: str) -> tuple[str, str, str]:
        return self._session.catalogs.full_name(parse_path(path))

    # Models

    def list_models(self) -> list[str]:
        """Of the current database, temporary ones before those of the catalog."""
        catalog = self._session.catalogs.catalog(self.get_current_catalog())
        lasting = catalog.list_models(self.get_current_database())
        return sorted({*lasting, *self.list_temporary_models()})

    def list_temporary_models(self) -> list[str]:
        here = (self.get_current_catalog(), self.get_current_database())
        return sorted(name[2] for name in self._session.catalogs.temporary_models if name[:2] == here)

    def drop_temporary_model(self, model_path: str) -> bool:
        return self._session.catalogs.temporary_models.pop(self._full_name(model_path), None) is not None

    def drop_model(self, model_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        name = self._full_name(model_path)
        catalog, path = self._session.catalogs.catalog(name[0]), ObjectPath(name[1], name[2])
        found = catalog.model_exists(path)
        catalog.drop_model(path, bool(ignore_if_not_exists))
        return found

    def create_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Keeps the description; no query can call it yet."""
        name = self._full_name(model_path)
        made = _model_of(model_descriptor)
        self._session.catalogs.catalog(name[0]).create_model(ObjectPath(*name[1:]), made, bool(ignore_if_exists))

    def create_temporary_model(
        self, model_path: str, model_descriptor: ModelDescriptor, ignore_if_exists: bool | None = False
    ) -> None:
        """Keeps the description for as long as the session lives."""
        name, known = self._full_name(model_path), self._session.catalogs.temporary_models
        if name in known and not ignore_if_exists:
            raise ProgramError(f"There is a temporary model {'.'.join(name)} already.")
        known.setdefault(name, _model_of(model_descriptor))

    # SQL

    def explain_sql(self, stmt: str, *extra_details: int) -> str:
        statement = parse_statement(stmt)
        if isinstance(statement, st.StatementSet):
            relations: list[plan.Relation] = [sink_of(one, self._session, stmt) for one in statement.inserts]
        elif isinstance(statement, st.Insert):
            relations = [sink_of(statement, self._session, stmt)]
        else:
            relations = [self._query(statement, stmt)]
        return explanation(relations, self._session, extra_details)

    def _query(self, statement: st.Statement, sql: str) -> plan.Relation:
        if not isinstance(statement, st.QueryStatement):
            raise ProgramError("This is no query: use execute_sql().")
        try:
            return QueryBuilder(self._session.catalogs).query(statement.query)
        except SqlValidationError as error:
            raise SqlValidationError(error.message, error.position, sql) from None

    def sql_query(self, query: str) -> Table:
        """The result of a query as a table, to go on with."""
        return Table(self._query(parse_statement(query), query), self)

    def execute_sql(self, stmt: str) -> TableResult:
        """Runs one statement. INSERT starts a job and returns at once: ``.wait()`` waits for its end."""
        return execute(stmt, self._session)

    def create_statement_set(self) -> StatementSet:
        return StatementSet(None, self)

    def _sink_into(self, table: Table, target: str | TableDescriptor, overwrite: bool) -> plan.Sink:
        catalogs = self._session.catalogs
        if isinstance(target, TableDescriptor):
            schema = Schema.new_builder().from_resolved_schema(table.get_resolved_schema()).build()
            path = self._full_name(self._anonymous(CatalogBaseTable(body=target._body(schema))))
        else:
            path = self._full_name(target)
        definition = catalogs.definition(path, catalogs.required(path, "table"))
        if not isinstance(definition, TableDefinition):
            raise ProgramError(f"{target!r} is a view: rows can be written only into tables.")
        return build_sink(table._relation, path, definition, overwrite)

    def load_plan(self, plan_reference: PlanReference) -> CompiledPlan:
        return CompiledPlan(plan_reference._document(), self)

    def compile_plan_sql(self, stmt: str) -> CompiledPlan:
        """The plan of an INSERT, to be kept and run later."""
        return CompiledPlan(compiled(stmt.strip().rstrip(";"), self._session), self)

    def execute_plan(self, plan_reference: PlanReference) -> TableResult:
        return self.load_plan(plan_reference).execute()

    # Settings

    def get_config(self) -> TableConfig:
        return self._session.config

    def add_python_file(self, file_path: str) -> None:
        self._session.env.add_python_file(file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        self._session.env.set_python_requirements(requirements_file_path, requirements_cache_dir)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        self._session.env.add_python_archive(archive_path, target_dir)

    # Rows of the program

    def from_elements(
        self, elements: Iterable[Any], schema: DataType | list[str] | None = None, verify_schema: bool = True
    ) -> Table:
        """A table of rows, tuples, dicts or objects; without schema their types are inferred."""
        return Table(relation_of_elements(list(elements), schema, self._session, verify_schema), self)

    def from_pandas(self, pdf: pandas.DataFrame, schema: Any = None, splits_num: int = 1) -> Table:
        """A table of the rows of a DataFrame."""
        return Table(relation_of_frame(pdf, schema, self._session), self)


class StreamTableEnvironment(TableEnvironment):
    """A TableEnvironment that turns DataStreams into tables, and tables into DataStreams."""

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment | None = None,
        environment_settings: EnvironmentSettings | None = None,
    ) -> StreamTableEnvironment:
        settings = _settings(environment_settings or EnvironmentSettings())
        env = stream_execution_environment
        if env is None:
            env = StreamExecutionEnvironment.get_execution_environment(settings.get_configuration())
        else:
            env._configuration.add_all(settings.get_configuration())
        return StreamTableEnvironment(session=_session(env, settings))

    def from_data_stream(self, data_stream: DataStream, *fields_or_schema: Expression[Any] | Schema) -> Table:
        """A stream of insertions as a table: by its type, by a Schema, or by expressions."""
        return Table(data_streams.relation_of(data_stream, fields_or_schema, self._session), self)

    def from_changelog_stream(
        self, data_stream: DataStream, schema: Schema | None = None, changelog_mode: ChangelogMode | None = None
    ) -> Table:
        """A stream of Rows whose kinds say what they mean as a table."""
        given = () if schema is None else (schema,)
        mode = changelog_mode or ChangelogMode.all()
        return Table(data_streams.relation_of(data_stream, given, self._session, mode), self)

    def to_data_stream(self, table: Table) -> DataStream:
        """A table to which rows are only added as a stream of Rows."""
        return data_streams.stream_of(table._relation, self._session, ChangelogMode.insert_only())

    def to_changelog_stream(
        self, table: Table, target_schema: Schema | None = None, changelog_mode: ChangelogMode | None = None
    ) -> DataStream:
        """Any table as a stream of Rows with kinds."""
        mode = changelog_mode or ChangelogMode.all()
        return data_streams.stream_of(table._relation, self._session, mode, target_schema)

    def to_append_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """The older form of :meth:`to_data_stream`: records of a declared type."""
        return data_streams.append_stream_of(table._relation, type_info, self._session)

    def to_retract_stream(self, table: Table, type_info: TypeInformation) -> DataStream:
        """Pairs ``(True, record)`` for rows that are added, and ``(False, record)`` for those that are taken back."""
        return data_streams.retract_stream_of(table._relation, type_info, self._session)


def _model_of(descriptor: ModelDescriptor) -> CatalogModel:
    schemas = (descriptor.get_input_schema(), descriptor.get_output_schema())
    return CatalogModel(schemas=schemas, options=descriptor.get_options(), comment=descriptor.get_comment())


def _settings(given: EnvironmentSettings | Configuration) -> EnvironmentSettings:
    if isinstance(given, Configuration):
        return EnvironmentSettings.new_instance().with_configuration(given).build()
    if not isinstance(given, EnvironmentSettings):
        raise ProgramError(f"A TableEnvironment is made with EnvironmentSettings, not {given!r}.")
    return given


def _session(env: StreamExecutionEnvironment, settings: EnvironmentSettings) -> TableSession:
    return TableSession(env, settings.get_built_in_catalog_name(), settings.get_built_in_database_name())
