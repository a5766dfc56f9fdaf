"""How many rounds an experiment makes whose interval comes from the rounds' differences."""

import argparse


def at_least_two(text: str) -> int:
    """The type of an option --rounds."""
    if int(text) < 2:
        raise argparse.ArgumentTypeError(
            "must be 2 or more: the interval comes from their differences"
        )
    return int(text)
