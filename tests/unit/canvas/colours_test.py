"""The colours of drawings and pages: legible, and worse told from better also by eyes that lack one
kind of cone, as about one man in twelve has."""

import math
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DRAWING = (ROOT / "service/canvas/src/drawing.css").read_text(encoding="utf-8")
PAGE = (ROOT / "service/pages/src/style.css").read_text(encoding="utf-8")
SCHEMES = ("light", "dark")

Colour = tuple[float, float, float]  # linear red, green and blue, 0 to 1
Palette = dict[str, Colour]

LEGIBLE = 4.5  # WCAG 2.1, 1.4.3: of text and what it stands on
APART = 20.0  # CIE 1976 colour difference; neighbours of a palette are a few units apart
PALE_APART = 10.0  # of large fields, which carry their number and sign besides

# G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, A Physiologically-based Model for Simulation of
# Color Vision Deficiency, IEEE TVCG 15(6), 2009: the matrices of severity 1.0.
LACKING = {
    "red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(hexadecimal: str) -> Colour:
    def one(at: int) -> float:
        share = int(hexadecimal[at : at + 2], 16) / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    return (one(1), one(3), one(5))


def contrast(first: Colour, second: Colour) -> float:
    def luminance(colour: Colour) -> float:
        red, green, blue = colour
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def seen(colour: Colour, lacking: str) -> Colour:
    def one(row: Colour) -> float:
        return min(1.0, max(0.0, sum(a * b for a, b in zip(row, colour, strict=True))))

    first, second, third = LACKING[lacking]
    return (one(first), one(second), one(third))


def lab(colour: Colour) -> Colour:
    red, green, blue = colour
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883

    def root(value: float) -> float:
        return float(value ** (1 / 3)) if value > 0.008856 else 7.787 * value + 16 / 116

    return (116 * root(y) - 16, 500 * (root(x) - root(y)), 200 * (root(y) - root(z)))


def apart(first: Colour, second: Colour, lacking: str) -> float:
    return math.dist(lab(seen(first, lacking)), lab(seen(second, lacking)))


def block(sheet: str, selector: str) -> str:
    """What a rule declares; the selector must be there."""
    found = re.search(rf"(?:^|\n) *{re.escape(selector)} {{(.*?)}}", sheet, re.DOTALL)
    return found[1] if found else f"no rule {selector}"


def pairs(declared: str, scheme: str) -> Palette:
    """The colours of `light-dark(#..., #...)`."""
    rows = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", declared)
    return {name: linear((light, dark)[SCHEMES.index(scheme)]) for name, light, dark in rows}


def plain(declared: str) -> Palette:
    return {name: linear(value) for name, value in re.findall(r"--([\w-]+): (#\w{6});", declared)}


def of_drawing(scheme: str) -> Palette:
    sheet = DRAWING if scheme == "light" else DRAWING[DRAWING.index("prefers-color-scheme: dark") :]
    return plain(block(sheet, ".drawing"))


class Colours(unittest.TestCase):
    def check_legible(self, palette: Palette) -> None:
        for mark in ("d-worse", "d-better"):
            self.assertGreaterEqual(contrast(palette[mark], palette["d-paper"]), LEGIBLE)
            self.assertGreaterEqual(contrast(palette["d-on"], palette[mark]), LEGIBLE)
            for pale in ("-pale", "-mid"):
                self.assertGreaterEqual(contrast(palette["d-ink"], palette[mark + pale]), LEGIBLE)

    def chips(self, scheme: str, chosen: str = "") -> Palette:
        palette = pairs(block(PAGE, ":root"), scheme)
        return palette | (pairs(block(PAGE, chosen), scheme) if chosen else {})

    def check_chips(self, palette: Palette) -> None:
        for name in ("alarm", "notice", "calm", "plain"):
            self.assertGreaterEqual(contrast(palette[name], palette[f"{name}-paper"]), LEGIBLE)
        for name in ("worse", "better", "link"):
            self.assertGreaterEqual(contrast(palette[name], palette["paper"]), LEGIBLE)

    def test_numbers_and_marks_of_drawings_are_legible(self) -> None:
        for scheme in SCHEMES:
            self.check_legible(of_drawing(scheme))

    def test_a_page_colours_drawings_as_a_file_of_their_own_does(self) -> None:
        for scheme in SCHEMES:
            self.assertEqual(pairs(block(PAGE, "main .drawing"), scheme), of_drawing(scheme))

    def test_worse_and_better_are_told_apart_without_one_kind_of_cone(self) -> None:
        for scheme in SCHEMES:
            palette = of_drawing(scheme)
            for lacking in LACKING:
                for shade, least in (("", APART), ("-mid", APART), ("-pale", PALE_APART)):
                    with self.subTest(scheme=scheme, lacking=lacking, shade=shade):
                        worse, better = palette[f"d-worse{shade}"], palette[f"d-better{shade}"]
                        self.assertGreaterEqual(apart(worse, better, lacking), least)

    def test_words_of_verdicts_are_legible_and_told_apart(self) -> None:
        for scheme in SCHEMES:
            palette = self.chips(scheme)
            self.check_chips(palette)
            for lacking in LACKING:
                with self.subTest(scheme=scheme, lacking=lacking):
                    self.assertGreaterEqual(
                        apart(palette["alarm"], palette["calm"], lacking), APART
                    )
                    self.assertGreaterEqual(
                        apart(palette["worse"], palette["better"], lacking), APART
                    )

    def test_red_and_green_by_choice_are_legible_and_no_default(self) -> None:
        chosen = '[data-colours="red-green"]'
        for scheme in SCHEMES:
            self.check_chips(self.chips(scheme, chosen))
            drawn = of_drawing(scheme) | pairs(block(PAGE, f"{chosen} main .drawing"), scheme)
            self.check_legible(drawn)
        # The measure tells the two apart: green and red of this choice fail it.
        words = self.chips("dark", chosen)
        self.assertLess(apart(words["alarm"], words["calm"], "green"), APART)


if __name__ == "__main__":
    unittest.main()
