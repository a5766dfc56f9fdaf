"""Reads recordings of unchanged code, as tests/recordings/README.md describes them."""

import csv
import math
import statistics
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

COLUMNS = ["night", "process", "workload", "ns"]
COMPARISONS_MIN = 10

Samples = dict[str, dict[tuple[int, int], list[float]]]
"""By workload, then by (comparison, process)."""

Recording = dict[str, list[float]]
"""The comparisons' values of each workload, in order."""


class BadRecording(Exception):
    pass


def number_of(row: dict[str, str], column: str, convert: Callable[[str], float]) -> float:
    try:
        value = convert(row[column])
    except (TypeError, ValueError):
        value = math.nan
    if not (math.isfinite(value) and value >= 0 and (column != "ns" or value > 0)):
        raise BadRecording(
            f'{column} is "{row[column]}", not a number '
            + ("above 0" if column == "ns" else "from 0 on")
        )
    return value


def add_row(row: dict[str, str], samples: Samples) -> None:
    if None in row or None in row.values():
        raise BadRecording("has another number of fields than the first line")
    key = (int(number_of(row, "night", int)), int(number_of(row, "process", int)))
    samples[row["workload"]][key].append(number_of(row, "ns", float))


def read_rows(file: TextIO) -> Samples:
    reader = csv.DictReader(file)
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or [])]
    if missing:
        raise BadRecording(
            f"its first line names no column {', '.join(missing)}; needed are " + ", ".join(COLUMNS)
        )
    samples: Samples = defaultdict(lambda: defaultdict(list))
    for row in reader:
        try:
            add_row(row, samples)
        except BadRecording as reason:
            raise BadRecording(f"line {reader.line_num}: {reason}") from None
    return samples


def values_of_comparisons(of_workload: dict[tuple[int, int], list[float]]) -> dict[int, float]:
    processes = defaultdict(list)
    for (comparison, _), samples in sorted(of_workload.items()):
        processes[comparison].append(statistics.median(samples))
    return {comparison: statistics.median(medians) for comparison, medians in processes.items()}


def read_recording(path: Path) -> Recording:
    try:
        with path.open(newline="") as file:
            samples = read_rows(file)
    except OSError as error:
        raise BadRecording(f"{path}: cannot be read: {error.strerror}") from None
    except (BadRecording, UnicodeDecodeError, csv.Error) as reason:
        raise BadRecording(f"{path}: {reason}") from None
    values = {workload: values_of_comparisons(of) for workload, of in sorted(samples.items())}
    comparisons = {comparison for of_workload in values.values() for comparison in of_workload}
    for workload, of_workload in values.items():
        if lacking := comparisons - of_workload.keys():
            raise BadRecording(
                f"{path}: workload {workload} has no run in comparison {min(lacking)}"
            )
    if len(comparisons) < COMPARISONS_MIN:
        raise BadRecording(
            f"{path}: {len(comparisons)} comparisons; at least {COMPARISONS_MIN} are needed"
        )
    return {workload: list(of_workload.values()) for workload, of_workload in values.items()}
