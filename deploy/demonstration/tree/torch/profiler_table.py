"""Part of the Python side: profiler table."""
