"""Sources and sinks of the systems that a job reads and writes, each system in a folder or file of its own."""
