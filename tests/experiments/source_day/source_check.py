"""Checks the day's commits without building them: each compiles, and what should not does not.

The recipe itself configures the source; a stand-in for cmake lets it generate code and nothing
more, which takes a minute. Then each changed file is given to the compiler for its syntax.
"""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import planted
import repository
import source_builds
import source_plan
from changes import NATIVE, Change
from source_builds import BuildFailed

# Where --build is asked for, only the generated sources and headers are made.
CMAKE = """\
#!/bin/sh
if [ "$1" = --build ]; then
  exec /usr/bin/cmake --build "$2" --parallel 1 \\
    --target ATEN_CPU_FILES_GEN_TARGET generate-torch-sources
fi
exec /usr/bin/cmake "$@" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
"""

SYNTAX = ("-fsyntax-only", "-fdiagnostics-color=never")

# A header is checked by a source that includes it.
INCLUDED_BY = {
    planted.WIDE_HEADER: NATIVE + "cpu/airy_ai.cpp",
    NATIVE + "cpu/Reduce.h": NATIVE + "cpu/SumKernel.cpp",
    NATIVE + "EmbeddingBag.h": NATIVE + "EmbeddingBag.cpp",
}


class CheckFailed(Exception):
    pass


def configure(folder: Path, base: Path) -> Path:
    """The recipe's work folder, with `source` and a configured `build`; instant if it is there."""
    work = folder / "check" / "0"
    if (work / "ready").exists():
        return work
    programs = folder / "check" / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    (programs / "cmake").write_text(CMAKE)
    (programs / "cmake").chmod(0o755)
    prefix = folder / "check" / "prefix"
    prefix.mkdir(exist_ok=True)
    environment = source_builds.environment(folder / "check", base, folder / "ccache")
    environment.update(
        PATH=f"{programs}:{environment['PATH']}",
        TORCHWATCH_COMMIT=repository.git(base, "rev-parse", "main").strip(),
        TORCHWATCH_PREFIX=str(prefix),
    )
    done = subprocess.run(
        [source_builds.RECIPE], env=environment, capture_output=True, text=True, check=False
    )
    # It ends by missing the library, which nobody has built.
    if "the build installed no lib/libtorch_cpu.so" not in done.stderr:
        raise BuildFailed((done.stdout + done.stderr)[-3000:])
    (work / "ready").touch()
    return work


def commands(work: Path) -> dict[str, list[str]]:
    """By source, relative to the repository, the compiler's calls without an output."""
    found: dict[str, list[str]] = {}
    for entry in json.loads((work / "build" / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        words = [word for word in words if word != "ccache" and not word.endswith("/ccache")]
        place = words.index("-o")
        call = shlex.join([*words[:place], *words[place + 2 :], *SYNTAX])
        # A kernel is compiled once for each kind of processor, by a file that includes it.
        name = entry["file"].replace(f"{work}/source/", "").replace(f"{work}/build/", "")
        for ending in (".DEFAULT.cpp", ".AVX2.cpp"):
            name = name.removesuffix(ending)
        found.setdefault(name, []).append(call)
    return found


def errors_of(work: Path, call: str) -> str:
    """What the compiler finds wrong; empty if nothing."""
    done = subprocess.run(
        ["nice", "-n", "19", *shlex.split(call)],
        cwd=work / "build",
        capture_output=True,
        text=True,
        env=dict(os.environ, LC_ALL="C"),
        check=False,
    )
    return done.stderr if done.returncode != 0 else ""


def sources_of(change: Change) -> list[str]:
    """What has to be compiled to see whether the change does."""
    paths = [INCLUDED_BY.get(edit.path, edit.path) for edit in change.edits]
    return sorted({path for path in paths if path.endswith(".cpp")})


def _set(work: Path, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        (work / "source" / path).write_text(text)


def _checked(work: Path, base: dict[str, str], applied: list[Change]) -> str:
    """The errors of the last change on top of the others."""
    texts = dict(base)
    for change in applied:
        change.apply(texts)
    changed = {path: text for path, text in texts.items() if text != base[path]}
    calls = commands(work)
    _set(work, changed)
    try:
        wanted = [call for path in sources_of(applied[-1]) for call in calls[path]]
        return "".join(errors_of(work, call) for call in wanted)
    finally:
        _set(work, {path: base[path] for path in changed})


def _expected(change: Change) -> Callable[[str], bool]:
    """Whether errors are those that the change is to have."""
    if change.kind != "broken":
        return lambda errors: not errors
    words = {planted.PIXEL_SHUFFLE: "'input' was not declared", NATIVE + "EmbeddingBag.h": "'MAX'"}
    return lambda errors: words[change.edits[0].path] in errors


def check(folder: Path, base: Path) -> Iterator[str]:
    """A line for each change as it is found to be as it should; fails at the first that is not."""
    work = configure(folder, base)
    texts = source_plan.edited(base)
    for block in source_plan.blocks():
        for count, change in enumerate(block, start=1):
            errors = _checked(work, texts, block[:count])
            if not _expected(change)(errors):
                raise CheckFailed(f"{change.subject}:\n{errors[-3000:] or 'it compiles'}")
            first = next((line for line in errors.splitlines() if "error:" in line), "compiles")
            where = ", ".join(sources_of(change)) or change.edits[0].path
            yield f"{change.kind}: {where}: {first if sources_of(change) else 'applies'}"
