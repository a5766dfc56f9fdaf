"""The accepted picture of an incident: other sites show it, so it has nothing from elsewhere."""

import re
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

FILE = Path(__file__).resolve().parents[3] / "tests/golden/incident_picture.svg"
SVG = "{http://www.w3.org/2000/svg}"


class IncidentPicture(unittest.TestCase):
    def setUp(self) -> None:
        self.text = FILE.read_text(encoding="utf-8")
        self.root = ET.fromstring(self.text)  # noqa: S314  a file of this repository

    def test_it_has_a_name_and_a_description(self) -> None:
        by_id = {each.get("id"): each for each in self.root.iter() if each.get("id")}
        names = self.root.get("aria-labelledby", "").split()
        self.assertEqual(len(names), 2)
        for name, part in zip(names, ("title", "desc"), strict=True):
            self.assertEqual(by_id[name].tag, f"{SVG}{part}")
            self.assertTrue((by_id[name].text or "").strip())

    def test_ids_are_unique_also_of_drawings_below_one_another(self) -> None:
        ids = [each.get("id") for each in self.root.iter() if each.get("id")]
        self.assertEqual(len(ids), len(set(ids)))
        for used in re.findall(r"url\(#([^)]+)\)", self.text):
            self.assertIn(used, ids)

    def test_it_loads_nothing_and_runs_nothing(self) -> None:
        self.assertEqual(list(self.root.iter(f"{SVG}script")), [])
        self.assertEqual(list(self.root.iter(f"{SVG}a")), [])
        self.assertNotIn("@import", self.text)
        self.assertNotIn("@font-face", self.text)
        for address in re.findall(r"https?://[^\s\"'<>]+", self.text):
            self.assertEqual(address, "http://www.w3.org/2000/svg")

    def test_it_is_made_for_light_and_for_dark(self) -> None:
        self.assertIn("prefers-color-scheme: dark", self.text)
        self.assertIn('class="paper"', self.text)

    def test_its_own_size_is_what_an_image_takes(self) -> None:
        width, height = self.root.get("width"), self.root.get("height")
        self.assertEqual(self.root.get("viewBox"), f"0 0 {width} {height}")
        self.assertIn(f"width: {width}px; height: {height}px;", self.text)


if __name__ == "__main__":
    unittest.main()
