"""A build of one commit that somebody else has made. Used by libtorch."""

import errno
import os
import shutil
import stat
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit, urlunsplit

from checksum_file import named_hash, own_hash
from download import check_space, download, sha256_of
from link import Link
from torch_tree import Extent, fill
from web_request import ask, body_of, has_it, shown, time_limit
from wheel_file import Damaged, NotOffered, Trouble

COMMIT = "{commit}"
SUMS = "SHA256SUMS"  # as sha256sum writes it for all files of a folder
OWN_BYTES_MAX = 64 << 10
SUMS_BYTES_MAX = 4 << 20  # a folder of 20,000 builds
ABSENT = (errno.ENOENT, errno.ENOTDIR)


def opened(path: Path) -> BinaryIO | None:
    """A regular file; None where there is none. A pipe or a device would never end. Errors:
    Trouble, OSError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in ABSENT:
            return None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Trouble(f"{path} is not a regular file: put the file itself there, or a link to it")
    return os.fdopen(handle, "rb")


def content_of(path: Path, most: int) -> bytes | None:
    """Errors: Trouble, where it is longer than `most`; OSError."""
    file = opened(path)
    if file is None:
        return None
    with file:
        content = file.read(most + 1)
    if len(content) > most:
        raise Trouble(f"{path} is longer than {most >> 10} KiB: is it a file of hashes?")
    return content


def content_at(address: str, most: int) -> bytes | None:
    """A small file; None where there is none. Errors: Trouble."""
    if address.startswith("/"):
        return content_of(Path(address), most)
    with time_limit(address):
        answer = ask("GET", address, stream=True)
        return body_of(answer, most) if has_it(address, answer) else None


def path_of(address: str) -> str:
    """Without what follows a question mark in an address."""
    return address if address.startswith("/") else urlsplit(address).path


def with_path(address: str, path: str) -> str:
    return path if address.startswith("/") else urlunsplit(urlsplit(address)._replace(path=path))


def name_of(address: str) -> str:
    """The name of the file there."""
    path = path_of(address)
    return (path if address.startswith("/") else unquote(path)).rpartition("/")[2]


def hash_at(address: str) -> str:
    """The SHA-256 of a file, from a file beside it that bears its name, or from the sums of its
    folder. Errors: NotOffered, Trouble."""
    path, name = path_of(address), name_of(address)
    beside = with_path(address, f"{path}.sha256")
    sums = with_path(address, f"{path.rpartition('/')[0]}/{SUMS}")
    own = content_at(beside, OWN_BYTES_MAX)
    if own is not None:
        return own_hash(own, name, shown(beside))
    of_all = content_at(sums, SUMS_BYTES_MAX)
    if of_all is None:
        raise NotOffered(f"there is no {shown(beside)}, and no {SUMS} in its folder")
    found = named_hash(of_all, name, shown(sums))
    if found is None:
        raise NotOffered(f"there is no {shown(beside)}, and {shown(sums)} does not name the file")
    return found


def copy(address: str, target: Path) -> None:
    """Errors: NotOffered, Damaged (it is too large), Trouble, OSError."""
    source = opened(Path(address))
    if source is None:
        raise NotOffered(f"there is no {address}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with source:
        check_space(os.fstat(source.fileno()).st_size, target.parent, address)
        try:
            with target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        except OSError:
            target.unlink(missing_ok=True)  # a full disk serves nobody
            raise


def check_template(template: str) -> None:
    """Errors: Trouble."""
    try:
        path = path_of(template)
    except ValueError as error:
        raise Trouble(
            f"{shown(template)} is not an address ({error}): see [build] artifacts"
        ) from None
    if path.rpartition("/")[2] in ("", ".", ".."):
        raise Trouble(f"{shown(template)} names no file: see [build] artifacts")


def bring(address: str, folder: Path) -> Path:
    """Copies or downloads the file, whose hash must be right. Errors: NotOffered, Damaged,
    Trouble."""
    check_template(address)
    sha256 = hash_at(address)
    target = folder / name_of(address)
    if not address.startswith("/"):
        return download(Link(target.name, address, {"sha256": sha256}), target)
    copy(address, target)
    if sha256_of(target) != sha256:
        raise Damaged(f"{address} does not have the hash that is stated there")
    return target


def fill_from_artifact(
    template: str, commit: str, folder: Path, tree: Path, extent: Extent
) -> None:
    """Makes the tree of a commit, which must say that it was made from it. `folder`: for what is
    downloaded. Errors: NotOffered, Damaged, Trouble."""
    address = template.replace(COMMIT, commit)
    file = bring(address, folder)
    fill(file, None, tree, extent, is_archive=file.suffix.lower() != ".whl")
    made_from = (tree / "build-hash").read_text().strip()
    if made_from != commit:
        raise Damaged(f"{file.name} was made from commit {made_from}, not from {commit}")
    (tree / "origin").write_text(shown(address) + "\n")
