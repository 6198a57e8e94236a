"""The time-to-live builder: defaults, choices and refusals."""

from __future__ import annotations

import pickle

import pytest

from penstock.common.errors import ProgramError
from penstock.common.time import Duration, Time
from penstock.common.typeinfo import Types
from penstock.datastream.state import StateTtlConfig, ValueStateDescriptor

Update, Visibility = StateTtlConfig.UpdateType, StateTtlConfig.StateVisibility


def test_defaults() -> None:
    config = StateTtlConfig.new_builder(Time.seconds(5)).build()
    assert config.get_ttl() == Time.seconds(5)
    assert config.get_update_type() is Update.OnCreateAndWrite
    assert config.get_state_visibility() is Visibility.NeverReturnExpired
    assert config.get_ttl_time_characteristic() is StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
    assert config.is_enabled()


def test_each_choice_of_the_builder() -> None:
    builder = StateTtlConfig.new_builder(Time.seconds(5)).update_ttl_on_read_and_write()
    config = builder.return_expired_if_not_cleaned_up().set_ttl(Time.seconds(7)).use_processing_time().build()
    assert config.get_update_type() is Update.OnReadAndWrite
    assert config.get_state_visibility() is Visibility.ReturnExpiredIfNotCleanedUp
    assert config.get_ttl().to_milliseconds() == 7000
    back = builder.update_ttl_on_create_and_write().never_return_expired().build()
    assert back.get_update_type() is Update.OnCreateAndWrite
    assert back.get_state_visibility() is Visibility.NeverReturnExpired


def test_disabled_means_that_the_state_never_expires() -> None:
    config = StateTtlConfig.new_builder(Time.seconds(5)).set_update_type(Update.Disabled).build()
    descriptor = ValueStateDescriptor("v", Types.LONG())
    descriptor.enable_time_to_live(config)
    assert not config.is_enabled()
    assert descriptor.get_ttl_config() is None


def test_background_cleanup_has_defaults() -> None:
    cleanup = StateTtlConfig.new_builder(Time.seconds(5)).build().get_cleanup_strategies()
    incremental = cleanup.get_incremental_cleanup_strategy()
    compaction = cleanup.get_rocksdb_compact_filter_cleanup_strategy()
    assert incremental is not None and compaction is not None
    assert (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()) == (5, False)
    assert compaction.get_query_time_after_num_entries() == 1000
    assert compaction.get_periodic_compaction_time() == Duration.of_days(30)
    assert cleanup.is_cleanup_in_background()
    assert not cleanup.in_full_snapshot()


def test_explicit_cleanup_survives_disabling_the_background_one() -> None:
    builder = StateTtlConfig.new_builder(Time.seconds(5)).disable_cleanup_in_background()
    cleanup = builder.cleanup_incrementally(10, True).cleanup_full_snapshot().build().get_cleanup_strategies()
    incremental = cleanup.get_incremental_cleanup_strategy()
    assert incremental is not None
    assert (incremental.get_cleanup_size(), incremental.run_cleanup_for_every_record()) == (10, True)
    assert cleanup.get_rocksdb_compact_filter_cleanup_strategy() is None
    assert cleanup.in_full_snapshot()


def test_compaction_cleanup_takes_its_parameters() -> None:
    builder = StateTtlConfig.new_builder(Time.seconds(5))
    builder.cleanup_in_rocksdb_compact_filter(7, Duration.of_hours(1))
    strategy = builder.build().get_cleanup_strategies().get_rocksdb_compact_filter_cleanup_strategy()
    assert strategy is not None
    assert strategy.get_query_time_after_num_entries() == 7
    assert strategy.get_periodic_compaction_time() == Duration.of_hours(1)


def test_a_builder_used_again_does_not_change_what_it_has_built() -> None:
    builder = StateTtlConfig.new_builder(Time.seconds(5))
    first = builder.build()
    builder.cleanup_full_snapshot()
    assert not first.get_cleanup_strategies().in_full_snapshot()


def test_a_configuration_travels_with_its_descriptor() -> None:
    descriptor = ValueStateDescriptor("v", Types.LONG())
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(5)).cleanup_incrementally(3, False).build())
    copy = pickle.loads(pickle.dumps(descriptor)).get_ttl_config()
    assert copy.get_update_type() is Update.OnCreateAndWrite
    assert copy.get_cleanup_strategies().get_incremental_cleanup_strategy().get_cleanup_size() == 3


@pytest.mark.parametrize("ttl", [Time.seconds(0), Time.seconds(-1), 5000, None])
def test_a_lifetime_is_a_positive_time(ttl: object) -> None:
    with pytest.raises(ProgramError, match="time to live"):
        StateTtlConfig.new_builder(ttl)  # type: ignore[arg-type]


def test_enums_are_not_guessed() -> None:
    with pytest.raises(ProgramError, match="OnReadAndWrite"):
        StateTtlConfig.new_builder(Time.seconds(1)).set_update_type("OnReadAndWrite")  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="StateTtlConfig"):
        ValueStateDescriptor("v", Types.LONG()).enable_time_to_live(Time.seconds(1))  # type: ignore[arg-type]
