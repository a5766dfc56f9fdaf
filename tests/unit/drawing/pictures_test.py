"""The accepted pictures: well-formed, named for screen readers, coloured by the style sheet."""

import re
import unittest
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PICTURES = sorted((ROOT / "tests/golden/drawing").glob("*.svg"))
STYLE_SHEET = (ROOT / "service/canvas/src/drawing.css").read_text(encoding="utf-8")


class Pictures(unittest.TestCase):
    def each(self) -> Iterator[Any]:
        self.assertEqual(len(PICTURES), 12)
        for path in PICTURES:
            with self.subTest(path.name):
                yield ET.parse(path).getroot()  # noqa: S314  files of this repository

    def test_each_has_a_name_and_a_description(self) -> None:
        for picture in self.each():
            links = list(picture.iter("{http://www.w3.org/2000/svg}a"))
            self.assertEqual(picture.get("role"), "group" if links else "img")
            by_id = {each.get("id"): each for each in picture.iter() if each.get("id")}
            names = picture.get("aria-labelledby", "").split()
            self.assertEqual(len(names), 2)
            for name, part in zip(names, ("title", "desc"), strict=True):
                self.assertEqual(by_id[name].tag, f"{{http://www.w3.org/2000/svg}}{part}")
                self.assertTrue(by_id[name].text.strip())

    def test_ids_are_unique_and_begin_with_the_frame_s(self) -> None:
        for picture in self.each():
            ids = [each.get("id") for each in picture.iter() if each.get("id")]
            self.assertEqual(len(ids), len(set(ids)))
            self.assertTrue(all(each.startswith("drawing-") for each in ids))

    def test_colours_come_from_classes_that_the_style_sheet_has(self) -> None:
        known = set(re.findall(r"\.([a-z][\w-]*)", STYLE_SHEET))
        for picture in self.each():
            for each in picture.iter():
                self.assertIsNone(each.get("style"))
                self.assertIsNone(each.get("stroke"))
                self.assertIn((each.get("fill") or "url(#drawing")[:12], "url(#drawing")
                self.assertLessEqual(set((each.get("class") or "").split()), known)

    def test_each_fits_its_own_box(self) -> None:
        for picture in self.each():
            _, _, width, height = map(float, picture.get("viewBox").split())
            for text in picture.iter():
                if text.get("x") is None or not text.text:
                    continue
                self.assertTrue(0 <= float(text.get("x")) <= width)
                self.assertTrue(0 <= float(text.get("y")) <= height)


if __name__ == "__main__":
    unittest.main()
