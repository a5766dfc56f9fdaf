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
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import NoReturn

UNPACKED_BYTES_MAX = 12 << 30  # the largest wheel so far unpacks to 3 GiB
ENTRIES_MAX = 50_000  # a wheel of PyTorch has 12,000
GROWTH_MAX = 200  # a wheel of PyTorch grows 4 times, a file of it at most 34 times
TEXT_BYTES_MAX = 32 << 20  # of what is read whole; the RECORD of a wheel of PyTorch has 1 MB
GROWS_FREELY_BYTES = 16 << 20  # a small file may be all blanks
FOLDERS_MAX = 32  # a wheel of PyTorch has 14
PART_BYTES_MAX = 255  # of a file system
COPY_BYTES = 1 << 20
# What stays free of the disk, so that others can work: bytes, as $TORCHWATCH_DISK_RESERVE.
RESERVE_BYTES = 256 << 20
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


def refuse(member: zipfile.ZipInfo, why: str) -> NoReturn:
    raise Damaged(f"the archive is hostile or damaged: entry {member.filename[:200]!r} {why}")


def check_name(member: zipfile.ZipInfo) -> None:
    """Refuses a path that leaves the folder, and one that no file can have."""
    name = PurePosixPath(member.filename)
    if not name.parts or name.is_absolute() or ".." in name.parts or "\\" in member.filename:
        refuse(member, "is not a plain file")
    if "\0" in member.orig_filename:  # zipfile cuts the name there
        refuse(member, "has a zero byte in its name")
    if any(len(part.encode()) > PART_BYTES_MAX for part in name.parts):
        refuse(member, f"has a part of more than {PART_BYTES_MAX} bytes")
    if len(name.parts) - 1 > FOLDERS_MAX:
        refuse(member, f"lies more than {FOLDERS_MAX} folders deep")


def check_growth(member: zipfile.ZipInfo) -> None:
    if member.file_size > max(GROWTH_MAX * member.compress_size, GROWS_FREELY_BYTES):
        refuse(member, f"would grow more than {GROWTH_MAX} times")


def check_text(member: zipfile.ZipInfo) -> None:
    if member.file_size > TEXT_BYTES_MAX:
        refuse(member, f"has more than {TEXT_BYTES_MAX >> 20} MiB")


def check_total(archive: zipfile.ZipFile) -> None:
    """The file's size and not the sum of what its entries have: several may share one content."""
    total = sum(member.file_size for member in archive.infolist())
    if total > UNPACKED_BYTES_MAX:
        raise Damaged(
            f"it would unpack to {total >> 30} GiB, more than {UNPACKED_BYTES_MAX >> 30} GiB"
        )
    packed = Path(str(archive.filename)).stat().st_size
    if total > max(GROWTH_MAX * packed, GROWS_FREELY_BYTES):
        raise Damaged(f"it would grow more than {GROWTH_MAX} times, to {total >> 20} MiB")


def check_members(archive: zipfile.ZipFile) -> None:
    """Refuses an archive at its first bad entry: a path that leaves the folder or that no file can
    have, a link, a device; and one that would take far more than it is."""
    if len(archive.infolist()) > ENTRIES_MAX:
        raise Damaged(f"it has {len(archive.infolist())} entries, more than {ENTRIES_MAX}")
    spellings: dict[str, str] = {}
    for member in archive.infolist():
        check_name(member)
        if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
            refuse(member, "is not a plain file")
        other = spellings.setdefault(member.filename.casefold(), member.filename)
        if other != member.filename:
            refuse(member, f"differs from {other[:200]!r} in case only")
        check_growth(member)
    check_total(archive)


def reserve() -> int:
    stated = os.environ.get("TORCHWATCH_DISK_RESERVE", "")
    return int(stated) if re.fullmatch("[0-9]{1,18}", stated) else RESERVE_BYTES


def check_space(archive: zipfile.ZipFile, target: Target, tree: Path) -> None:
    wanted = sum(
        member.file_size for member in archive.infolist() if target(PurePosixPath(member.filename))
    )
    free = max(0, shutil.disk_usage(tree).free - reserve())
    if wanted > free:
        raise Trouble(
            f"unpacking {Path(str(archive.filename)).name} takes {wanted / 1e6:.1f} MB, and "
            f"{tree.parent} has only {free / 1e6:.1f} MB free beside {reserve() / 1e6:.0f} MB that "
            "must stay free: free some space, or name another place with --into"
        )


def read_record(archive: zipfile.ZipFile) -> dict[str, str]:
    """The hash of each member as RECORD gives it; empty for RECORD and its signatures."""
    records = [
        name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/RECORD", name)
    ]
    if len(records) != 1:
        raise Damaged(f"it has {len(records)} files .dist-info/RECORD instead of one")
    check_text(archive.getinfo(records[0]))
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


# A name that stands twice, as a file and as a folder, or that no file can have.
OF_NAMES = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG)
OF_ARCHIVE = (*OF_NAMES, errno.EINVAL, None)  # seeks out of the file; None is bz2's


@contextlib.contextmanager
def damage_of(file: Path) -> Iterator[None]:
    """Turns whatever a damaged file makes the libraries raise into Damaged."""
    try:
        yield
    except Exception as error:  # zipfile, zlib, lzma, email and packaging raise all kinds
        is_of_disk = isinstance(error, OSError) and error.errno not in OF_ARCHIVE
        is_of_others = isinstance(error, Trouble) and not isinstance(error, Damaged)
        if is_of_disk or is_of_others or isinstance(error, (ImportError, MemoryError)):
            raise
        why = str(error) or type(error).__name__
        raise Damaged(f"{file.name} is damaged ({why}); it was removed: try again") from error


@contextlib.contextmanager
def unforeseen_damage(file: Path) -> Iterator[None]:
    """Turns an error that has no words of its own into Damaged, around all that a file is used for:
    without a name it would be taken for a passing one, and the file be fetched again for ever."""
    try:
        yield
    except (Trouble, ImportError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in OF_NAMES:
            raise  # the disk's fault
        why = f"{type(error).__name__}: {error}"
        raise Damaged(f"{file.name} cannot be used ({why[:400]}); it was removed") from error


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
