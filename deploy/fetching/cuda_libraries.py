"""The libraries of CUDA that a wheel of PyTorch requires, shared with other trees. Used by
libtorch."""

import errno
import json
import os
import re
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pip._vendor.packaging.requirements import Requirement

from pip_wheels import pip_download, pip_download_all, required, say
from torch_tree import CUDA_RECORD, Extent, note_cuda
from wheel_file import damage_of, hash_of, read_record, unpack
from wheel_metadata import name_of, requirements_of

# NVIDIA's packages; the rest of what PyTorch requires is for Python.
PACKAGES = re.compile(r"nvidia-.+|cuda-toolkit")
LIBRARY = re.compile(r".+\.so(\.\d+)*")


@dataclass(frozen=True)
class Neighbour:
    """A tree that has libraries of CUDA."""

    tree: Path
    required: list[str]
    hashes: dict[str, str]  # of each library, as a RECORD writes it


def neighbours(folder: Path | None) -> list[Neighbour]:
    """The trees in a folder, or in folders of it, that say what they have."""
    found = []
    for pattern in ("*", "*/torch"):
        for record in sorted(folder.glob(f"{pattern}/{CUDA_RECORD}")) if folder else ():
            try:
                text = json.loads(record.read_text())
                found.append(Neighbour(record.parent, text["requires"], dict(text["libraries"])))
            except (OSError, ValueError, KeyError, TypeError):
                continue  # removed at this moment, or not ours
    return found


def required_by(wheel: Path) -> list[str]:
    """What the wheel's metadata requires of CUDA on this machine, without extras. Errors:
    Damaged."""
    return sorted(str(one) for one in requirements_of(wheel) if PACKAGES.fullmatch(name_of(one)))


def is_library(path: PurePosixPath) -> bool:
    """In nvidia/, or in a folder of its own, as cuSPARSELt came for CUDA 12."""
    return path.parent.name == "lib" and bool(LIBRARY.fullmatch(path.name))


def put(source: Path, target: Path) -> bool:
    """Links a file under a name that is free, or copies it where that is on another file system.
    Returns whether it is there."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
            return False  # the name is taken, or the tree that has it is being removed
        with source.open("rb") as content, target.open("xb") as copy:
            shutil.copyfileobj(content, copy)
    return True


def share(library: str, expected: str, folder: Path, trees: list[Neighbour]) -> bool:
    """Puts a library of another tree into the folder. Returns whether a tree has it, undamaged."""
    target = folder / library
    for neighbour in trees:
        if neighbour.hashes.get(library) != expected:
            continue
        if not put(neighbour.tree / "lib" / library, target):
            continue
        if hash_of(target) == expected:
            return True
        target.unlink()
    return False


def take_all(neighbour: Neighbour, folder: Path) -> bool:
    """Shares everything with a tree. Returns whether that was possible; the folder is empty if it
    was not."""
    if all(share(name, known, folder, [neighbour]) for name, known in neighbour.hashes.items()):
        say(f"its {len(neighbour.hashes)} CUDA libraries are those of {neighbour.tree}")
        return True
    for file in folder.iterdir():
        file.unlink()
    return False


def unpack_libraries(wheel: Path, folder: Path, trees: list[Neighbour]) -> dict[str, str]:
    """Puts the libraries of a wheel into the folder, but none that is there from another one, and
    returns their hashes. Errors: as unpack."""
    with damage_of(wheel), zipfile.ZipFile(wheel) as archive:
        record = {PurePosixPath(name): known for name, known in read_record(archive).items()}
    hashes = {
        path.name: known
        for path, known in record.items()
        if is_library(path) and not (folder / path.name).exists()
    }
    shared = {name for name, known in hashes.items() if share(name, known, folder, trees)}
    unpacked = hashes.keys() - shared

    def target(path: PurePosixPath) -> Path | None:
        return folder / path.name if is_library(path) and path.name in unpacked else None

    unpack(wheel, target, folder)
    return hashes


def fetch_one_by_one(packages: list[str], folder: Path, index: str) -> None:
    """Puts what is required by name into the folder, each package alone: pip keeps nothing of a
    call that breaks, and together they are gigabytes. Errors: NotOffered, Damaged, Trouble."""
    for package in packages:
        wheel = pip_download(package, folder, index)
        with required(folder / package):
            of_extras = requirements_of(wheel, Requirement(package).extras)
        for part in (str(one) for one in of_extras if one.specifier):
            pip_download(part, folder, index)


def fetch(packages: list[str], wheels: Path, index: str) -> list[Path]:
    """The wheels of all that is required, what came in an earlier call for the same not again.
    Errors: NotOffered, Damaged, Trouble."""
    folder, note = wheels / "required", wheels / "required.json"
    wanted = json.dumps(packages)
    shutil.rmtree(folder / "tmp", ignore_errors=True)  # of a call that was killed
    if not (note.exists() and note.read_text() == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        note.write_text(wanted)
    fetch_one_by_one(packages, folder, index)
    for alone in sorted(folder.glob("*/*.whl")):
        put(alone, folder / alone.name)
    return pip_download_all(packages, folder, index)


def gather(packages: list[str], wheels: Path, folder: Path, extent: Extent) -> dict[str, str]:
    """Puts all libraries that are required into the folder and returns their hashes."""
    trees = neighbours(extent.shared_with)
    for neighbour in trees:
        # Two builds that require the same get the same, also where a package may have any version.
        if neighbour.required == packages and take_all(neighbour, folder):
            return neighbour.hashes
    say(f"fetching the CUDA libraries that it requires (some 3 GB): {', '.join(packages)}")
    hashes: dict[str, str] = {}
    brought = wheels / "required"
    with required(brought, "none"):  # pip keeps no wheel without its hash
        whole = fetch(packages, wheels, extent.index)
    for wheel in whole:
        with required(brought, wheel.name):
            hashes |= unpack_libraries(wheel, folder, trees)
    return hashes


def add_required_libraries(wheel: Path, tree: Path, extent: Extent) -> None:
    """Puts every library of CUDA that the wheel requires into lib/, where PyTorch's LibTorch
    archives have them, and says in the tree which. Those that a tree in the extent's `shared_with`
    has are not stored again. Errors: NotOffered, Damaged (the wheel itself), Trouble."""
    packages, folder = required_by(wheel), tree / "cuda.partial"
    folder.mkdir()
    hashes = gather(packages, wheel.parent, folder, extent) if packages else {}
    of_torch = {library for library in hashes if (tree / "lib" / library).exists()}
    for library in hashes.keys() - of_torch:
        (folder / library).rename(tree / "lib" / library)
    shutil.rmtree(folder)
    note_cuda(tree, packages, {name: hashes[name] for name in hashes.keys() - of_torch})
