"""ExecutionConfig: settings of one environment that its jobs take over."""

from __future__ import annotations

from typing import Any

from penstock.common import options
from penstock.common.configuration import Configuration
from penstock.common.errors import NotSupportedError

__all__ = ["ExecutionConfig"]

_MOST_KEY_GROUPS = 1 << 15
_AUTO_WATERMARK = "pipeline.auto-watermark-interval"
_MAX_PARALLELISM = "pipeline.max-parallelism"
_GLOBAL_PARAMETERS = "pipeline.global-job-parameters"
_LATENCY_INTERVAL = "metrics.latency.interval"
_CANCELLATION_INTERVAL = "task.cancellation.interval"
_CANCELLATION_TIMEOUT = "task.cancellation.timeout"
_CLOSURE_CLEANER = "pipeline.closure-cleaner-level"
_FORCE_KRYO = "pipeline.force-kryo"
_FORCE_AVRO = "pipeline.force-avro"
_SNAPSHOT_COMPRESSION = "execution.checkpointing.snapshot-compression"


class ExecutionConfig:
    """Settings of an environment, kept in its :class:`Configuration`; ``env.get_config()`` returns it."""

    PARALLELISM_DEFAULT: int = -1
    PARALLELISM_UNKNOWN: int = -2

    def __init__(self, configuration: Configuration | None = None) -> None:
        if configuration is not None and not isinstance(configuration, Configuration):
            raise NotSupportedError(
                f"ExecutionConfig({configuration!r}): it takes a penstock Configuration, not a Java object."
            )
        self._configuration = Configuration() if configuration is None else configuration
        self._global_job_parameters: dict[str, str] | None = None

    # Time

    def set_auto_watermark_interval(self, interval: int) -> ExecutionConfig:
        """How often, in milliseconds, periodic watermark generators emit; 0: never."""
        if interval < 0:
            raise ValueError(f"The auto-watermark interval is 0 or more milliseconds, not {interval}.")
        self._configuration.set(_AUTO_WATERMARK, f"{interval} ms")
        return self

    def get_auto_watermark_interval(self) -> int:
        return int(options.value_of(self._configuration, _AUTO_WATERMARK))

    def set_latency_tracking_interval(self, interval: int) -> ExecutionConfig:
        """Kept, but without effect (the job's start warns of it)."""
        return self._set_millis(_LATENCY_INTERVAL, interval)

    def get_latency_tracking_interval(self) -> int:
        return int(options.value_of(self._configuration, _LATENCY_INTERVAL))

    # Parallelism

    def get_parallelism(self) -> int:
        """The parallelism of operators that set none; PARALLELISM_DEFAULT when nobody has said."""
        value = options.value_of(self._configuration, "parallelism.default")
        return self.PARALLELISM_DEFAULT if value is None else int(value)

    def set_parallelism(self, parallelism: int) -> ExecutionConfig:
        if parallelism == self.PARALLELISM_DEFAULT:
            self._configuration.remove_config("parallelism.default")
        elif parallelism < 1:
            raise ValueError(f"The parallelism is at least 1, or PARALLELISM_DEFAULT, not {parallelism}.")
        else:
            self._configuration.set("parallelism.default", parallelism)
        return self

    def get_max_parallelism(self) -> int:
        """The number of key groups; -1 when nobody has said."""
        return int(options.value_of(self._configuration, _MAX_PARALLELISM))

    def set_max_parallelism(self, max_parallelism: int) -> ExecutionConfig:
        if not 1 <= max_parallelism <= _MOST_KEY_GROUPS:
            raise ValueError(f"The maximum parallelism is from 1 to {_MOST_KEY_GROUPS}, not {max_parallelism}.")
        self._configuration.set(_MAX_PARALLELISM, max_parallelism)
        return self

    # Cancelling: Spark ends its tasks itself, so that these are kept without effect

    def get_task_cancellation_interval(self) -> int:
        return int(options.value_of(self._configuration, _CANCELLATION_INTERVAL))

    def set_task_cancellation_interval(self, interval: int) -> ExecutionConfig:
        return self._set_millis(_CANCELLATION_INTERVAL, interval)

    def get_task_cancellation_timeout(self) -> int:
        return int(options.value_of(self._configuration, _CANCELLATION_TIMEOUT))

    def set_task_cancellation_timeout(self, timeout: int) -> ExecutionConfig:
        return self._set_millis(_CANCELLATION_TIMEOUT, timeout)

    def _set_millis(self, key: str, millis: int) -> ExecutionConfig:
        if millis < 0:
            raise ValueError(f"{key} is 0 or more milliseconds, not {millis}.")
        self._configuration.set(key, f"{millis} ms")
        return self

    # Identity of operators

    def enable_auto_generated_uids(self) -> ExecutionConfig:
        self._configuration.set("pipeline.auto-generate-uids", True)
        return self

    def disable_auto_generated_uids(self) -> ExecutionConfig:
        """Every operator must then have a uid; a job with one that has none is refused."""
        self._configuration.set("pipeline.auto-generate-uids", False)
        return self

    def has_auto_generated_uids_enabled(self) -> bool:
        return bool(options.value_of(self._configuration, "pipeline.auto-generate-uids"))

    # Types

    def enable_generic_types(self) -> ExecutionConfig:
        self._configuration.set("pipeline.generic-types", True)
        return self

    def disable_generic_types(self) -> ExecutionConfig:
        """Every stream must then declare its type; a job with a pickled stream is refused."""
        self._configuration.set("pipeline.generic-types", False)
        return self

    def has_generic_types_disabled(self) -> bool:
        return not options.value_of(self._configuration, "pipeline.generic-types")

    def enable_object_reuse(self) -> ExecutionConfig:
        """Changes nothing, as in PyFlink: Python functions of a chain hand objects on without a copy."""
        self._configuration.set("pipeline.object-reuse", True)
        return self

    def disable_object_reuse(self) -> ExecutionConfig:
        """Changes nothing, as in PyFlink: Python functions of a chain hand objects on without a copy."""
        self._configuration.set("pipeline.object-reuse", False)
        return self

    def is_object_reuse_enabled(self) -> bool:
        return bool(options.value_of(self._configuration, "pipeline.object-reuse"))

    # Switches of Flink's Java side

    def enable_closure_cleaner(self) -> ExecutionConfig:
        """Already so: a function is pickled with what it refers to and nothing else."""
        self._configuration.set(_CLOSURE_CLEANER, "RECURSIVE")
        return self

    def disable_closure_cleaner(self) -> ExecutionConfig:
        """Kept, but without effect: Java's closure cleaner never sees a Python function, here or in PyFlink."""
        self._configuration.set(_CLOSURE_CLEANER, "NONE")
        return self

    def is_closure_cleaner_enabled(self) -> bool:
        return str(options.value_of(self._configuration, _CLOSURE_CLEANER)).upper() != "NONE"

    def enable_force_kryo(self) -> ExecutionConfig:
        """Kept, but without effect, as all that concerns the serialization of Java objects."""
        return self._switch(_FORCE_KRYO, True)

    def disable_force_kryo(self) -> ExecutionConfig:
        return self._switch(_FORCE_KRYO, False)

    def is_force_kryo_enabled(self) -> bool:
        return bool(options.value_of(self._configuration, _FORCE_KRYO))

    def enable_force_avro(self) -> ExecutionConfig:
        """Kept, but without effect, as all that concerns the serialization of Java objects."""
        return self._switch(_FORCE_AVRO, True)

    def disable_force_avro(self) -> ExecutionConfig:
        return self._switch(_FORCE_AVRO, False)

    def is_force_avro_enabled(self) -> bool:
        return bool(options.value_of(self._configuration, _FORCE_AVRO))

    def _switch(self, key: str, on: bool) -> ExecutionConfig:
        self._configuration.set(key, on)
        return self

    def get_default_kryo_serializer_classes(self) -> dict[str, str]:
        return {}

    def get_registered_kryo_types(self) -> list[str]:
        return []

    def get_registered_pojo_types(self) -> list[str]:
        return []

    def is_use_snapshot_compression(self) -> bool:
        return bool(options.value_of(self._configuration, _SNAPSHOT_COMPRESSION))

    def set_use_snapshot_compression(self, use_snapshot_compression: bool) -> ExecutionConfig:
        """Kept, but without effect: set spark.sql.streaming.stateStore.compression.codec."""
        self._configuration.set(_SNAPSHOT_COMPRESSION, bool(use_snapshot_compression))
        return self

    # Parameters

    def get_global_job_parameters(self) -> dict[str, str]:
        if self._global_job_parameters is not None:
            return dict(self._global_job_parameters)
        return dict(options.value_of(self._configuration, _GLOBAL_PARAMETERS) or {})

    def set_global_job_parameters(self, global_job_parameters_dict: dict[str, Any] | Any) -> ExecutionConfig:
        """Takes a dict or a ParameterTool; functions see them, and so does who looks at the job."""
        to_map = getattr(global_job_parameters_dict, "to_map", None)
        parameters = to_map() if to_map is not None else global_job_parameters_dict
        self._global_job_parameters = {str(key): str(value) for key, value in parameters.items()}
        return self

    # Two views of one environment are equal, and so are equal settings

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is ExecutionConfig
            and self._configuration == other._configuration
            and self.get_global_job_parameters() == other.get_global_job_parameters()
        )

    def __hash__(self) -> int:
        return hash(self._configuration)
