"""A build of one commit that somebody else has made. Used by libtorch."""

import re
import shutil
from http import HTTPStatus
from pathlib import Path

from download import download, sha256_of
from index_page import GONE, Link, ask, refusal, shown
from torch_tree import Extent, fill_from_archive, fill_from_wheel
from wheel_file import Damaged, NotOffered, Trouble

COMMIT = "{commit}"
HASH = re.compile(r"\s*([0-9a-fA-F]{64})\b")  # as sha256sum writes it


def hash_in(text: str, where: str) -> str:
    found = HASH.match(text)
    if not found:
        raise Trouble(f"{where} holds no SHA-256")
    return found[1].lower()


def hash_at(address: str) -> str:
    """The SHA-256 that lies beside a file. Errors: NotOffered, Trouble."""
    beside = address + ".sha256"
    if beside.startswith("/"):
        try:
            return hash_in(Path(beside).read_text(errors="replace"), beside)
        except FileNotFoundError:
            raise NotOffered(f"there is no {beside}") from None
    answer = ask("GET", beside)
    if answer.status_code in GONE:
        raise NotOffered(f"{shown(beside)} answers {answer.status_code}")
    if answer.status_code != HTTPStatus.OK:
        raise refusal(beside, answer)
    return hash_in(answer.text, shown(beside))


def bring(address: str, folder: Path) -> Path:
    """Copies or downloads the file, whose hash must be right. Errors: NotOffered, Damaged,
    Trouble."""
    sha256 = hash_at(address)
    target = folder / address.rpartition("/")[2]
    if not address.startswith("/"):
        return download(Link(target.name, address, sha256), target)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(address, target)
    except FileNotFoundError:
        raise NotOffered(f"there is no {address}") from None
    if sha256_of(target) != sha256:
        raise Damaged(f"{address} does not have the hash that lies beside it")
    return target


def fill_from_artifact(
    template: str, commit: str, folder: Path, tree: Path, extent: Extent
) -> None:
    """Makes the tree of a commit, which must say that it was made from it. `folder`: for what is
    downloaded. Errors: NotOffered, Damaged, Trouble."""
    address = template.replace(COMMIT, commit)
    file = bring(address, folder)
    fill = fill_from_wheel if file.suffix == ".whl" else fill_from_archive
    fill(file, None, tree, extent)
    made_from = (tree / "build-hash").read_text().strip()
    if made_from != commit:
        raise Damaged(f"{file.name} was made from commit {made_from}, not from {commit}")
    (tree / "origin").write_text(shown(address) + "\n")
