#!/usr/bin/env python3
"""Checks texts and sources for the house's words, living references, sizes and maps.

    tests/lint_text.py [--counts] [FILE]...

Prints `FILE:LINE: what, what to do instead` for each finding in FILEs, or in all tracked files;
--counts prints the number of findings of each component and kind instead. Exit status 1 if there
are any. The words and the reasons stand in docs/glossary.md and CONTRIBUTING.md.
"""

import argparse
import ast
import fnmatch
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import lint_classes
import lint_components
import lint_markdown
from lint_file import File, Finding, joined
from lint_markdown import LINK

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 48  # of Python; clang-tidy counts those of C++

TEXTS = (
    "*.cpp", "*.hpp", "*.inc", "*.py", "*.md", "*.sql", "*.cmake", "*CMakeLists.txt", "*.toml",
    "*.yml", "*.sh", "*.css", "*.service.in", "*.hpp.in", "*openapi.json", "docs/schemas/*.json",
    "deploy/quickstart", "deploy/prerequisites", "deploy/libtorch", "deploy/aot_inductor",
    "deploy/recipes/*", "tests/run", "tests/lint", "tests/gpu", "tests/proof", ".ci/run",
    ".clang-tidy",
)  # fmt: skip
SOURCES = ("*.cpp", "*.hpp", "*.py")
# Not looked at: what names the words in order to forbid them, what is data, what cannot change.
LEFT_OUT = (
    "docs/glossary.md",
    "CONTRIBUTING.md",
    "tests/lint_text.py",
    "tests/unit/lint/*",
    "tests/golden/*",
    "deploy/demonstration/tree/*",
    "*/planted_days/tree/*",
    "storage/*/migrations/*",
    "storage/*.sql",
)


def part_of_identifier(word: str) -> str:
    """A pattern of the word alone, in a snake_case or in a CamelCase name."""
    capital = word[0].upper() + word[1:]
    return f"(?:(?<![A-Za-z]){word}(?![a-z])|(?<![A-Z]){capital}(?![a-z]))"


# What must not be said and what is said instead, after letters that it has: most files lack them.
WORDS = [
    ("workshop", part_of_identifier("workshop"), '"services"'),
    ("door", part_of_identifier("doors?"), '"platform" or "process"'),
    ("room", part_of_identifier("rooms?") + "(?! for| left)", '"component"'),
    ("course", "(?<![Oo]f )" + part_of_identifier("courses?"), '"schedule" or "bisection trace"'),
    ("solo", part_of_identifier("solo"), '"measurement" (of one build)'),
    ("creep", part_of_identifier("creeps?"), '"drift"'),
    ("surroundings", part_of_identifier("surroundings"), '"environment"'),
    ("turns", r"\b[Tt]ak(?:e|es|ing) turns\b|\btake_turns\b|\bturns_", '"interleave"'),
    ("against", r"\b[Hh](?:eld|olds?|olding)\b[^.;:]{0,60}\bagainst\b", '"compare with"'),
    ("so many", r"\b[Ss]o many\b(?! that)", '"n", or the number\'s name'),
    ("foret", r"\b[Ff]oret(?:ell|ells|old|elling)\b", '"estimate"'),
    ("told", r"\b(?:[Ii]s|[Aa]re|[Ww]as|been) told\b|\btold again\b", '"report" or "configured"'),
    ("told apart", r"\btold apart\b", '"distinguished"'),
    ("worth a", r"\bworth a (?:\w+'s )?name\b", 'how large it is: "of minimum_effect or more"'),
    ("least slow", r"\b[Ll]east slow-?down\b", '"minimum detectable effect"'),
    (" on", r"\b[Gg]o(?:es)? on\b(?! to)", '"continue" or "resume"'),
    ("is none", r"(?<![Tt]here )\bis none\b", 'the name of what is wrong: "invalid port"'),
    (" no ", r"(?<![Tt]here )\b(?:is|are) no (?!longer|more)[a-z]+", '"is not" or "invalid"'),
    ("night", r"\bNight(?:s|Row|Store|Kind)\b", '"Comparison..."'),
    ("night", r"\b(?:a|A|each|ten|quiet|worst|\d+) nights?\b", '"comparison" or "nightly"'),
    ("order", r"\b(?:Search|Run|Attempt)Order\b", '"BisectionSpec", "RunSpec" or "NewAttempt"'),
]  # fmt: skip
COMPILED_WORDS = [(has, re.compile(pattern), instead) for has, pattern, instead in WORDS]

# Words that a file must say all the same, each with the reason.
MAY_SAY = {
    # Configuration keys as they were called before: the service says what they are called now.
    "service/config/src/load.cpp": {"take_turns", "creep"},
    "tests/unit/config/load_test.cpp": {"take_turns", "creep"},
    # Recordings made before the ways were renamed have their old names.
    "tests/experiments/same_build_figures.cpp": {"turns_"},
    "tests/unit/experiments/same_build_figures_test.cpp": {"turns_"},
}


def words(file: File) -> Iterator[Finding]:
    allowed = MAY_SAY.get(file.path, set())
    text = file.text.lower()
    for has, pattern, instead in COMPILED_WORDS:
        if has not in text:
            continue
        for number, line in enumerate(file.lines, start=1):
            if (found := pattern.search(line)) and found.group() not in allowed:
                yield Finding(number, "word", f'"{found.group()}", say {instead}')


COMMENT = re.compile(r'\s*(?:///?<?|#|--|""")\s*')
OF = re.compile(r'\s*(?:///?<?\s+|"""|#\s+)Of\b(?! course)')


def comments_that_begin_with_of(file: File) -> Iterator[Finding]:
    if file.is_markdown:
        return
    before = ""
    for number, line in enumerate(file.lines, start=1):
        begins = line.lstrip().startswith('"""') or not COMMENT.match(before)
        if begins and OF.match(line):
            yield Finding(number, "word", 'a comment begins with "Of", begin with the subject')
        before = line


CITED = re.compile(r"(?<![\w/:.*<>{}-])((?:\.{1,2}/)*[\w][\w./-]*\.md)\b")
ISSUE = re.compile(r"\(issues? \d+")
URL = re.compile(r"https?://\S+")


def cites_a_file(file: File, cited: str) -> bool:
    """Whether a tracked file has that path, from the citing file's folder or from one above it, or
    ends with it."""
    folder = PurePosixPath(file.path).parent
    places = [joined(parent, cited) for parent in (folder, *folder.parents)]
    return any(place in file.tracked for place in places) or any(
        path.endswith("/" + cited) for path in file.tracked
    )


def citing_part(file: File, line: str) -> str:
    """What of a line may cite: the file names in the code of tests are data."""
    if file.path.startswith("tests/") and file.path.endswith((".cpp", ".hpp")):
        line = line.partition("//")[2]
    return URL.sub("", LINK.sub("", line))


def citations(file: File) -> Iterator[Finding]:
    for number, line in enumerate(file.lines, start=1):
        for cited in CITED.findall(citing_part(file, line)):
            if not cites_a_file(file, cited):
                yield Finding(
                    number, "reference", f'no file "{cited}" here, cite what a reader can open'
                )
        if ISSUE.search(line):
            yield Finding(
                number, "reference", "a number of an issue, say the reason or cite a file"
            )


# A range-for destroys the Result that a call returns before it reads what value() refers to, until
# C++23; no compiler in use warns of it.
OVER_TEMPORARY = re.compile(r"[^;]*\s:\s[^;]*\)\s*\.value\(\)")


def in_parentheses(text: str, begin: int) -> str:
    """What stands between the parenthesis at `begin` and its partner."""
    depth = 0
    for place in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return text[begin + 1 : place]
    return ""


THROWING = re.compile(r"[^;{]*? : [^;{]*directory_iterator.*", re.DOTALL)


def loops(file: File) -> Iterator[Finding]:
    if not file.path.endswith((".cpp", ".hpp")):
        return
    is_test = file.path.startswith("tests/")
    for found in re.finditer(r"\bfor \(", file.text):
        head = in_parentheses(file.text, found.end() - 1)
        line = file.text.count("\n", 0, found.start()) + 1
        if OVER_TEMPORARY.fullmatch(head):
            yield Finding(line, "dangling", "a loop over the value() of a temporary, name it first")
        if not is_test and THROWING.fullmatch(head):
            text = "this loop throws on a bad disk, use platform::list_folder"
            yield Finding(line, "throws", text)


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def length(file: File) -> Iterator[Finding]:
    if matches(file.path, SOURCES) and len(file.lines) > FILE_LINES_MAX:
        yield Finding(
            FILE_LINES_MAX + 1,
            "size",
            f"{len(file.lines)} lines, divide it: {FILE_LINES_MAX} at most",
        )


def functions(file: File) -> Iterator[Finding]:
    if not file.path.endswith(".py"):
        return
    for node in ast.walk(ast.parse(file.text)):
        if isinstance(node, ast.FunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > FUNCTION_LINES_MAX:
                text = f"{node.name}() has {size} lines, divide it: {FUNCTION_LINES_MAX} at most"
                yield Finding(node.lineno, "size", text)


CHECKS = (
    words,
    comments_that_begin_with_of,
    citations,
    *lint_markdown.CHECKS,
    *lint_classes.CHECKS,
    *lint_components.CHECKS,
    length,
    functions,
    loops,
)


def findings(file: File) -> list[Finding]:
    """All findings of a file by line; none for a file that is left out."""
    if not matches(file.path, TEXTS) or matches(file.path, LEFT_OUT):
        return []
    found = [finding for check in CHECKS for finding in check(file)]
    return sorted(found, key=lambda finding: (finding.line, finding.text))


def component_of(path: str) -> str:
    """The folder that a finding is counted for."""
    parts = path.split("/")
    deep = 2 if parts[0] in ("service", "tests", "models", "deploy") else 1
    return "/".join(parts[:deep] if len(parts) > deep else parts[:-1]) or "."


def report(found: dict[str, list[Finding]], *, counts_only: bool) -> None:
    if not counts_only:
        for path, of_file in found.items():
            for finding in of_file:
                print(f"{path}:{finding.line}: {finding.text}")
        return
    counts = Counter(
        (component_of(path), finding.kind) for path, of_file in found.items() for finding in of_file
    )
    for (component, kind), count in sorted(counts.items()):
        print(f"{component}: {count} {kind}")


def tracked_files() -> frozenset[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    return frozenset(path for path in listed.stdout.split("\0") if path and Path(path).is_file())


def read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8", errors="replace")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="from the repository's root")
    parser.add_argument("--counts", action="store_true", help="only how many, by component")
    options = parser.parse_args()
    tracked = tracked_files()
    found = {
        path: findings(File(path, read(path), tracked, read))
        for path in options.files or sorted(tracked)
        if matches(path, TEXTS)
    }
    report(found, counts_only=options.counts)
    total = sum(map(len, found.values()))
    if total:
        print(f"lint_text: {total} findings", file=sys.stderr)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
