import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests" / "experiments"))

import scale
from kept_rows import KeptRows


class Exponents(unittest.TestCase):
    def test_the_exponent_is_the_slope_on_logarithmic_axes(self) -> None:
        self.assertAlmostEqual(scale.exponent([(10, 5), (100, 50), (1000, 500)]), 1)
        self.assertAlmostEqual(scale.exponent([(10, 3), (100, 3), (1000, 3)]), 0)
        self.assertAlmostEqual(scale.exponent([(10, 1), (100, 100)]), 2)

    def test_what_a_start_costs_at_small_sizes_does_not_count(self) -> None:
        points = [(1, 7.0), (10, 7.0), (100, 10.0), (1000, 100.0), (10_000, 1000.0)]
        self.assertAlmostEqual(scale.exponent(points), 1)


class Points(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.kept = KeptRows(Path(holder.name) / "points.jsonl")
        self.measured: list[int] = []
        self.curve = scale.Curve("drawn", "things", (10, 100, 1000), ("s",), self.measure)

    def measure(self, _: Any, size: int) -> dict[str, float]:
        self.measured.append(size)
        return {"s": size / 100}

    def test_a_point_that_is_kept_is_not_measured_again(self) -> None:
        self.kept.add({"curve": "drawn", "size": 100, "s": 1.0})
        scale.measure_all(cast(Any, None), self.kept, (self.curve,))
        self.assertEqual(self.measured, [10, 1000])

    def test_the_table_has_the_sizes_in_order_and_the_exponent(self) -> None:
        for size in (1000, 10, 100):
            self.kept.add({"curve": "drawn", "size": size, "s": size / 100})
        self.assertEqual(
            scale.table(self.kept, (self.curve,)),
            "\ndrawn: exponent 1.00\n\n|things|s|\n|-:|-:|\n|10|0.1|\n|100|1|\n|1,000|10|",
        )


if __name__ == "__main__":
    unittest.main()
