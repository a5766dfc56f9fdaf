"""What a wheel says of itself: what it requires, and which Pythons can import it. Used by
libtorch."""

import math
import re
import zipfile
from collections.abc import Iterable
from email import message_from_bytes
from email.message import Message
from pathlib import Path

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.tags import Tag, parse_tag
from pip._vendor.packaging.utils import canonicalize_name

from wheel_file import Damaged, check_text, damage_of

TAGS_MAX = 1_000  # that one name or wheel may stand for; PyTorch's have two


def fields_of(wheel: Path, name: str) -> Message:
    """The fields of a file in .dist-info. Errors: Damaged."""
    with damage_of(wheel), zipfile.ZipFile(wheel) as archive:
        files = [
            member
            for member in archive.namelist()
            if re.fullmatch(rf"[^/]+\.dist-info/{name}", member)
        ]
        if len(files) != 1:
            raise Damaged(f"it has {len(files)} files .dist-info/{name} instead of one")
        check_text(archive.getinfo(files[0]))
        return message_from_bytes(archive.read(files[0]))


def requirements_of(wheel: Path, extras: Iterable[str] = ()) -> list[Requirement]:
    """The packages that it requires of this Python on this machine; of extras those that are named.
    Errors: Damaged."""
    metadata = fields_of(wheel, "METADATA")
    required = []
    with damage_of(wheel):
        for field in metadata.get_all("Requires-Dist", []):
            text = str(field)  # no str where it is not ASCII
            one = Requirement(text)
            if one.url:  # pip would build what lies there, whatever --only-binary says
                raise Damaged(f"it requires {text}: an address, not a wheel of an index")
            wanted = ("", *extras)
            if one.marker is None or any(one.marker.evaluate({"extra": each}) for each in wanted):
                one.marker = None
                required.append(one)
    return required


def name_of(requirement: Requirement) -> str:
    return canonicalize_name(requirement.name)


def check_tags(texts: Iterable[str]) -> None:
    """Refuses tags like cp39.cp310-abi3-linux_x86_64 that stand for more than can be looked at.
    Errors: Damaged."""
    count = sum(math.prod(part.count(".") + 1 for part in text.split("-")) for text in texts)
    if count > TAGS_MAX:
        raise Damaged(f"its tags stand for {count} Pythons and machines, more than {TAGS_MAX}")


def tags_of(wheel: Path) -> frozenset[Tag]:
    """Which Pythons and machines it is for. From within: the file may have any name. Errors:
    Damaged."""
    tags = [str(field) for field in fields_of(wheel, "WHEEL").get_all("Tag", [])]
    with damage_of(wheel):
        check_tags(tags)
        return frozenset(tag for text in tags for tag in parse_tag(text))
