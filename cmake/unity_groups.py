#!/usr/bin/env python3
"""Which files of a target can be compiled as one: those that do not see each other's local names.

Reading the headers costs a file more than its own text, so several files are compiled as one where
that is asked for (CMAKE_UNITY_BUILD). What a file keeps to itself in an unnamed namespace would
then be seen by the others. Two files are put together only if neither uses a word that the other
has declared for itself, so that files keep the short names that suit them.

    unity_groups.py FILES_AT_ONCE < targets

Standard input: a line for each set of files, its name and their absolute paths, divided by ";".
Standard output: a line for each file that is put with others, "SET|FILE|GROUP".
"""

import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)
UNNAMED = re.compile(r"\bnamespace\s*\{")
DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
LOCAL_HEADER = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# Not the name in "a.name", "a->name" or "scope::name": it means the same whatever stands beside it.
UNQUALIFIED = re.compile(r"(?<!\.)(?<!->)(?<!::)\b[A-Za-z_]\w*\b")
NO_NAME = re.compile(r"[A-Z][A-Z0-9_]*$|\d|(?:void|const|noexcept|operator)$")
TEMPLATE = re.compile(r"^template\s*<[^{]*?>\s*(?=\w)")
TYPE = re.compile(r"(?:struct|class|enum|union|using|concept|namespace)\s+(?:class\s+)?(\w+)")
# A name that is brought in from another scope, or an alias that only leaves its scope out.
SHORTER = re.compile(
    r"^(?:using\s+(\w+)\s*=\s*[\w:]*::\1|namespace\s+(\w+)\s*=\s*[\w:]*::\2|"
    r"using\s+(?:[\w:]*::)?(?!namespace\b)(\w+)|using\s+namespace\s+[\w:]+)\s*;",
    re.MULTILINE,
)
# What stands before a function's parentheses, an array's brackets or the end of a declaration.
DECLARED = re.compile(r"(\w+)\s*(?=[(\[;]|$)")


@dataclass
class Source:
    """A file: the words in it, and those of them that are its own.

    `shorter` are its names for things of other scopes: files that have the same one agree on it.
    """

    path: str
    words: set[str]
    own: set[str]
    shorter: set[str]

    def hides_from(self, other: "Source") -> bool:
        """Whether a word of the other file would mean something of this file's."""
        return not other.words.isdisjoint(self.own | (self.shorter - other.shorter))


@dataclass
class Group:
    """Files that are compiled as one."""

    files: list[Source] = field(default_factory=list)

    def takes(self, source: Source) -> bool:
        """Whether no file of the group and `source` see each other's own names."""
        return not any(source.hides_from(other) or other.hides_from(source) for other in self.files)


def code_of(text: str) -> str:
    """The text without comments, strings and lines of the preprocessor."""
    return NO_CODE.sub(" ", DIRECTIVE.sub("", text))


def without_blocks(text: str) -> list[str]:
    """The declarations of a namespace's text, without what stands between their braces."""
    declarations, current, depth = [], "", 0
    for character in text:
        if character == "{":
            if depth == 0:
                declarations.append(current)
                current = ""
            depth += 1
        elif character == "}":
            depth -= 1
            if depth < 0:
                break
        elif depth == 0:
            current += character
            if character == ";":
                declarations.append(current)
                current = ""
    return declarations


def declared(declaration: str) -> set[str]:
    """The names that one declaration makes; more rather than fewer where it is not clear."""
    declaration = TEMPLATE.sub("", declaration.strip())
    kind = TYPE.match(declaration)
    if kind:
        return {kind[1]}
    # "auto a = f();" does not declare f.
    names = DECLARED.findall(declaration.split("=", 1)[0].strip())
    return {name for name in names if not NO_NAME.match(name)}


def words_of(path: Path) -> set[str]:
    """The words of a file and of the headers that lie beside or below it."""
    text = path.read_text(encoding="utf-8")
    words = set(UNQUALIFIED.findall(code_of(text)))
    for name in LOCAL_HEADER.findall(text):
        header = path.parent / name
        if header.exists():
            words |= words_of(header)
    return words


def read(path: str) -> Source:
    """The file's words and its own names."""
    code = code_of(Path(path).read_text(encoding="utf-8"))
    shorter = {name for found in SHORTER.finditer(code) for name in found.groups() if name}
    own: set[str] = set()
    for start in UNNAMED.finditer(code):
        for declaration in without_blocks(code[start.end() :]):
            if not SHORTER.fullmatch(declaration.strip()):
                own |= declared(declaration)
    return Source(path, words_of(Path(path)), own, shorter)


def grouped(sources: list[Source], files_at_once: int) -> list[Group]:
    """Each file in the first group that takes it and is not full."""
    groups: list[Group] = []
    for source in sources:
        fitting = (g for g in groups if len(g.files) < files_at_once and g.takes(source))
        group = next(fitting, None)
        if group is None:
            group = Group()
            groups.append(group)
        group.files.append(source)
    return groups


def main() -> None:
    """Reads sets of files, writes groups."""
    files_at_once = int(sys.argv[1])
    sets: dict[str, list[str]] = {}
    for line in sys.stdin:
        name, *paths = line.rstrip("\n").split(";")
        # What is generated does not exist yet, and stays alone.
        sets[name] = [path for path in paths if Path(path).exists()]
    # A file has one group, whatever target it is compiled for: one of several targets stays alone.
    uses = Counter(path for paths in sets.values() for path in paths)
    for name, paths in sets.items():
        groups = grouped([read(path) for path in paths if uses[path] == 1], files_at_once)
        for number, group in enumerate(group for group in groups if len(group.files) > 1):
            for source in group.files:
                print(f"{name}|{source.path}|{number}")


if __name__ == "__main__":
    main()
