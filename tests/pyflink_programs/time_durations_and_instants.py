# compare: exact
from pyflink.common import Duration, Instant, Time

print(Time.seconds(5).to_milliseconds(), Time.minutes(1).to_milliseconds(), Time.hours(1).to_milliseconds(), Time.days(1).to_milliseconds())
print(Time.milliseconds(7) == Time.milliseconds(7), Time.seconds(1) == Time.milliseconds(1000))
print(Duration.of_seconds(1) == Duration.of_millis(1000), Duration.of_minutes(1) == Duration.of_hours(1))
print(Instant.of_epoch_milli(1500).to_epoch_milli(), Instant.of_epoch_milli(1500) == Instant.of_epoch_milli(1500))
