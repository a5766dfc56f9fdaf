"""Part of the Python side: module keys."""
