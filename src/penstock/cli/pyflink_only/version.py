"""`from pyflink.version import __version__`: programs choose by it what of Flink's API they use."""

__version__ = "2.3.0"
