from __future__ import annotations

import warnings

import pytest

from penstock.common import ConfigOptions, Configuration, ExecutionConfig, ParameterTool, options
from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.common.flink_options import flink_options


def test_typed_getters_and_setters() -> None:
    configuration = Configuration().set_integer("i", 7).set_boolean("b", True).set_float("f", 1.5)
    configuration.set_bytearray("x", bytearray(b"ab"))
    assert configuration.to_dict()["b"] == "true" and configuration.get_integer("i", 0) == 7
    assert configuration.get_boolean("b", False) is True and configuration.get_float("i", 0.0) == 7.0
    assert configuration.get_bytearray("x", None) == bytearray(b"ab")
    assert configuration.get_string("none", "d") == "d"
    with pytest.raises(ConfigurationError, match="'7' of 'i' is not of type bool"):
        configuration.get_boolean("i", False)


def test_copies_are_independent_and_compare_by_entries() -> None:
    first = Configuration.from_dict({"a": "1"})
    second = Configuration(first)
    assert first == second and hash(first) == hash(second)
    second.add_all(first, "p.")
    assert second.key_set() == {"a", "p.a"} and first.key_set() == {"a"}
    assert second.remove_config("a") is True and second.remove_config("a") is False
    with pytest.raises(NotSupportedError, match="j_configuration"):
        Configuration(None, object())


@pytest.mark.parametrize(
    ("text", "elements"),
    [("a;b", ["a", "b"]), ('[a, "b, c"]', ["a", "b, c"]), ("", []), (None, []), ("a,b", ["a,b"])],
)
def test_list_values(text: str | None, elements: list[str]) -> None:
    assert Configuration.parse_list_value(text) == elements


def test_own_options() -> None:
    limit = ConfigOptions.key("my.limit").int_type().default_value(10)
    assert Configuration().get(limit) == 10
    assert Configuration().set(limit, 3).get(limit) == 3
    assert ConfigOptions.key("k").string_type().no_default_value().default is None


def test_unknown_keys_name_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'parallelism.default'"):
        options.validate_key("paralelism.default")
    options.validate_key("spark.anything.at.all")
    with pytest.raises(ConfigurationError, match="pipeline.nam'.*'pipeline.name'"):
        options.validate(Configuration.from_dict({"pipeline.nam": "x"}))
    options.validate(Configuration.from_dict({"my-company.table": "views", "parallelism.default": "2"}))


def test_what_is_not_there_is_refused_and_says_when() -> None:
    with pytest.raises(NotSupportedError, match="refused.*spark.jars"):
        options.validate(Configuration.from_dict({"pipeline.jars": "file:///a.jar"}))
    with pytest.raises(NotSupportedError, match=r"refused.*spark.ssl"):
        options.validate(Configuration.from_dict({"security.ssl.internal.enabled": "true"}))
    options.validate(Configuration.from_dict({"security.ssl.internal.enabled": "false"}))
    options.validate(Configuration.from_dict({"restart-strategy.type": "none", "state.backend.type": "HashMap"}))
    with pytest.raises(ConfigurationError, match="'two'"):
        options.validate(Configuration.from_dict({"parallelism.default": "two"}))


def test_jars_of_connectors_pass_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_warned", set())
    jars = ["file:///lib/flink-sql-connector-kafka-5.0.0-2.2.jar", "file:///lib/flink-sql-parquet-2.3.0.jar"]
    with pytest.warns(UserWarning, match="pipeline.jars.*no effect: connectors and formats are Python"):
        options.validate(Configuration.from_dict({"pipeline.jars": ";".join(jars)}))
    with pytest.raises(NotSupportedError, match="refused.*spark.jars"):
        options.validate(Configuration.from_dict({"pipeline.classpaths": f"{jars[0]};file:///my-functions.jar"}))


def test_options_without_effect_warn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_warned", set())
    configuration = Configuration.from_dict({"python.fn-execution.bundle.size": "10"})
    with pytest.warns(UserWarning, match="no effect.*penstock.chunk.records"):
        options.validate(configuration)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options.validate(configuration)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("python.logging.level.overrides", "a.b:DEBUG"),
        ("execution.batch-shuffle-mode", "ALL_EXCHANGES_PIPELINED"),
        ("rest.port", "8082"),
        ("state.backend.local-recovery", "true"),
        ("execution.checkpointing.snapshot-compression", "true"),
        ("taskmanager.memory.flink.size", "1 gb"),
        ("cluster.evenly-spread-out-slots", "true"),
        ("kubernetes.taskmanager.cpu.amount", "2.0"),
        ("metrics.reporter.prom.port", "9249"),
        ("table.exec.state.ttl", "1 h"),
        ("high-availability.type", "zookeeper"),
    ],
)
@pytest.mark.filterwarnings("ignore:Option")
def test_every_option_of_flink_is_known(key: str, value: str) -> None:
    options.validate_key(key)
    options.validate(Configuration.from_dict({key: value}))


def test_the_default_of_an_option_passes_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options.validate(Configuration.from_dict({"rest.port": "8081", "heartbeat.interval": "10000 ms"}))


def test_the_registry_is_consistent() -> None:
    assert not {option.key for option in options.OPTIONS} & set(flink_options())
    assert len({option.key for option in options.OPTIONS}) == len(options.OPTIONS)
    for option in options.known_options().values():
        assert option.status.partition(":")[0] in ("works", "later", "no effect", "refused"), option
        for value in option.already_true:
            options.parse_value(option, value)


def test_values_of_options() -> None:
    configuration = Configuration.from_dict({"pipeline.auto-watermark-interval": "2 s"})
    assert options.value_of(configuration, "pipeline.auto-watermark-interval") == 2000
    assert options.value_of(configuration, "penstock.chunk.records") == 32768
    assert options.parse_map("{a: 1, b: 'x'}") == {"a": "1", "b": "x"}
    assert [options.parse_duration(text) for text in ("5", "5ms", "1 min", "2h")] == [5, 5, 60000, 7200000]


def test_execution_config() -> None:
    config = ExecutionConfig()
    assert (config.get_parallelism(), config.get_max_parallelism()) == (-1, -1)
    assert config.get_auto_watermark_interval() == 200
    assert config.set_parallelism(4).set_max_parallelism(16).get_parallelism() == 4
    assert config.set_auto_watermark_interval(50).get_auto_watermark_interval() == 50
    assert config.set_global_job_parameters({"a": 1}).get_global_job_parameters() == {"a": "1"}
    tool = ParameterTool.from_map({"k": "v"})
    assert config.set_global_job_parameters(tool).get_global_job_parameters() == {"k": "v"}
    config.enable_force_kryo().disable_force_avro().disable_closure_cleaner()
    assert (config.is_force_kryo_enabled(), config.is_force_avro_enabled()) == (True, False)
    assert not config.is_closure_cleaner_enabled() and config.enable_closure_cleaner().is_closure_cleaner_enabled()
    for wrong in (lambda: config.set_parallelism(0), lambda: config.set_max_parallelism(40000)):
        with pytest.raises(ValueError):
            wrong()
