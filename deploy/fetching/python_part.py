"""The Python part of a tree: what `import torch` loads, in the tree itself, and in its folder
python/ what lies beside torch/ in the wheel, and the packages that it requires. Used by libtorch.

With the folder above the tree and its python/ on sys.path, the tree's torch can be imported."""

import compileall
import hashlib
import platform
import py_compile
import re
import sys
import zipfile
from pathlib import Path, PurePosixPath

from pip._vendor.packaging.tags import sys_tags

from pip_wheels import install_into, say
from torch_tree import DRIVER, PYTHON_HASH, check_parts, missing_needs
from wheel_file import Damaged, NotOffered, Target, Trouble, Unsuitable, damage_of, read_record
from wheel_metadata import name_of, requirements_of, tags_of

FOLDER = "python"
# PyTorch's tests, and programs that no build needs: a fifth of what is unpacked.
LEFT_OUT = re.compile(
    r"torch/(test/.*|bin/(?!torch_shm_manager$).*"
    r"|lib/lib(aoti_custom_ops|backend_with_compiler|jitbackend_test|torchbind_test)\.so)"
)
# For GPUs, and fetched otherwise or by nobody.
NOT_PYTHON = re.compile(r"nvidia-.*|cuda-.*|(pytorch-)?triton(-.*)?")
ALWAYS = "numpy"  # torch does without it; torch.compile and most models do not
# What `import torch` loads first, and all that Python calls.
LIBRARIES = ("libtorch_global_deps.so", "libtorch_python.so")
NAMED_MAX = 3


def python_target(tree: Path) -> Target:
    """Everything in the wheel but tests: torch/ becomes the tree, the rest lies in python/."""

    def target(path: PurePosixPath) -> Path | None:
        if LEFT_OUT.fullmatch(str(path)) or path.parts[0].endswith(".data"):
            return None
        if path.parts[0] == "torch":
            return tree.joinpath(*path.parts[1:])
        return tree.joinpath(FOLDER, *path.parts)

    return target


def check_interpreter(wheel: Path) -> None:
    """Refuses a wheel that this Python cannot import. Errors: Unsuitable, Damaged."""
    tags = tags_of(wheel)
    if tags.isdisjoint(sys_tags()):
        raise Unsuitable(
            f"{wheel.name} is for {', '.join(sorted(map(str, tags))) or 'no Python'}, which "
            f"{sys.executable} (Python {platform.python_version()}) cannot import: take the wheel "
            "for this Python, or a python3 that the wheel is for"
        )


def check_importable(tree: Path) -> None:
    """Refuses a tree of which Python could not load a library. Errors: Unsuitable, where no other
    call would go better; Trouble."""
    there = [library for library in LIBRARIES if (tree / "lib" / library).exists()]
    missing = {need for library in there for need in missing_needs(tree, library)} - {DRIVER}
    if not missing:
        return
    named = ", ".join(sorted(missing)[:NAMED_MAX])
    more = f" and {len(missing) - NAMED_MAX} more" if len(missing) > NAMED_MAX else ""
    needs = f"its Python part needs {named}{more}, which this machine lacks: "
    if (tree / "lib" / "libtorch_cuda.so").exists():
        raise Unsuitable(needs + "take a build for CPUs (+cpu), or --cuda, which fetches them")
    raise Trouble(needs + "install them and try again")


def packages_for(wheel: Path) -> list[str]:
    """What pip is asked for. Errors: Damaged."""
    required = [one for one in requirements_of(wheel) if not NOT_PYTHON.fullmatch(name_of(one))]
    added = [] if ALWAYS in map(name_of, required) else [ALWAYS]
    return sorted([*map(str, required), *added])


def is_of_python(path: PurePosixPath) -> bool:
    """Whether a file of the wheel decides on what Python computes, headers among them, against
    which torch.compile compiles; those in lib/ are compared by the service itself, and a version or
    a date changes nothing."""
    says_what_it_is = (
        path.parts[0].endswith(".dist-info")
        or path.parts == ("torch", "version.py")
        or path.name == "version.h"
    )
    return path.parts[:2] != ("torch", "lib") and not says_what_it_is


def python_hash(wheel: Path, target: Target) -> str:
    """SHA-256 over the names and hashes of the Python files that a tree gets of a wheel."""
    with damage_of(wheel), zipfile.ZipFile(wheel) as archive:
        record = {PurePosixPath(name): known for name, known in read_record(archive).items()}
    lines = sorted(
        f"{path} {known}\n" for path, known in record.items() if is_of_python(path) and target(path)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def compile_all(tree: Path) -> None:
    """Every process that measures imports torch, and writes no bytecode: from sources that takes
    seconds each time. A file's hash says whether its bytecode is valid, as copies of a tree have
    other times."""
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    # Quiet, as some files are made for another Python.
    compileall.compile_dir(tree, quiet=2, invalidation_mode=mode)


def add_python(wheel: Path, tree: Path, index: str) -> None:
    """Completes the Python part of a tree into which the wheel was unpacked with python_target.
    `index`: where packages may be beside pip's own one. Errors: Unsuitable, Damaged (the wheel
    itself), Trouble."""
    check_parts(tree, ("__init__.py",), wheel)
    check_importable(tree)
    packages = packages_for(wheel)
    say(f"installing what its Python part requires: {', '.join(packages)}")
    try:
        install_into(tree / FOLDER, packages, wheel.parent, index)
    except (NotOffered, Damaged) as error:  # the next call may go better, and the wheel is whole
        raise Trouble(str(error)) from error
    compile_all(tree)
    (tree / PYTHON_HASH).write_text(python_hash(wheel, python_target(tree)) + "\n")
