"""Part of the Python side: optim groups."""
