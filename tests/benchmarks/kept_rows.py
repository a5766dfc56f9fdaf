"""Rows that a benchmark keeps as it makes them, so that it goes on where it was ended."""

import json


class KeptRows:
    """Those made so far, one line of JSON each."""

    def __init__(self, file):
        self._file = file
        lines = file.read_text().splitlines() if file.exists() else []
        self.rows = [json.loads(line) for line in lines]

    def add(self, row):
        self.rows.append(row)
        with self._file.open("a") as file:
            print(json.dumps(row), file=file)
