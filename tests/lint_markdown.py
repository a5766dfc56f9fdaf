"""The checks of lint_text.py for Markdown: links, lines, paragraphs, sizes."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from lint_file import File, Finding, joined

COLUMNS_MAX = 100
README_LINES_MAX = 60
PARAGRAPH_LINES_MAX = 6

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"#{1,6} +(.*?)\s*#*$")
FENCE = re.compile(r"\s*(?:```|~~~)")


def prose(file: File) -> Iterator[tuple[int, str]]:
    """The lines outside fenced code, with their numbers."""
    is_code = False
    for number, line in enumerate(file.lines, start=1):
        if FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            yield number, line


def anchor_of(heading: str) -> str:
    """As GitHub makes it: lower case, without punctuation, blanks as hyphens."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(file: File) -> set[str]:
    headings = [found.group(1) for _, line in prose(file) if (found := HEADING.match(line))]
    seen: Counter[str] = Counter()
    names = set()
    for anchor in map(anchor_of, headings):
        names.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return names


def links(file: File) -> Iterator[Finding]:
    if not file.is_markdown:
        return
    for number, line in prose(file):
        for target in LINK.findall(line):
            if "://" not in target and not target.startswith("mailto:"):
                yield from link(file, number, target)


def link(file: File, number: int, target: str) -> Iterator[Finding]:
    path, _, anchor = target.partition("#")
    place = joined(PurePosixPath(file.path).parent, path) if path else file.path
    is_folder = any(each.startswith(place + "/") for each in file.tracked)
    if place not in file.tracked and not is_folder:
        yield Finding(number, "reference", f"a link to {path}, not a file here, correct it")
    elif anchor and anchor not in anchors(File(place, file.read(place), file.tracked, file.read)):
        yield Finding(number, "reference", f"a link to #{anchor}, a heading that is not there")


def columns(file: File) -> Iterator[Finding]:
    if not file.is_markdown:
        return
    for number, line in enumerate(file.lines, start=1):
        is_table = line.lstrip().startswith("|")
        if len(line) > COLUMNS_MAX and not is_table and " " in line.strip():
            yield Finding(
                number, "size", f"{len(line)} columns, wrap at {COLUMNS_MAX} or write a table"
            )


# The table of all results is this README's purpose.
LONG_README = "docs/results/README.md"


def readme(file: File) -> Iterator[Finding]:
    is_folders = PurePosixPath(file.path).name == "README.md" and "/" in file.path
    if is_folders and file.path != LONG_README and len(file.lines) > README_LINES_MAX:
        yield Finding(
            README_LINES_MAX + 1,
            "size",
            f"{len(file.lines)} lines, a folder's README is one screen of {README_LINES_MAX}",
        )


BREAK = re.compile(r"\s*$|\s*\||#{1,6} |\s*(?:[-*+]|\d+\.) ")
OUTSIDE = re.compile(r"\s*\||#{1,6} ")  # a table, a heading


def paragraphs(file: File) -> Iterator[Finding]:
    if not file.is_markdown:
        return
    begin, last, size = 0, 0, 0
    for number, line in prose(file):
        if BREAK.match(line) or number != last + 1:
            size = 0
        if line.strip() and not OUTSIDE.match(line):
            size += 1
            begin = number if size == 1 else begin
        if size == PARAGRAPH_LINES_MAX + 1:
            text = f"a paragraph of more than {PARAGRAPH_LINES_MAX} lines, divide it"
            yield Finding(begin, "size", text)
            size = -len(file.lines)  # once is enough
        last = number


CHECKS = (links, columns, readme, paragraphs)
