"""How rows get into the file."""

import sqlite3
from typing import Any


def add(file: sqlite3.Connection, table: str, rows: list[tuple[Any, ...]], columns: str) -> None:
    """Inserts the rows."""
    if rows:
        marks = ",".join("?" * len(rows[0]))
        insert = f"INSERT INTO {table} ({columns}) VALUES ({marks})"  # noqa: S608 (our own names)
        file.executemany(insert, rows)
