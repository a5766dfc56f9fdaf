"""What the index that was named offers: its list, and the file of a version. Used by libtorch."""

import argparse
from pathlib import Path

from archive_index import archives
from download import download
from index_page import check_link
from link import is_same_file
from package_index import wheels_for_this_machine
from pip_wheels import say
from versions import Offered, not_before, offer_of
from wheel_file import NotOffered

LIST_BYTES_MAX = 8 << 20  # the service reads a list of 16 MiB; one of PyTorch has 50 KB


def published_at(options: argparse.Namespace, only: str = "") -> list[Offered]:
    """What the index offers, oldest first; at least the version `only`, if it has that."""
    if options.archives:
        return archives(options.index, options.flavour, only, options.since)
    return wheels_for_this_machine(options.index, options.flavour, only)


def file_of_index(options: argparse.Namespace, folder: Path) -> Path:
    """Downloads the file of a version. Errors: NotOffered, Damaged, Trouble, OSError."""
    link = offer_of(options.version, published_at(options, options.version)).link
    if options.fingerprint and not is_same_file(options.fingerprint, link.fingerprint()):
        raise NotOffered(f"the index has replaced {link.file}: what was asked for is gone")
    check_link(options.index, link)
    return download(link, folder / link.file)


def newest_lines(offers: list[Offered]) -> list[str]:
    """The lines of the list, oldest first: all, or the newest that fit into it."""
    lines, left = [], LIST_BYTES_MAX
    for offered in reversed(offers):
        line = f"{offered.version}\t{offered.link.fingerprint()}"
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    return lines[::-1]


def list_index(options: argparse.Namespace) -> None:
    """Prints the versions with their fingerprints. Errors: Trouble."""
    is_wanted = not_before(options.since)
    offers = [offered for offered in published_at(options) if is_wanted(offered.version)]
    lines = newest_lines(offers)
    if older := len(offers) - len(lines):
        say(f"note: the oldest {older} versions are not listed: [channel] since leaves them out")
    for line in lines:
        say(line)
