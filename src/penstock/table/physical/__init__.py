"""From logical plans to operators of the DataStream graph."""
