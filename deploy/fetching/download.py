"""Downloads a file so that a broken download is resumed. Used by libtorch."""

import errno
import hashlib
import json
import re
import shutil
from http import HTTPStatus
from pathlib import Path

from pip._vendor.requests.exceptions import RequestException
from pip._vendor.requests.models import Response

from link import Link
from web_request import GONE, ask, blocks_of, length_of, refusal, shown
from wheel_file import UNPACKED_BYTES_MAX, Damaged, Trouble, reserve

BLOCK_BYTES = 1 << 20
CUT_OFF_MAX = 5  # connections that may break within one call
FILE_BYTES_MAX = UNPACKED_BYTES_MAX
DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Partial:
    """What has been downloaded so far, and the server's name for this version of the file."""

    def __init__(self, target: Path) -> None:
        self.file = target.with_name(target.name + ".part")
        self.facts = target.with_name(target.name + ".part.json")

    def known(self) -> dict[str, str]:
        """What was noted of the file that was begun last; also when it became whole."""
        try:
            facts = json.loads(self.facts.read_text())
        except (OSError, ValueError):
            return {}
        return facts if isinstance(facts, dict) else {}

    def request(self, url: str) -> dict[str, str]:
        """The headers that ask for the rest, if the file is still the same."""
        facts = self.known()
        done = self.file.stat().st_size if self.file.exists() else 0
        if facts.get("url") != url or not facts.get("validator") or done == 0:
            return {}
        return {"Range": f"bytes={done}-", "If-Range": facts["validator"]}

    def begin(self, wanted: Link, answer: Response) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(b"")
        etag = answer.headers.get("ETag", "")
        # A weak tag promises less than equal bytes.
        validator = etag if etag.startswith('"') else answer.headers.get("Last-Modified", "")
        facts = {"url": wanted.url, "validator": validator, "of": wanted.fingerprint()}
        self.facts.touch(0o600)  # the address may hold a password
        self.facts.write_text(json.dumps(facts))

    def remove(self) -> None:
        self.file.unlink(missing_ok=True)
        self.facts.unlink(missing_ok=True)


def total_of(answer: Response, done: int) -> int | None:
    """The bytes that the file will have, where the server says it."""
    if answer.status_code == HTTPStatus.PARTIAL_CONTENT:
        stated = answer.headers.get("Content-Range", "")
        numbers = re.fullmatch(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18})", stated)
        if not numbers or int(numbers[1]) != done:
            raise Trouble(f"{shown(answer.url)} answers with another part than was asked for")
        return int(numbers[2])
    return length_of(answer)


def check_space(wanted: int, folder: Path, name: str) -> int:
    """How many bytes may come, at least `wanted`. Errors: Damaged (too large for any), Trouble
    (the disk has not)."""
    free = max(0, shutil.disk_usage(folder).free - reserve())
    if wanted > FILE_BYTES_MAX:
        raise Damaged(
            f"{name} has {wanted / 1e9:.1f} GB, more than the {FILE_BYTES_MAX >> 30} GiB that a "
            "file may have: is the address right?"
        )
    if wanted > free or free == 0:
        raise Trouble(
            f"{name} has {wanted / 1e6:.0f} MB, and {folder} has only {free / 1e6:.0f} MB free "
            f"beside {reserve() / 1e6:.0f} MB that must stay free: free some space"
        )
    return free


def receive_block(block: bytes, partial: Partial, most: int) -> None:
    """Appends a block, or removes all: what does not fit is useless to the next call, and on a full
    disk nobody else can write. Errors: Damaged (too large for any), Trouble, OSError."""
    try:
        with partial.file.open("ab") as file:
            file.write(block)
            size = file.tell()
    except OSError as error:
        if error.errno in DISK_IS_FULL:
            partial.remove()
        raise
    if size > most:
        partial.remove()
        raise (Damaged if size > FILE_BYTES_MAX else Trouble)(
            f"{partial.file.name.removesuffix('.part')} is larger than {most / 1e6:.0f} MB, and "
            "its server did not say so: is the address right, and does the disk have space?"
        )


def receive(answer: Response, partial: Partial, wanted: Link) -> bool:
    """Appends the answer's body. Returns whether the file is whole; False: the connection broke."""
    done = partial.file.stat().st_size
    total = total_of(answer, done) or wanted.size or None
    try:
        free = check_space((total or done) - done, partial.file.parent, shown(wanted.url))
    except Trouble:
        if done == 0:
            partial.remove()
        raise
    most = min(FILE_BYTES_MAX, total or done + free)
    try:
        for block in blocks_of(answer, BLOCK_BYTES):
            if total is not None and partial.file.stat().st_size + len(block) > total:
                partial.remove()
                raise Damaged(
                    f"{shown(wanted.url)} has more than the {total} bytes that it should have"
                )
            receive_block(block, partial, most)
    except RequestException:
        return False
    return total is None or partial.file.stat().st_size == total


def go_on(wanted: Link, partial: Partial) -> bool:
    """Makes one request for what is missing. Returns whether the file is whole."""
    rest = partial.request(wanted.url)
    with ask("GET", wanted.url, headers=rest, stream=True) as answer:
        if answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and rest:
            partial.remove()
            return False
        if answer.status_code == HTTPStatus.PARTIAL_CONTENT and not rest:
            raise Trouble(f"{shown(answer.url)} answers with a part, and all of it was asked for")
        if answer.status_code == HTTPStatus.OK:
            length_of(answer)  # one that is invalid is refused before anything is written
            partial.begin(wanted, answer)
        elif answer.status_code != HTTPStatus.PARTIAL_CONTENT:
            is_gone = answer.status_code in GONE
            lacks = " (the index names it, and its server lacks it)" if is_gone else ""
            raise refusal(answer.url, answer, lacks)
        return receive(answer, partial, wanted)


def hash_of_file(file: Path, algorithm: str) -> str:
    digest = hashlib.new(algorithm)
    with file.open("rb") as source:
        while block := source.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def sha256_of(file: Path) -> str:
    return hash_of_file(file, "sha256")


def check(wanted: Link, file: Path) -> None:
    """Errors: Damaged, OSError."""
    size = file.stat().st_size
    if wanted.size and size != wanted.size:
        raise Damaged(
            f"{shown(wanted.url)} has {size} bytes, not the {wanted.size} that the index names: "
            "try again"
        )
    for algorithm, known in wanted.hashes.items():
        if hash_of_file(file, algorithm) != known:
            raise Damaged(
                f"{shown(wanted.url)} does not have the hash that the index names: try again"
            )


def is_there(wanted: Link, target: Path, partial: Partial) -> bool:
    """Whether an earlier call has brought the file. One that has other bytes than the index names,
    or of which it cannot be said whether they are the same, is removed."""
    if not target.exists():
        return False
    try:
        check(wanted, target)
        if wanted.hashes or partial.known().get("of") == wanted.fingerprint():
            return True
    except Damaged:
        pass
    target.unlink()
    return False


def download(wanted: Link, target: Path) -> Path:
    """Downloads a file, which appears whole or not at all. What an earlier call has received is
    used. Errors: Trouble (also when the connection breaks again and again, or there is no space),
    Damaged (another hash or length than stated; what was received is removed), OSError."""
    partial = Partial(target)
    if is_there(wanted, target, partial):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(CUT_OFF_MAX):
        if not go_on(wanted, partial):
            continue
        try:
            check(wanted, partial.file)
        except Damaged:
            partial.remove()
            raise
        partial.file.rename(target)
        return target
    raise Trouble(
        f"the download of {shown(wanted.url)} broke {CUT_OFF_MAX} times; what has come is kept, "
        "and the next call resumes"
    )
