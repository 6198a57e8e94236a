"""Long-running tasks on Spark that exchange chunks directly; barriers divide their streams into epochs."""
