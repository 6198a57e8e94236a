"""Sources: planned by the driver as ranges of positions, read by the workers."""
