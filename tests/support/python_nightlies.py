"""Nightlies of real PyTorch whose Python is the test's: the wheel of a release for CPUs, repacked
as another version."""

import base64
import hashlib
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PYTHON = "/usr/bin/python3"  # imports the builds, so the wheel must be one for it
RELEASE = "2.13.0+cpu"
COPY_BYTES = 1 << 20
SHA = re.compile("[0-9a-f]{40}")

Contents = dict[str, str]
"""Text by the name of the file."""


class NotAtHand(Exception):
    pass


def fetch_wheel(folder: Path) -> Path:
    """The wheel of the release, which pip fetches once. NotAtHand: it cannot."""
    pip = [PYTHON, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*pip, "--only-binary=:all:", "--dest", folder, f"torch=={RELEASE}"],
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise NotAtHand(f"pip cannot fetch torch {RELEASE}, see PIP_EXTRA_INDEX_URL: {last[0]}")
    return next(folder.glob("torch-*.whl"))


def contents_of(wheel: Path, names: Iterable[str]) -> Contents:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name).decode() for name in names}


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
