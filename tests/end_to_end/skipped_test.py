"""That nobody takes tests that were left out for tests that passed."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from command import CHECKOUT

HERE = Path(__file__).parent
SAYS = CHECKOUT / "tests/skipped.py"
CHROMIUM = "Chromium is missing; deploy/prerequisites --tests installs it"
# As CMake writes it: a test that passed, one of which a part was left out, others left out whole.
TESTS = f"""
add_test(passed sh -c "echo OK")
add_test(one_case sh -c "echo 'skipped: no sandbox'; echo 'All tests passed'")
add_test(a_part sh -c "echo 'test_b ... skipped \\"no sandbox\\"'; echo 'Ran 3 tests'")
add_test(failed sh -c "echo 'skipped: one part'; echo 'FAILED (failures=1, skipped=1)'; false")
add_test(whole sh -c "echo 'skipped: {CHROMIUM}'; echo 'OK (skipped=2)'")
add_test(part sh -c "echo 'skipped: {CHROMIUM}'; echo 'OK (skipped=1)'")
add_test(other sh -c "echo 'test_a ... skipped \\"no LibTorch\\"'; echo 'OK (skipped=1)'")
set_tests_properties(failed whole part other PROPERTIES
  SKIP_REGULAR_EXPRESSION "OK \\\\(skipped=")
"""


class Skipped(unittest.TestCase):
    def without_chromium(self, module: str, **variables: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as nothing:
            environment = {k: v for k, v in os.environ.items() if k != "CI"} | variables
            return subprocess.run(
                [sys.executable, "-B", "-m", "unittest", module],
                env=environment | {"PATH": nothing, "TORCHWATCH_LIBTORCH": nothing},
                cwd=HERE,
                text=True,
                capture_output=True,
                check=False,
            )

    def test_without_chromium_a_browser_test_is_skipped_and_fails_in_ci(self) -> None:
        modules = [*(file.stem for file in HERE.glob("browser*_test.py")), "triage_test.Triage"]
        self.assertGreater(len(modules), 2)
        for module in modules:
            with self.subTest(module):
                done = self.without_chromium(module)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"skipped: {CHROMIUM}\n", done.stdout)
                self.assertIn("OK (skipped=", done.stderr)
                done = self.without_chromium(module, CI="true")
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(CHROMIUM, done.stderr)

    def test_the_last_line_says_how_many_browser_tests_were_left_out(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "CTestTestfile.cmake").write_text(TESTS)
            results = folder / "tests.xml"
            subprocess.run(
                ["ctest", "--test-dir", folder, "--output-junit", results],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            said = subprocess.run(
                [sys.executable, SAYS, results], text=True, capture_output=True, check=True
            ).stdout.splitlines()
        self.assertEqual(
            said,
            [
                "SKIPPED: parts of 2 tests: no sandbox",
                "SKIPPED: 1 test: no LibTorch",
                f"SKIPPED: 2 browser tests: {CHROMIUM}",
            ],
        )


if __name__ == "__main__":
    unittest.main()
