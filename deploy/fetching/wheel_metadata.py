"""What a wheel says of itself: what it requires, and which Pythons can import it. Used by
libtorch."""

import re
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.tags import Tag, parse_tag
from pip._vendor.packaging.utils import canonicalize_name

from wheel_file import Damaged, damage_of


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
        return message_from_bytes(archive.read(files[0]))


def requirements_of(wheel: Path) -> list[Requirement]:
    """The packages that it requires of this Python on this machine, without those of extras.
    Errors: Damaged."""
    metadata = fields_of(wheel, "METADATA")
    required = []
    with damage_of(wheel):
        for text in metadata.get_all("Requires-Dist", []):
            one = Requirement(text)
            if one.url:  # pip would build what lies there, whatever --only-binary says
                raise Damaged(f"it requires {text}: an address, not a wheel of an index")
            if one.marker is None or one.marker.evaluate({"extra": ""}):
                one.marker = None
                required.append(one)
    return required


def name_of(requirement: Requirement) -> str:
    return canonicalize_name(requirement.name)


def tags_of(wheel: Path) -> frozenset[Tag]:
    """Which Pythons and machines it is for. From within: the file may have any name. Errors:
    Damaged."""
    tags = fields_of(wheel, "WHEEL").get_all("Tag", [])
    with damage_of(wheel):
        return frozenset(tag for text in tags for tag in parse_tag(text))
