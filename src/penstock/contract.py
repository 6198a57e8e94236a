"""What of PyFlink's API Penstock refuses, and why: one table, which the contract test holds against what happens.

A key is a module, a class or a member by its full name in PyFlink; it stands for everything below it.
"""

from __future__ import annotations

from typing import Final

from penstock.datastream.connectors._later import LATER

_JAVA: Final = "there is no Java behind Penstock: its objects are used as they are"

_NO_SMILE: Final = "plans are kept as JSON, not in Jackson's binary form"
_OLD: Final = "Schema.new_builder() and TableDescriptor replaced it"
_TABLE: Final[dict[str, str]] = {
    "functions": "they are Python forms of Flink's own aggregates: call those of SQL",
    "catalog.HiveCatalog": "it needs Flink's Hive connector, which is Java: use a catalog of type 'file'",
    "module.HiveModule": "it holds Java functions",
    "compiled_plan.CompiledPlan.as_smile_bytes": _NO_SMILE,
    "plan_reference.PlanReference.from_smile_bytes": _NO_SMILE,
    "table_pipeline.TablePipeline.compile_plan": "plans are compiled from SQL text: use compile_plan_sql()",
    **{
        f"table_environment.TableEnvironment.{name}": "no Java code runs: write the function in Python"
        for name in ("create_java_function", "create_java_temporary_function", "create_java_temporary_system_function")
    },
    "descriptors": _OLD,
    "serializers.ArrowSerializer": "it moves rows between Python and Java: use TableResult.to_arrow()",
    **{
        f"types.{kind}ViewType.{way}_sql_type": "a view is no value of a row"
        for kind in ("List", "Map")
        for way in ("from", "to")
    },
    "utils": "it serves PyFlink's link to Java: use from_pandas(), to_pandas() and to_arrow()",
}

REFUSED: Final[dict[str, str]] = {
    **{f"pyflink.table.{name}": why for name, why in sorted(_TABLE.items())},
    **{f"pyflink.datastream.{module}": why for module, (why, _, _) in sorted(LATER.items())},
    "pyflink.datastream.formats.avro.GenericRecordAvroTypeInfo.get_java_type_info": _JAVA,
    "pyflink.datastream.formats.csv.CsvSchemaBuilder.set_any_property_name": "rows have fixed columns",
    **{
        f"pyflink.datastream.connectors.elasticsearch.{name}.get_http_host_class": _JAVA
        for name in ("Elasticsearch6SinkBuilder", "Elasticsearch7SinkBuilder", "ElasticsearchSinkBuilderBase")
    },
    "pyflink.common.typeinfo.TypeInformation.get_java_type_info": _JAVA,
    "pyflink.common.typeinfo.PickledBytesTypeInfo.get_java_type_info": _JAVA,
    "pyflink.common.typeinfo.DateTypeInfo.get_java_type_info": _JAVA,
    "pyflink.common.typeinfo.TimeTypeInfo.get_java_type_info": _JAVA,
    "pyflink.common.typeinfo.TimestampTypeInfo.get_java_type_info": _JAVA,
    "pyflink.common.types.RowKind.to_j_row_kind": _JAVA,
    "pyflink.common.utils.JavaObjectWrapper.get_java_object": _JAVA,
    "pyflink.common.watermark_strategy.AssignerWithPeriodicWatermarksWrapper": (
        "it wraps Java code: use WatermarkStrategy.for_generator()"
    ),
    "pyflink.datastream.checkpoint_storage.CustomCheckpointStorage": "it wraps Java classes",
    "pyflink.datastream.state_backend.CustomStateBackend": "it wraps Java classes",
    "pyflink.datastream.state_backend.EmbeddedRocksDBStateBackend.set_options": "it names a Java class",
    "pyflink.datastream.functions.JavaFunctionWrapper": _JAVA,
    "pyflink.datastream.output_tag.OutputTag.get_java_output_tag": _JAVA,
    "pyflink.datastream.slot_sharing_group.MemorySize.get_java_memory_size": _JAVA,
    "pyflink.datastream.slot_sharing_group.SlotSharingGroup.get_java_slot_sharing_group": _JAVA,
    "pyflink.datastream.utils.create_hadoop_configuration": _JAVA,
    "pyflink.datastream.utils.create_java_properties": _JAVA,
    "pyflink.datastream.utils.convert_to_python_obj": _JAVA,
    "pyflink.datastream.utils.pickled_bytes_to_python_obj": _JAVA,
}


def refusal_of(name: str) -> str | None:
    """Why a name of PyFlink is refused, or None when Penstock has it."""
    while name:
        if name in REFUSED:
            return REFUSED[name]
        name = name.rpartition(".")[0]
    return None
