"""A fresh copy of a build's libraries for one process, as the service makes one for each run.

The place of a library's file in the page cache shifts times by up to 7 % for as long as the file
stays there, and every process that loads it alike: more processes do not average it away.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def _is_copied(name: str) -> bool:
    return name in ("libtorch_cpu.so", "libtorch.so", "libc10.so") or name.startswith("libgomp")


def _link(file: Path, to: Path) -> None:
    """A hard link where that is possible: a library finds others beside its own file."""
    real = file.resolve()
    if not real.exists():
        return
    try:
        to.hardlink_to(real)
    except OSError:  # a folder, or a file of another file system
        to.symlink_to(real)


@contextmanager
def placed(tree: Path, scratch: Path) -> Iterator[Path]:
    """The folder lib/ of a build like tree, whose files that matter are copies (half a second) and
    whose others are links. It lies in scratch, which is on a disk, and is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="placed-", dir=scratch) as root:
        libraries = Path(root) / "build" / "lib"
        libraries.mkdir(parents=True)
        for file in (tree / "lib").iterdir():
            to = libraries / file.name
            if _is_copied(file.name):
                shutil.copyfile(file, to)
            else:
                _link(file, to)
        for sibling in tree.iterdir():
            if sibling.name != "lib":
                _link(sibling, libraries.parent / sibling.name)
        yield libraries
