"""Part of the Python side: fx names."""
