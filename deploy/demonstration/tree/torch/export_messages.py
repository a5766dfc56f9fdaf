"""Part of the Python side: export messages."""
