"""The SHA-256 of a file in a text beside it, as several programs write it. Used by libtorch."""

import codecs
import re

from wheel_file import Trouble

DIGITS = "([0-9a-fA-F]{64})"
# The digits alone or as sha256sum writes them; as BSD's programs or openssl do.
FORMS = (
    re.compile(rf"\s*{DIGITS}(?:\s+\*?(?P<name>\S.*?))?\s*"),
    re.compile(rf"\s*SHA(?:2-)?256 ?\((?P<name>.+)\) ?= ?{DIGITS}\s*"),
)


def decoded(content: bytes) -> str:
    """Text as editors and shells write it, with or without a mark of its encoding."""
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if is_wide else "utf-8-sig", errors="replace")


def lines_of(content: bytes) -> list[tuple[str, str]]:
    """The hashes, each with the name that its line has; empty where it has none."""
    found = []
    for line in decoded(content).splitlines():
        for form in FORMS:
            if named := form.fullmatch(line):
                name = (named["name"] or "").removeprefix("./")
                found.append((name, named[1] if form is FORMS[0] else named[2]))
    return found


def only(hashes: set[str], name: str, where: str) -> str | None:
    """Errors: Trouble."""
    if len(hashes) > 1:
        raise Trouble(f"{where} names {len(hashes)} SHA-256 for {name}: it must be one")
    return hashes.pop().lower() if hashes else None


def named_hash(content: bytes, name: str, where: str) -> str | None:
    """The hash that the sums of a folder state for a file; None: they do not name it. Errors:
    Trouble, where they state two."""
    return only(
        {known.lower() for stated, known in lines_of(content) if stated == name}, name, where
    )


def own_hash(content: bytes, name: str, where: str) -> str:
    """The hash that the text beside a file states: that of the line which names the file, in
    whatever folder it was, or the only one. Errors: Trouble."""
    lines = lines_of(content)
    of_file = {known.lower() for stated, known in lines if stated.rpartition("/")[2] == name}
    alone = {known.lower() for _, known in lines} if len(lines) == 1 else set()
    found = only(of_file or alone, name, where)
    if found is None:
        raise Trouble(
            f"{where} holds no SHA-256 of {name}: it must be 64 hexadecimal digits alone, or a "
            f'line "DIGITS  {name}" of sha256sum, or "SHA256 ({name}) = DIGITS"'
        )
    return found
