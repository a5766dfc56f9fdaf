"""Writes a planted day as a bare git repository, by the git program, the same for the same day."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import day

MERGE_BOT = "Merge Bot <merge-bot@example.invalid>"
NIGHTLY_BOT = "Nightly Bot <nightly-bot@example.invalid>"
ROOT_SUBJECT = "[ATen] Give the CPU kernels of the overlay a home in native (#170988)"


class GitFailed(Exception):
    pass


def git(repository: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Output of git, which sees no configuration of the user's."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", LC_ALL="C")
    try:
        done = subprocess.run(
            ["git", "--git-dir", str(repository), *arguments],
            input=stdin,
            env=environment,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise GitFailed("there is no git program: run deploy/prerequisites") from error
    if done.returncode != 0:
        raise GitFailed(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode()


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)


def _commit(
    mark: int,
    branch: str,
    author: tuple[str, int],
    committer: tuple[str, int],
    message: str,
    parent: str | None,
) -> bytes:
    """A commit for fast-import; author and committer as (name with address, seconds)."""
    lines = [
        f"commit refs/heads/{branch}",
        f"mark :{mark}",
        f"author {author[0]} {author[1]} +0000",
        f"committer {committer[0]} {committer[1]} +0000",
    ]
    stream = "\n".join(lines).encode() + b"\n" + _data(message)
    return stream + (f"from {parent}\n".encode() if parent else b"")


def _files(tree: dict[str, str], before: dict[str, str]) -> Iterator[bytes]:
    for path in sorted(tree):
        if before.get(path) != tree[path]:
            yield f"M 100644 inline {path}\n".encode() + _data(tree[path])


def base_tree(folder: Path) -> dict[str, str]:
    """The files that the day begins with, by their path."""
    folder = Path(folder)
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _root(tree: dict[str, str], root_time: int) -> list[bytes]:
    author = ("Author 01 <author01@example.invalid>", root_time)
    head = _commit(1, "main", author, (MERGE_BOT, root_time), ROOT_SUBJECT + "\n", None)
    return [head, *_files(tree, {})]


def write_trunk(
    repository: Path,
    tree: dict[str, str],
    planned: list[day.PlannedCommit],
    base: str | None = None,
) -> list[str]:
    """The branch main: a root commit with the tree, or the commit base that is there and whose
    files tree holds as far as the day edits them; then the planned commits. Returns the shas, root
    first."""
    stream = [] if base else _root(tree, planned[0].committer_time - 1800)
    for mark, commit in enumerate(planned, start=2):
        before = dict(tree)
        for edit in commit.edits:
            edit.apply(tree)
        author = f"Author {commit.author:02d} <author{commit.author:02d}@example.invalid>"
        stream += [
            _commit(
                mark,
                "main",
                (author, commit.author_time),
                (MERGE_BOT, commit.committer_time),
                f"{commit.subject}\n\n{commit.body}\n",
                base if base and mark == 2 else f":{mark - 1}",
            ),
            *_files(tree, before),
        ]
    git(repository, "fast-import", "--quiet", stdin=b"".join(stream))
    return git(repository, "rev-list", "--reverse", "--topo-order", "main").split()


def write_nightlies(repository: Path, nightlies: list[tuple[str, str, int]]) -> list[str]:
    """The branch nightly: one commit for each (date, trunk sha, time), with the trunk commit's tree
    and its sha in the subject, as PyTorch's own. Returns the shas."""
    stream = []
    for mark, (date, trunk, time) in enumerate(nightlies, start=1):
        tree = git(repository, "rev-parse", f"{trunk}^{{tree}}").strip()
        stream += [
            _commit(
                mark,
                "nightly",
                (NIGHTLY_BOT, time),
                (NIGHTLY_BOT, time),
                f"{date} nightly release ({trunk})\n",
                f":{mark - 1}" if mark > 1 else None,
            ),
            f'M 040000 {tree} ""\n'.encode(),
        ]
    git(repository, "fast-import", "--quiet", stdin=b"".join(stream))
    return git(repository, "rev-list", "--reverse", "--topo-order", "nightly").split()
