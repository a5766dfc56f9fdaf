#!/usr/bin/env python3
"""Compares nightlies of real PyTorch between which forty commits change Python alone.

    python_days.py [--days N] [--first SEED] [--slow adam|compiled] [--clean]

One commit makes training with Adam slower by a third, or calls of compiled graphs (--slow); one
leaks and one computes something else, at places drawn from the day's seed; on a clean day all forty
change comments. The wheels of the
nightlies are repacked from a release's, which pip fetches once, and served on this machine. A
finished day is kept in FOLDER and shown again; one that was interrupted resumes. Needs 3 GB for
each day.
"""

import argparse
import functools
import os
import random
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
sys.path[:0] = [
    str(CHECKOUT / "deploy" / "demonstration"),
    str(CHECKOUT / "tests" / "experiments"),
    str(CHECKOUT / "tests" / "support"),
]

import drawn_days  # noqa: E402
import python_day  # noqa: E402
from nightly_call import kept_row  # noqa: E402
from python_nightlies import NotAtHand, fetch_wheel  # noqa: E402
from wheel_index import Index  # noqa: E402

SLOW = {"adam": python_day.ADAM_A_THIRD, "compiled": python_day.COMPILED_A_THIRD}


def drawn(seed: int) -> dict[int, str]:
    """What is planted where. The first commit is the older nightly."""
    places = random.Random(f"python {seed}").sample(range(1, python_day.COMMITS), 3)
    return dict(zip(places, python_day.KINDS, strict=True))


def make_day(
    folder: Path, wheel: Path, planted: dict[int, str], slow: python_day.Edit
) -> dict[str, str]:
    shutil.rmtree(folder, ignore_errors=True)  # half a day
    folder.mkdir(parents=True)
    return python_day.write(folder, wheel, planted, slow)


def row_of(folder: Path, seed: int, wheel: Path, options: argparse.Namespace) -> drawn_days.Row:
    planted = {} if options.clean else drawn(seed)
    make = functools.partial(make_day, folder, wheel, planted, SLOW[options.slow])
    truth = drawn_days.kept_or_made(folder / "truth.json", make)
    index = Index()
    for nightly in folder.glob("*.whl"):
        index.add_file(nightly)
    text = python_day.configuration(index.url, is_compiled=options.slow == "compiled")
    if options.machine_lock:
        text += f'[executor]\nmachine_lock = "{options.machine_lock}"\n'

    def write_settings(_: Path) -> Path:
        settings = folder / "torchwatch.toml"
        settings.write_text(text)
        return settings

    try:
        return kept_row(
            folder / "comparison",
            options.torchwatch,
            write_settings,
            lambda found: drawn_days.row(seed, truth, found),
        )
    finally:
        index.close()


def main() -> None:
    parser = drawn_days.parser_of(__doc__.splitlines()[0], "python-days")
    parser.add_argument("--slow", choices=SLOW, default="adam", help="what gets slower (adam)")
    options = drawn_days.parse(parser)
    options.folder /= options.slow
    os.environ["no_proxy"] = "127.0.0.1"  # the index is on this machine
    try:
        wheel = fetch_wheel(CHECKOUT / "build" / "python_day_wheel")
    except NotAtHand as reason:
        sys.exit(f"python_days.py: {reason}")
    drawn_days.carry_out(options, lambda folder, seed: row_of(folder, seed, wheel, options))


if __name__ == "__main__":
    main()
