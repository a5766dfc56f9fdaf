"""Two kinds of pictures as SVG: bars of shares, and ratios with their intervals.

The service draws both (`/gpu`, `/compare`) on its pages, but no command prints them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log2
from xml.sax.saxutils import escape

WIDTH = 720
LABELS = 260  # the left part, with names
RIGHT = 24
TOP, ROW, BOTTOM = 70, 15, 34
SHARE_NAMES = ("active", "data movement", "idle")
STYLE = """\
<style>
text { font: 11px sans-serif; fill: #1c2024; }
.title { font-size: 15px; font-weight: bold; }
.paper { fill: #ffffff; }
.active { fill: #1f5fa8; }
.copy { fill: url(#stripes); stroke: #b3541e; }
.idle { fill: #ffffff; stroke: #8a9099; }
.line { stroke: #8a9099; }
.interval { stroke: #1f5fa8; stroke-width: 2; }
.value { fill: #1f5fa8; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e8ea; }
  .paper, .idle { fill: #14171b; }
  .active, .value { fill: #7db4f0; }
  .interval { stroke: #7db4f0; }
}
</style>
<defs><pattern id="stripes" width="4" height="4" patternUnits="userSpaceOnUse">
<path d="M0 4 L4 0" stroke="#b3541e" stroke-width="1.5"/></pattern></defs>"""


@dataclass(frozen=True)
class Bar:
    """How a device spent its time: shares of SHARE_NAMES, which add up to 1."""

    label: str
    shares: tuple[float, float, float]


@dataclass(frozen=True)
class Mark:
    label: str
    ratio: float
    interval: tuple[float, float] | None


def _text(x: float, y: float, said: str, anchor: str = "start", kind: str = "") -> str:
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{of_kind}>{escape(said)}</text>'


def _frame(title: str, said: str, rows: int, inside: list[str]) -> str:
    height = TOP + rows * ROW + BOTTOM
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
        f"<title>{escape(title)}</title><desc>{escape(said)}</desc>"
    )
    lines = [
        head,
        STYLE,
        f'<rect width="{WIDTH}" height="{height}" class="paper"/>',
        _text(12, 22, title, kind="title"),
        _text(12, 40, said),
        *inside,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _legend() -> list[str]:
    drawn, x = [], float(LABELS)
    for kind, name in zip(("active", "copy", "idle"), SHARE_NAMES, strict=True):
        drawn.append(f'<rect x="{x}" y="50" width="10" height="10" class="{kind}"/>')
        drawn.append(_text(x + 14, 59, name))
        x += 30 + 7 * len(name)
    return drawn


def bars(title: str, said: str, rows: Sequence[Bar]) -> str:
    """A horizontal bar a row, from 0 to 100 %."""
    wide = WIDTH - LABELS - RIGHT
    inside = _legend()
    for number, row in enumerate(rows):
        top, left = TOP + number * ROW, float(LABELS)
        inside.append(_text(LABELS - 6, top + 10, row.label, "end"))
        for kind, share in zip(("active", "copy", "idle"), row.shares, strict=True):
            size = f'x="{left:.1f}" y="{top + 2}" width="{wide * share:.1f}" height="{ROW - 4}"'
            inside.append(f'<rect {size} class="{kind}"/>')
            left += wide * share
    foot = TOP + len(rows) * ROW + 16
    inside += [
        _text(LABELS + wide * part / 4, foot, f"{25 * part} %", "middle") for part in range(5)
    ]
    return _frame(title, said, len(rows), inside)


def _ends(marks: Sequence[Mark]) -> tuple[float, float]:
    """The axis: at least from a quarter less to a third more, 1 always inside."""
    all_ends = [end for mark in marks for end in (mark.ratio, *(mark.interval or ()))]
    return min(0.75, *all_ends), max(4 / 3, *all_ends)


def _ticks(low: float, high: float) -> list[float]:
    """1 and its doubles and halves; on a short axis the ends of a quarter as well."""
    powers = [2.0**power for power in range(floor(log2(low)), floor(log2(high)) + 2)]
    inside = [tick for tick in powers if low <= tick <= high]
    return inside if len(inside) > 2 else sorted({0.8, 1.0, 1.25})


def ratios(title: str, said: str, axis: str, marks: Sequence[Mark]) -> str:
    """A row each: a dot at the ratio, a line over its interval. The axis is logarithmic; the line
    from top to bottom stands at 1, no change."""
    low, high = _ends(marks)
    scale = (WIDTH - LABELS - RIGHT) / (log2(high) - log2(low))

    def at(ratio: float) -> float:
        return LABELS + (log2(ratio) - log2(low)) * scale

    foot = TOP + len(marks) * ROW
    inside = [f'<line x1="{at(1):.1f}" x2="{at(1):.1f}" y1="{TOP - 6}" y2="{foot}" class="line"/>']
    inside += [_text(at(tick), foot + 14, f"{tick:g}", "middle") for tick in _ticks(low, high)]
    inside.append(_text(WIDTH - RIGHT, foot + 28, axis, "end"))
    for number, mark in enumerate(marks):
        middle = TOP + number * ROW + ROW / 2
        inside.append(_text(LABELS - 6, middle + 4, mark.label, "end"))
        if mark.interval:
            left, right = map(at, mark.interval)
            inside.append(
                f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}" '
                'class="interval"/>'
            )
        inside.append(f'<circle cx="{at(mark.ratio):.1f}" cy="{middle}" r="3.5" class="value"/>')
    return _frame(title, said, len(marks), inside)
