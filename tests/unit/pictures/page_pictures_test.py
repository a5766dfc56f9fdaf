"""The pictures of the pages in docs: one of each page, in each look, small, and no two the same."""

import re
import unittest
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PICTURES = {path.name: path.read_bytes() for path in (ROOT / "docs/pictures").glob("*.png")}
ROUTES = ROOT / "service/pages/src/routes.cpp"
LOOKS = ("", "-dark", "-narrow")
BYTES_MAX = 300_000
# Names of pictures that are not the last word of their page's path, or that without its ending.
NAMES = {
    "/": "tonight",
    "/nightlies/{name}": "comparison",
    "/compare/{pair}": "compare",
    "/machines/compare": "machines-compare",
    "/series": "all-series",
    "/series/{workload}/{configuration}/{variant}/{metric}": "series",
}
# Pages of other components than `pages`.
OTHERS = ("sign-in",)


def name_of(path: str) -> str:
    """What the pictures of a route's page are called: those of "/builds/{id}" are "build"."""
    first, _, rest = path[1:].partition("/")
    return NAMES.get(path, first.removesuffix("s") if rest else first)


class PagePictures(unittest.TestCase):
    def test_each_page_has_a_picture_of_each_look_and_no_other_is_kept(self) -> None:
        paths = re.findall(r'Entry(?: kOverview)?\{"(/[^"]*)"', ROUTES.read_text(encoding="utf-8"))
        names = {*OTHERS, *map(name_of, paths)}
        self.assertGreater(len(names), len(OTHERS))
        wanted = {f"{name}{look}.png" for name in names for look in LOOKS}
        self.assertEqual(wanted ^ PICTURES.keys(), set())

    def test_each_is_a_small_png(self) -> None:
        for name, picture in PICTURES.items():
            with self.subTest(name):
                self.assertTrue(picture.startswith(b"\x89PNG"))
                self.assertLess(len(picture), BYTES_MAX)

    def test_no_two_are_the_same(self) -> None:
        copies = Counter(PICTURES.values())
        same = sorted(name for name, picture in PICTURES.items() if copies[picture] > 1)
        self.assertEqual(same, [])


if __name__ == "__main__":
    unittest.main()
