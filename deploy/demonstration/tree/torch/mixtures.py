"""Part of the Python side: mixtures."""
