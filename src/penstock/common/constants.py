"""Limits of 64-bit integers, under PyFlink's names: watermarks begin at the lowest and end at the highest."""

MAX_LONG_VALUE = (1 << 63) - 1
MIN_LONG_VALUE = -MAX_LONG_VALUE - 1
DEFAULT_OUTPUT_TAG = ""
