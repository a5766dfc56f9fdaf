"""Unpacks wheels, every file checked against the wheel's RECORD, and LibTorch archives, which have
only their checksums. Used by libtorch."""

import base64
import contextlib
import csv
import errno
import hashlib
import io
import os
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

try:
    from lzma import LZMAError
except ImportError:  # this Python cannot read such members, and zipfile says so
    LZMAError = zipfile.BadZipFile  # type: ignore[assignment,misc]

UNPACKED_BYTES_MAX = 12 << 30  # the largest wheel so far unpacks to 3 GiB
COPY_BYTES = 1 << 20
EXECUTABLE = 0o111  # bits of a file's mode

# A member of a wheel, as a path in the tree; None where the tree has no use for it.
Target = Callable[[PurePosixPath], Path | None]


class Trouble(Exception):
    """Something that the person has to put right; the message says how."""

    status = 1


class NotOffered(Trouble):
    status = 3


class Unsuitable(Trouble):
    """What is offered is whole, and not what was asked for."""

    status = 6


class Damaged(Trouble):
    status = 4


def check_members(archive: zipfile.ZipFile) -> None:
    """Refuses a wheel at its first bad entry: a path that leaves the folder, a link, a device."""
    for member in archive.infolist():
        name, kind = PurePosixPath(member.filename), stat.S_IFMT(member.external_attr >> 16)
        bad_name = (
            not name.parts or name.is_absolute() or ".." in name.parts or "\\" in member.filename
        )
        if bad_name or kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise Damaged(
                f"the wheel is hostile or damaged: entry {member.filename!r} is not a plain file"
            )
    total = sum(member.file_size for member in archive.infolist())
    if total > UNPACKED_BYTES_MAX:
        raise Damaged(
            f"it would unpack to {total >> 30} GiB, more than {UNPACKED_BYTES_MAX >> 30} GiB"
        )


def check_space(archive: zipfile.ZipFile, target: Target, tree: Path) -> None:
    wanted = sum(
        member.file_size for member in archive.infolist() if target(PurePosixPath(member.filename))
    )
    free = shutil.disk_usage(tree).free
    if wanted > free:
        raise Trouble(
            f"unpacking {Path(str(archive.filename)).name} takes {wanted / 1e6:.1f} MB, and "
            f"{tree.parent} has only {free / 1e6:.1f} MB free: free some space, or name another "
            "place with --into"
        )


def read_record(archive: zipfile.ZipFile) -> dict[str, str]:
    """The hash of each member as RECORD gives it; empty for RECORD and its signatures."""
    records = [
        name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/RECORD", name)
    ]
    if len(records) != 1:
        raise Damaged(f"it has {len(records)} files .dist-info/RECORD instead of one")
    with archive.open(records[0]) as record:
        rows = csv.reader(io.TextIOWrapper(record, "utf-8", newline=""))
        hashes = {row[0]: row[1] for row in rows if len(row) == 3 and row[1]}
    return hashes | {records[0] + signature: "" for signature in ("", ".jws", ".p7s")}


def in_record(digest: "hashlib._Hash") -> str:
    """A hash as a RECORD writes it."""
    return "sha256=" + base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")


def hash_of(file: Path) -> str:
    with file.open("rb") as source:
        return in_record(hashlib.file_digest(source, "sha256"))


def copy_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path | None) -> str:
    """Reads a member to its end, which checks its CRC, and returns its hash in RECORD's form."""
    digest = hashlib.sha256()
    if target:
        target.parent.mkdir(parents=True, exist_ok=True)
    with (
        archive.open(member) as source,
        (target or Path(os.devnull)).open("xb" if target else "wb") as sink,
    ):
        while block := source.read(COPY_BYTES):
            digest.update(block)
            sink.write(block)
    if target and member.external_attr >> 16 & EXECUTABLE:
        target.chmod(target.stat().st_mode | EXECUTABLE)
    return in_record(digest)


def copy_members(archive: zipfile.ZipFile, target: Target) -> None:
    expected = read_record(archive)
    for member in archive.infolist():
        if member.is_dir():
            continue
        found = copy_member(archive, member, target(PurePosixPath(member.filename)))
        if expected.pop(member.filename, None) not in (found, ""):
            raise Damaged(f"{member.filename} is not what the wheel's RECORD says")
    if missing := [name for name, known in expected.items() if known]:
        raise Damaged(f"{missing[0]} is in the wheel's RECORD and missing")


@contextlib.contextmanager
def damage_of(file: Path) -> Iterator[None]:
    """Turns what a damaged archive makes the libraries raise into Damaged."""
    try:
        yield
    except (
        Damaged,
        zipfile.BadZipFile,
        zlib.error,
        LZMAError,
        struct.error,
        csv.Error,
        EOFError,
        RuntimeError,
        ValueError,
        OSError,
    ) as error:
        # Seeks out of the file, a name that stands twice or that no file can have; None is bz2's.
        of_archive = (errno.EINVAL, errno.EEXIST, errno.ENOTDIR, errno.ENAMETOOLONG, None)
        if isinstance(error, OSError) and error.errno not in of_archive:
            raise  # the disk's fault
        raise Damaged(f"{file.name} is damaged ({error}); it was removed: try again") from error


def unpack(wheel: Path, target: Target, tree: Path) -> None:
    """Writes the members that `target` wants into the tree. Every member is read and must be what
    the wheel's RECORD says: nothing changed, missing or added. Errors: Damaged, Trouble (no space),
    OSError."""
    with damage_of(wheel), zipfile.ZipFile(wheel) as archive:
        check_members(archive)
        check_space(archive, target, tree)
        copy_members(archive, target)


def unpack_archive(file: Path, target: Target, tree: Path) -> None:
    """The same for a LibTorch archive, whose members have checksums alone. Errors: as unpack."""
    with damage_of(file), zipfile.ZipFile(file) as archive:
        check_members(archive)
        check_space(archive, target, tree)
        for member in archive.infolist():
            if not member.is_dir():
                copy_member(archive, member, target(PurePosixPath(member.filename)))
