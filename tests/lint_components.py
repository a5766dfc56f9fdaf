"""The checks of lint_text.py for the maps of components, which must say what the CMake files do:
the table of README.md and the drawing of docs/architecture.md; and no component is too large."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from lint_file import File, Finding

TABLE = "README.md"
DRAWING = "docs/architecture.md"
NO_COMPONENT = {"LibTorch", "nothing"}  # what a row may name beside components
# Programs of their own or what only they use: the drawing is of the service.
NOT_DRAWN = {"models", "runner", "runner/activity", "runner/torch"}
NOT_COUNTED = {"models"}  # as long as the suite has workloads
LINES_MAX = 3000
SOURCES = (".cpp", ".hpp")

CALL = re.compile(r"torchwatch_component\(([^)]*)\)")
KEYWORDS = {"SOURCES", "USES", "SEES", "PUBLIC", "PRIVATE"}
ROW = re.compile(r"\| `([\w/]+)/` \|.*\| ([^|]+) \|$")


@dataclass(frozen=True)
class Component:
    name: str
    folder: str
    uses: frozenset[str]  # names under USES and SEES


def component_of_call(folder: str, call: str) -> Component:
    name, *words = call.split()
    keyword, uses = "", set()
    for word in words:
        if word in KEYWORDS:
            keyword = word
        elif keyword in ("USES", "SEES"):
            uses.add(word)
    return Component(name, folder, frozenset(uses))


def components(file: File) -> dict[str, Component]:
    """All components by their names, as the CMakeLists.txt beside their sources declare them."""
    found = {}
    for path in sorted(file.tracked):
        if path.endswith("CMakeLists.txt") and not path.startswith("tests/"):
            text = re.sub(r"#.*", "", file.read(path))
            for call in CALL.findall(text):
                component = component_of_call(str(PurePosixPath(path).parent), call)
                found[component.name] = component
    return found


def reached(known: dict[str, Component], name: str) -> set[str]:
    """What a component uses, and what that uses, and so on."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = known[waiting.pop()].uses & known.keys() - found
        found |= new
        waiting += new
    return found


def own_uses(known: dict[str, Component], name: str) -> set[str]:
    """What a component uses, without what it gets by something else that it uses."""
    uses = known[name].uses & known.keys()
    return {use for use in uses if not any(use in reached(known, each) for each in uses - {use})}


def table(file: File) -> Iterator[Finding]:
    if file.path != TABLE:
        return
    known = components(file)
    by_folder = {component.folder: component.name for component in known.values()}
    for number, line in enumerate(file.lines, start=1):
        row = ROW.match(line)
        name = by_folder.pop(row.group(1), None) if row else None
        if not row or name is None:
            continue
        said = set(row.group(2).split(", ")) - NO_COMPONENT
        if said != (uses := own_uses(known, name)):
            text = f"{row.group(1)}/ uses {', '.join(sorted(uses)) or 'nothing'}, say that"
            yield Finding(number, "map", text)
    for folder in by_folder:
        yield Finding(1, "map", f"the map lacks {folder}/, add a row")


def drawn_name(component: Component) -> str:
    return component.folder.removeprefix("service/")


def drawn_lines(file: File) -> Iterator[tuple[int, list[str]]]:
    """The lines of the page's first drawing with the names on them, which stand before the first
    wide gap; what is said of them stands behind it."""
    is_drawing = False
    for number, line in enumerate(file.lines, start=1):
        if line.startswith("```"):
            if is_drawing:
                return
            is_drawing = True
        elif is_drawing:
            yield number, re.split(r"\s{3,}", line.strip())[0].split()


def missing(file: File, known: dict[str, Component], drawn: set[str]) -> Iterator[Finding]:
    for component in known.values():
        if f"`{component.folder}/`" not in file.text:
            yield Finding(1, "map", f"the table lacks {component.folder}/, add a row")
        if component.folder not in NOT_DRAWN and drawn_name(component) not in drawn:
            yield Finding(1, "map", f"the drawing lacks {drawn_name(component)}, draw it")


def drawing(file: File) -> Iterator[Finding]:
    if file.path != DRAWING:
        return
    known = components(file)
    by_drawn_name = {drawn_name(component): component for component in known.values()}
    place = {name: number for number, names in drawn_lines(file) for name in names}
    yield from missing(file, known, set(place))
    for name, number in place.items():
        if name not in by_drawn_name:
            yield Finding(number, "map", f"no component is called {name}, correct it")
            continue
        for use in sorted(by_drawn_name[name].uses & known.keys()):
            if place.get(drawn_name(known[use]), number + 1) <= number:
                yield Finding(number, "map", f"{name} uses {use}, draw it above")


def lines_of(file: File, folder: str, inner: set[str]) -> int:
    """The lines of a component's sources, without those of the components in its folder."""
    own = [
        path
        for path in file.tracked
        if path.startswith(f"{folder}/")
        and path.endswith(SOURCES)
        and not any(path.startswith(f"{each}/") for each in inner)
    ]
    return sum(file.read(path).count("\n") for path in own)


def size(file: File) -> Iterator[Finding]:
    if file.path != TABLE:
        return
    folders = {component.folder for component in components(file).values()}
    for folder in sorted(folders - NOT_COUNTED):
        inner = {each for each in folders if each.startswith(f"{folder}/")}
        if (lines := lines_of(file, folder, inner)) > LINES_MAX:
            text = f"{folder}/ has {lines} lines, more than {LINES_MAX}: split it"
            yield Finding(1, "size", text)


CHECKS = (table, drawing, size)
