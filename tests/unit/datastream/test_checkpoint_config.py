"""Checkpoint settings are a view of the configuration with Flink's defaults."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.time import Duration
from penstock.datastream import CheckpointConfig, CheckpointingMode, ExternalizedCheckpointRetention


@pytest.fixture
def configuration() -> Configuration:
    return Configuration()


@pytest.fixture
def config(configuration: Configuration) -> CheckpointConfig:
    return CheckpointConfig(configuration)


def test_defaults(config: CheckpointConfig) -> None:
    assert not config.is_checkpointing_enabled()
    assert config.get_checkpoint_interval() == -1
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    assert config.get_checkpoint_timeout() == 600_000
    assert config.get_min_pause_between_checkpoints() == 0
    assert config.get_max_concurrent_checkpoints() == 1
    assert config.get_tolerable_checkpoint_failure_number() == 0
    assert config.is_fail_on_checkpointing_errors()
    assert not config.is_externalized_checkpoints_enabled()
    assert not config.is_unaligned_checkpoints_enabled()
    assert not config.is_force_unaligned_checkpoints()
    assert config.get_aligned_checkpoint_timeout() == Duration.of_millis(0)


def test_settings_are_written_to_the_configuration(config: CheckpointConfig, configuration: Configuration) -> None:
    chained = config.set_checkpoint_interval(1000).set_checkpoint_timeout(5000)
    assert chained is config
    assert configuration.get_string("execution.checkpointing.interval", None) == "1000 ms"
    assert (config.get_checkpoint_interval(), config.get_checkpoint_timeout()) == (1000, 5000)
    assert config.is_checkpointing_enabled()
    assert config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE


def test_settings_are_read_from_the_configuration(configuration: Configuration) -> None:
    configuration.set_string("execution.checkpointing.interval", "3 s")
    configuration.set_string("execution.checkpointing.mode", "at_least_once")
    config = CheckpointConfig(configuration)
    assert config.get_checkpoint_interval() == 3000
    assert config.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE


def test_tolerance_of_failures(config: CheckpointConfig) -> None:
    assert config.set_fail_on_checkpointing_errors(False).get_tolerable_checkpoint_failure_number() == 2**31 - 1
    assert not config.is_fail_on_checkpointing_errors()
    assert config.set_fail_on_checkpointing_errors(True).get_tolerable_checkpoint_failure_number() == 0
    assert config.set_tolerable_checkpoint_failure_number(5).get_tolerable_checkpoint_failure_number() == 5


def test_retention(config: CheckpointConfig) -> None:
    retain = ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION
    assert config.set_externalized_checkpoint_retention(retain).get_externalized_checkpoint_retention() is retain
    assert config.is_externalized_checkpoints_enabled()


@pytest.mark.parametrize(
    ("method", "argument"),
    [
        ("set_checkpoint_interval", 9),
        ("set_checkpoint_interval", 0),
        ("set_checkpoint_timeout", 9),
        ("set_min_pause_between_checkpoints", -1),
        ("set_max_concurrent_checkpoints", 0),
        ("set_tolerable_checkpoint_failure_number", -1),
        ("set_checkpointing_mode", "EXACTLY_ONCE"),
        ("set_aligned_checkpoint_timeout", 5),
    ],
)
def test_impossible_values_are_refused(config: CheckpointConfig, method: str, argument: Any) -> None:
    with pytest.raises(ConfigurationError):
        getattr(config, method)(argument)


def test_what_can_change_no_result_is_accepted_and_kept(config: CheckpointConfig) -> None:
    assert not config.enable_unaligned_checkpoints().is_unaligned_checkpoints_enabled(), "there are none"
    config.set_checkpoint_interval(1000)
    assert config.enable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()
    assert config.set_force_unaligned_checkpoints().is_force_unaligned_checkpoints()
    assert not config.disable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()
    assert config.enable_unaligned_checkpoints(False).set_max_concurrent_checkpoints(2) is config


def test_a_wrong_value_in_the_configuration_names_its_key(configuration: Configuration) -> None:
    configuration.set_string("execution.checkpointing.interval", "soon")
    with pytest.raises(ConfigurationError, match=r"execution\.checkpointing\.interval"):
        CheckpointConfig(configuration).get_checkpoint_interval()
