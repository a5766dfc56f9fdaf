"""Part of the Python side: worker messages."""
