"""The plan of tests/experiments/same_build.py: which blocks it makes, without making any."""

import sys
import unittest
from collections import Counter
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(CHECKOUT / "tests" / "experiments"))

from same_build import RECORDED, is_crossed, order_of, recorded_keys  # noqa: E402


class Plan(unittest.TestCase):
    def test_of_four_blocks_each_order_has_the_files_of_both_sides(self) -> None:
        for key in recorded_keys():
            for first in range(0, 40, 4):
                blocks = [
                    (order_of(1, key, number), is_crossed(1, key, number))
                    for number in range(first, first + 4)
                ]
                self.assertEqual(len(set(blocks)), 4, (key, first))

    def test_what_comes_first_is_drawn(self) -> None:
        keys = recorded_keys()
        for first in (order_of, is_crossed):
            drawn = Counter(first(1, key, 0) for key in keys)
            self.assertEqual(len(drawn), 2, drawn)

    def test_the_recording_has_both_modes_of_16_workloads_and_of_six_two_threads(self) -> None:
        keys = recorded_keys()
        self.assertEqual(len(set(RECORDED)), 16)
        self.assertEqual(Counter(threads for _, _, threads in keys), {1: 32, 2: 12})
        self.assertEqual({way for way, _, _ in keys}, {"interleaved"})


if __name__ == "__main__":
    unittest.main()
