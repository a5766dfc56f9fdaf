"""A build of one commit that somebody else has made. Used by libtorch."""

import re
import shutil
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote

from download import download, sha256_of
from index_page import GONE, Link, ask, body_of, refusal, shown
from torch_tree import Extent, fill_from_archive, fill_from_wheel
from wheel_file import Damaged, NotOffered, Trouble

COMMIT = "{commit}"
SUMS = "SHA256SUMS"  # as sha256sum writes it for all files of a folder
HASH = re.compile(r"\s*([0-9a-fA-F]{64})\b")  # as sha256sum writes it


def hash_in(text: str, where: str) -> str:
    found = HASH.match(text)
    if not found:
        raise Trouble(f"{where} holds no SHA-256")
    return found[1].lower()


def text_at(address: str) -> str | None:
    """A small file; None where there is none. Errors: Trouble."""
    if address.startswith("/"):
        path = Path(address)
        return path.read_text(errors="replace") if path.exists() else None
    answer = ask("GET", address, stream=True)
    if answer.status_code in GONE:
        return None
    if answer.status_code != HTTPStatus.OK:
        raise refusal(address, answer)
    return body_of(answer).decode(errors="replace")


def hash_at(address: str) -> str:
    """The SHA-256 of a file, from a file beside it that bears its name, or from the sums of its
    folder. Errors: NotOffered, Trouble."""
    beside, sums = f"{address}.sha256", f"{address.rpartition('/')[0]}/{SUMS}"
    own = text_at(beside)
    if own is not None:
        return hash_in(own, shown(beside))
    of_all = text_at(sums)
    if of_all is None:
        raise NotOffered(f"there is no {shown(beside)}, and no {SUMS} in its folder")
    name = address.rpartition("/")[2]
    name = re.escape(name if address.startswith("/") else unquote(name))
    line = re.search(rf"^[0-9a-fA-F]{{64}} [ *](\./)?{name}\r?$", of_all, re.MULTILINE)
    if not line:
        raise NotOffered(f"there is no {shown(beside)}, and {shown(sums)} does not name the file")
    return hash_in(line[0], shown(sums))


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
        raise Damaged(f"{address} does not have the hash that is stated there")
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
