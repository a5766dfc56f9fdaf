"""A planted day of real PyTorch: forty commits that change Python alone, and the wheels of the two
nightlies that begin and end it, repacked from the wheel of a release for CPUs."""

import base64
import hashlib
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path
from unittest import TestCase

from command import CHECKOUT, git
from packages import leave_out

PYTHON = "/usr/bin/python3"  # imports the builds, so the wheel must be one for it
RELEASE = "2.13.0+cpu"
COMMITS, SLOWER, LEAKING, CHANGING = 40, 12, 27, 33
TOUCHED = (
    "torch/autograd/__init__.py",
    "torch/nn/functional.py",
    "torch/nn/modules/linear.py",
    "torch/optim/adam.py",
    "torch/optim/optimizer.py",
)
# What Adam computes for each parameter, computed in vain many times over.
SLOW_BEFORE = "    for i, param in enumerate(params):\n        grad = grads[i] if not maximize"
SLOW = """    for exp_avg_sq in exp_avg_sqs:
        for _ in range(40):
            exp_avg_sq.sqrt().add_(eps)

"""
# Too small to be seen in the time.
LEAK_BEFORE = "    if retain_graph is None:\n        retain_graph = create_graph\n"
LEAK = "    backward.__dict__.setdefault('kept', []).append(bytearray(8192))\n"
# Weights begin 2 % larger, which costs no time.
CHANGE_BEFORE = "kaiming_uniform_(self.weight, a=math.sqrt(5))"
CHANGE = "kaiming_uniform_(self.weight, a=math.sqrt(4.8))"

COPY_BYTES = 1 << 20
SHA = re.compile("[0-9a-f]{40}")

Contents = dict[str, str]


def wheel_of_release(test: TestCase) -> Path:
    """The wheel, which pip fetches once. Without it the test is left out."""
    folder = CHECKOUT / "build" / "python_day_wheel"
    pip = [PYTHON, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*pip, "--only-binary=:all:", "--dest", folder, f"torch=={RELEASE}"],
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        leave_out(test, f"pip cannot fetch torch {RELEASE}, see PIP_EXTRA_INDEX_URL: {last[0]}")
    return next(folder.glob("torch-*.whl"))


def replaced(text: str, old: str, new: str) -> str:
    """The text with the first place that reads like `old` changed."""
    if old not in text:
        raise AssertionError(f"{old!r} is not in this release any more")
    return text.replace(old, new, 1)


def changed(number: int, contents: Contents) -> Contents:
    """The files that a commit changes."""
    if number == SLOWER:
        name = "torch/optim/adam.py"
        return {name: replaced(contents[name], SLOW_BEFORE, SLOW + SLOW_BEFORE)}
    if number == LEAKING:
        name = "torch/autograd/__init__.py"
        return {name: replaced(contents[name], LEAK_BEFORE, LEAK + LEAK_BEFORE)}
    if number == CHANGING:
        name = "torch/nn/modules/linear.py"
        return {name: replaced(contents[name], CHANGE_BEFORE, CHANGE)}
    name = TOUCHED[number % len(TOUCHED)]
    return {name: contents[name] + f"# Reworded in commit {number}.\n"}


def write_repository(folder: Path, contents: Contents) -> tuple[list[str], Contents]:
    """Commits the day; the shas of its commits, and the files as the last one leaves them."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    shas = []
    for number in range(COMMITS):
        changes = changed(number, contents) if number > 0 else contents
        contents = contents | changes
        for name, text in changes.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", f"Change {number}")
        shas.append(git(folder, "rev-parse", "HEAD"))
    return shas, contents


def contents_of(wheel: Path) -> Contents:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name).decode() for name in TOUCHED}


def digest_of(content: bytes) -> str:
    digest = hashlib.sha256(content).digest()
    return f"sha256={base64.urlsafe_b64encode(digest).decode().rstrip('=')},{len(content)}"


@dataclass(frozen=True)
class Nightly:
    """What a wheel becomes: another version, made of another commit, with other files."""

    version: str
    commit: str
    contents: Contents

    def name_of(self, member: str) -> str:
        old, new = (f"torch-{version}.dist-info/" for version in (RELEASE, self.version))
        return member.replace(old, new)

    def content_of(self, member: str, release: zipfile.ZipFile) -> bytes | None:
        """What the nightly has in the place of a member of the release; None: the same."""
        if member in self.contents:
            return self.contents[member].encode()
        if member == "torch/version.py":
            text = SHA.sub(self.commit, release.read(member).decode())
        elif member.endswith(".dist-info/METADATA"):
            text = release.read(member).decode()
        else:
            return None
        return text.replace(RELEASE, self.version).encode()


def copy_member(
    source: zipfile.ZipFile, target: zipfile.ZipFile, member: zipfile.ZipInfo, name: str
) -> None:
    made = zipfile.ZipInfo(name)
    made.external_attr = member.external_attr  # programs stay programs
    made.file_size = member.file_size
    with source.open(member) as read, target.open(made, "w") as written:
        shutil.copyfileobj(read, written, COPY_BYTES)


def record_of(wheel: zipfile.ZipFile) -> dict[str, str]:
    """What RECORD says of each member but itself."""
    (own,) = (name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
    lines = wheel.read(own).decode().splitlines()
    pairs = (line.partition(",") for line in lines)
    return {name: digest for name, _, digest in pairs if name != own}


def copy_members(source: zipfile.ZipFile, target: zipfile.ZipFile, nightly: Nightly) -> str:
    """Copies all members but RECORD, and returns its lines."""
    lines = ""
    for member, digest in record_of(source).items():
        name = nightly.name_of(member)
        content = nightly.content_of(member, source)
        if content is None:
            copy_member(source, target, source.getinfo(member), name)
            lines += f"{name},{digest}\n"
        else:
            target.writestr(name, content)
            lines += f"{name},{digest_of(content)}\n"
    return lines


def repack(wheel: Path, folder: Path, nightly: Nightly) -> Path:
    """Writes the wheel of a nightly; nothing is compressed, which would take a minute."""
    made = folder / wheel.name.replace(RELEASE, nightly.version)
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(made, "w") as target:
        lines = copy_members(source, target, nightly)
        name = f"torch-{nightly.version}.dist-info/RECORD"
        target.writestr(name, f"{lines}{name},,\n")
    return made
