"""Downloads a file so that a broken download is resumed. Used by libtorch."""

import hashlib
import json
import re
import shutil
from http import HTTPStatus
from pathlib import Path

from pip._vendor.requests.exceptions import RequestException
from pip._vendor.requests.models import Response

from index_page import GONE, Link, ask, refusal, shown
from wheel_file import Damaged, Trouble

BLOCK_BYTES = 1 << 20
CUT_OFF_MAX = 5  # connections that may break within one call


class Partial:
    """What has been downloaded so far, and the server's name for this version of the file."""

    def __init__(self, target: Path) -> None:
        self.file = target.with_name(target.name + ".part")
        self.facts = target.with_name(target.name + ".part.json")

    def request(self, url: str) -> dict[str, str]:
        """The headers that ask for the rest, if the file is still the same."""
        try:
            facts = json.loads(self.facts.read_text())
            done = self.file.stat().st_size
        except (OSError, ValueError):
            return {}
        if facts.get("url") != url or not facts.get("validator") or done == 0:
            return {}
        return {"Range": f"bytes={done}-", "If-Range": facts["validator"]}

    def begin(self, url: str, answer: Response) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(b"")
        etag = answer.headers.get("ETag", "")
        # A weak tag promises less than equal bytes.
        validator = etag if etag.startswith('"') else answer.headers.get("Last-Modified", "")
        self.facts.touch(0o600)  # the address may hold a password
        self.facts.write_text(json.dumps({"url": url, "validator": validator}))

    def remove(self) -> None:
        self.file.unlink(missing_ok=True)
        self.facts.unlink(missing_ok=True)


def total_of(answer: Response, done: int) -> int | None:
    """The bytes that the file will have, where the server says it."""
    if answer.status_code == HTTPStatus.PARTIAL_CONTENT:
        stated = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
        if not stated or int(stated[1]) != done:
            raise Trouble(f"{shown(answer.url)} answers with another part than was asked for")
        return int(stated[2])
    length = answer.headers.get("Content-Length", "")
    return int(length) if length.isdigit() and "Content-Encoding" not in answer.headers else None


def check_space(wanted: int, folder: Path, url: str) -> None:
    free = shutil.disk_usage(folder).free
    if wanted > free:
        raise Trouble(
            f"{shown(url)} has {wanted / 1e6:.0f} MB, and {folder} has only {free / 1e6:.0f} MB "
            "free: free some space"
        )


def receive(answer: Response, partial: Partial, wanted: Link) -> bool:
    """Appends the answer's body. Returns whether the file is whole; False: the connection broke."""
    done = partial.file.stat().st_size
    total = total_of(answer, done) or wanted.size or None
    check_space((total or 0) - done, partial.file.parent, wanted.url)
    with partial.file.open("ab") as file:
        try:
            for block in answer.iter_content(BLOCK_BYTES):
                file.write(block)
        except RequestException:
            return False
    size = partial.file.stat().st_size
    if total is not None and size > total:
        partial.remove()
        raise Damaged(f"{shown(wanted.url)} has more than the {total} bytes that it should have")
    return total is None or size == total


def go_on(wanted: Link, partial: Partial) -> bool:
    """Makes one request for what is missing. Returns whether the file is whole."""
    plain = {"Accept-Encoding": "identity"}
    answer = ask("GET", wanted.url, headers=plain | partial.request(wanted.url), stream=True)
    with answer:
        if answer.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            partial.remove()
            return False
        if answer.status_code == HTTPStatus.OK:
            partial.begin(wanted.url, answer)
        elif answer.status_code != HTTPStatus.PARTIAL_CONTENT:
            is_gone = answer.status_code in GONE
            lacks = " (the index names it, and its server lacks it)" if is_gone else ""
            raise refusal(answer.url, answer, lacks)
        return receive(answer, partial, wanted)


def sha256_of(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as source:
        while block := source.read(BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def check(wanted: Link, partial: Partial) -> None:
    size = partial.file.stat().st_size
    if wanted.size and size != wanted.size:
        partial.remove()
        raise Damaged(
            f"{shown(wanted.url)} has {size} bytes, not the {wanted.size} that the index names: "
            "try again"
        )
    if wanted.sha256 and sha256_of(partial.file) != wanted.sha256:
        partial.remove()
        raise Damaged(f"{shown(wanted.url)} does not have the hash that the index names: try again")


def download(wanted: Link, target: Path) -> Path:
    """Downloads a file, which appears whole or not at all. What a broken call has received is used
    by the next one. Errors: Trouble (also when the connection breaks again and again), Damaged
    (another hash or length than stated; what was received is removed), OSError."""
    if target.exists():
        return target
    partial = Partial(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(CUT_OFF_MAX):
        if go_on(wanted, partial):
            check(wanted, partial)
            partial.file.rename(target)
            partial.remove()
            return target
    raise Trouble(
        f"the download of {shown(wanted.url)} broke {CUT_OFF_MAX} times; what has come is kept, "
        "and the next call resumes"
    )
