"""Part of the Python side: schedules."""
