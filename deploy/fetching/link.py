"""A file as an index names it. Used by libtorch."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from web_request import check_address
from wheel_file import Trouble

HASH_DIGITS = {"sha256": 64, "sha384": 96, "sha512": 128}
NAME_BYTES_MAX = 255  # it becomes the name of a file here
TIME_LETTERS_MAX = 1_000  # some servers have a long ETag in its place
NAMED_MAX = 5


class BadEntry(Trouble):
    """An entry of an index that cannot be used; the message says why."""


@dataclass(frozen=True)
class Link:
    """What an index says of a file. Errors: BadEntry."""

    file: str
    url: str
    hashes: Mapping[str, str] = field(default_factory=dict)  # empty: the index names none
    size: int = 0  # 0: the index names none
    uploaded: str = ""  # as the index writes it; may be empty
    yanked: bool = False

    def __post_init__(self) -> None:
        check_name(self.file)
        check_url(self.url)
        if type(self.size) is not int or not 0 <= self.size < 1 << 63:
            raise BadEntry(f"its size {self.size!r} must be a number of bytes")
        time = self.uploaded
        if type(time) is not str or not time.isprintable() or len(time) > TIME_LETTERS_MAX:
            raise BadEntry(f"its upload time {time!r} must be a short text")

    def fingerprint(self) -> str:
        """All that the index says of the file and that may tell when it is replaced."""
        size = str(self.size or "")
        path = urlsplit(self.url).path
        facts = {**self.hashes, "size": size, "time": self.uploaded, "path": path}
        return ";".join(f"{name}={quote(fact)}" for name, fact in facts.items() if fact)


def check_name(file: object) -> None:
    if type(file) is not str or not file.isprintable():
        raise BadEntry("its name must be a text that can be printed")
    if len(file.encode()) > NAME_BYTES_MAX:
        raise BadEntry(f"its name has more than {NAME_BYTES_MAX} bytes")


def check_url(url: str) -> None:
    """A surrogate, which JSON may have, cannot be sent."""
    try:
        url.encode()
        urlsplit(url).port  # noqa: B018 it is read when it is asked for
    except ValueError as error:
        raise BadEntry(f"its address is invalid ({error})") from None
    check_address(url)


def hashes_in(stated: Mapping[str, object]) -> dict[str, str]:
    """The hashes that can be checked, in lower case. An invalid one refuses the entry: nobody
    could say that the file is the right one. Errors: BadEntry."""
    hashes = {}
    for name, digits in HASH_DIGITS.items():
        value = stated.get(name)
        if value in (None, ""):
            continue
        if not (isinstance(value, str) and re.fullmatch(rf"[0-9a-fA-F]{{{digits}}}", value)):
            raise BadEntry(f"its {name} {str(value)[:80]!r} is not of {digits} hexadecimal digits")
        hashes[name] = value.lower()
    return hashes


def facts_of(fingerprint: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in fingerprint.split(";") if "=" in part)


def is_same_file(known: str, offered: str) -> bool:
    """Whether two fingerprints can be of the same file: the hashes that both name decide, else what
    both say must agree, and there must be something. As the service compares them."""
    first, second = facts_of(known), facts_of(offered)
    both = first.keys() & second.keys()
    decide = both & HASH_DIGITS.keys() or both
    return bool(decide) and all(first[name] == second[name] for name in decide)


class LeftOut:
    """Entries of an index that cannot be used: one stops no other."""

    def __init__(self, index: str) -> None:
        self.index = index
        self.count = 0

    def note(self, entry: object, why: object) -> None:
        """Names an entry on standard error, if not many were named before."""
        self.count += 1
        if self.count <= NAMED_MAX:
            self.say(f"{str(entry)[:120]!r} is left out: {str(why)[:400]}")

    def end(self) -> None:
        if self.count > NAMED_MAX:
            self.say(f"{self.count - NAMED_MAX} more are left out")

    def say(self, text: str) -> None:
        """On one line: the service reads the lines of both outputs together."""
        line = " ".join(f"note: {self.index}: {text}".split())
        print(line, file=sys.stderr, flush=True)
