"""Wheels through pip, which finds the index by its own settings. Used by libtorch."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wheel_file import Damaged, NotOffered, Trouble

NO_PIP = (
    f"{sys.executable} has no pip, which fetches LibTorch: run deploy/prerequisites and try again"
)


def say(text: str) -> None:
    print(text, flush=True)


def pip(arguments: list[str], scratch: Path, output: int | None = None) -> tuple[int, str, str]:
    """Runs pip and returns its exit status, its output (if piped) and its errors.

    Isolated from the user's Python packages and home folder if this script is (python3 -I).
    Progress goes to standard error; temporary files go to `scratch`, which is made.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, TMPDIR=str(scratch), LC_ALL="C.UTF-8")  # its words are read
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    if sys.flags.isolated:
        command.insert(1, "-I")
        environment["HOME"] = str(scratch)
    if not sys.stdin.isatty():
        command.append("--no-input")
    with subprocess.Popen(
        [*command, *arguments],
        env=environment,
        text=True,
        errors="replace",
        stdout=output or sys.stderr,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            printed, errors = process.communicate()
        except BaseException:
            process.kill()
            raise
    return process.returncode, printed or "", errors


def check_pip(scratch: Path) -> None:
    if pip(["--version"], scratch, subprocess.DEVNULL)[0] != 0:
        raise Trouble(NO_PIP)


def is_reachable(scratch: Path) -> bool:
    return pip(["index", "versions", "torch"], scratch, subprocess.DEVNULL)[0] == 0


def explain(requirements: list[str], errors: str, scratch: Path) -> Trouble:
    """Why pip could not fetch the wheels, from what it wrote to standard error."""
    named = re.search(
        r"No matching distribution found for ([^\s;(]+)|^    (\S+) from ", errors, re.MULTILINE
    )
    requirement = (named[1] or named[2]) if named else " ".join(requirements)
    if "DO NOT MATCH THE HASHES" in errors:
        return Damaged(
            f"the wheel downloaded for {requirement} does not have the hash that the index "
            "names: try again"
        )
    # pip says that there is no such version when it cannot reach the index, too.
    not_offered = "No matching distribution" in errors and (
        "(from versions: none)" not in errors or is_reachable(scratch)
    )
    ask = "" if not_offered else "Is the package index reachable, and does the disk have space? "
    words = [
        line.removeprefix("ERROR: ") for line in errors.splitlines() if line.startswith("ERROR: ")
    ]
    return (NotOffered if not_offered else Trouble)(
        f"pip could not fetch {requirement}: {'; '.join(words) or errors.strip()[-400:]}. {ask}"
        f"This command shows the error alone: python3 -m pip download --no-deps '{requirement}'"
    )


def further_index(index: str, scratch: Path) -> list[str]:
    """What lets pip look into an index beside its own. The address may hold a password, so it
    stands in a file and in no argument, which everybody can read."""
    if not index:
        return []
    scratch.mkdir(parents=True, exist_ok=True)
    file = scratch / "index.txt"
    file.touch(0o600)
    file.write_text(f"--extra-index-url {index}\n")
    return ["--requirement", str(file)]


def bring(command: str, requirements: list[str], scratch: Path, index: str, *options: str) -> None:
    """Lets pip download or install wheels, whose hashes it checks. Errors: NotOffered, Damaged,
    Trouble."""
    # No cache and no temporary files elsewhere: half a gigabyte would stay in the home folder.
    status, _, errors = pip(
        [
            command,
            "--only-binary=:all:",
            "--no-cache-dir",
            f"--progress-bar={'on' if sys.stderr.isatty() else 'off'}",
            *options,
            *further_index(index, scratch),
            *requirements,
        ],
        scratch,
    )
    if status != 0:
        check_pip(scratch)
        raise explain(requirements, errors, scratch)


def download_into(
    folder: Path, requirements: list[str], scratch: Path, index: str, *options: str
) -> None:
    """Downloads wheels, what lies there already not again. Errors: as bring."""
    folder.mkdir(parents=True, exist_ok=True)
    bring("download", requirements, scratch, index, *options, "--dest", str(folder))


def install_into(folder: Path, requirements: list[str], wheels: Path, index: str = "") -> None:
    """Installs packages, with those that they require, into a folder that gets nothing compiled.
    Errors: as bring."""
    options = ("--no-compile", "--target", str(folder))
    bring("install", requirements, wheels / "tmp", index, *options)


@contextmanager
def required(folder: Path, wheel: str = "*.whl") -> Iterator[None]:
    """What a wheel requires is not that wheel: where one came damaged, it is removed from the
    folder and those below, and the next call fetches it anew. Errors: Trouble in the place of
    Damaged."""
    try:
        yield
    except Damaged as error:
        for damaged in list(folder.rglob(wheel)):
            damaged.unlink()
        raise Trouble(str(error)) from error


def newest_wheels(folder: Path) -> list[Path]:
    """One wheel of each package: beside what pip chose now may lie what it chose earlier."""
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) < 2:
        return wheels
    from pip._vendor.packaging.utils import parse_wheel_filename

    newest: dict[str, tuple[Any, Path]] = {}
    for wheel in wheels:
        name, version, *_ = parse_wheel_filename(wheel.name)
        newest[name] = max(newest.get(name, (version, wheel)), (version, wheel))
    return sorted(wheel for _, wheel in newest.values())


def pip_download(requirement: str, wheels: Path, index: str = "") -> Path:
    """The wheel that satisfies the requirement, without what it depends on. `index`: where it may
    be beside pip's own one. Errors: NotOffered, Damaged, Trouble."""
    folder = wheels / requirement
    download_into(folder, [requirement], wheels / "tmp", index, "--no-deps")
    found = newest_wheels(folder)
    if len(found) != 1:
        raise Trouble(
            f"{folder} holds {len(found)} packages for {requirement} instead of one: remove it and "
            "try again"
        )
    return found[0]


def pip_download_all(requirements: list[str], folder: Path, index: str = "") -> list[Path]:
    """The wheels that satisfy the requirements together, and those that they depend on; `index` as
    above. Of those that lie in the folder pip takes what it would fetch. Errors: NotOffered,
    Damaged, Trouble."""
    download_into(folder, requirements, folder / "tmp", index)
    return newest_wheels(folder)


def versions(scratch: Path) -> list[str]:
    """The releases that the index has for this Python, oldest first."""
    status, printed, errors = pip(["index", "versions", "torch"], scratch, subprocess.PIPE)
    listed = re.search(r"^Available versions: (.+)$", printed, re.MULTILINE)
    if status != 0 or not listed:
        check_pip(scratch)
        raise Trouble(
            f"pip lists no versions of torch: {errors.strip()[-400:]}. Is the package index "
            "reachable?"
        )
    return list(reversed(listed.group(1).split(", ")))
