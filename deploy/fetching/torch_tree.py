"""The LibTorch tree that a wheel or an archive becomes. Used by libtorch."""

import json
import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pip_wheels import pip_download, required, say
from wheel_file import (
    Damaged,
    Target,
    Trouble,
    Unsuitable,
    unforeseen_damage,
    unpack,
    unpack_archive,
)

# What a C++ program on a CPU never loads: Python's libraries, PyTorch's tests, and the GPU kernels,
# which would need 2 GB of further packages to load.
LEFT_OUT = re.compile(
    r"lib(torch_python|shm|shm_windows|torch_cuda.*|torch_nvshmem|c10_cuda|caffe2_nvrtc|torch_global_deps"
    r"|aoti_custom_ops|backend_with_compiler|jitbackend_test|torchbind_test)(\.so.*)?$"
)
# The CUDA libraries that the CPU part of an ordinary wheel is linked against, and the package of
# each. Until CUDA 12 the package's name ends with the major version.
CUDA_PACKAGES = {"libcudart": "nvidia-cuda-runtime", "libcupti": "nvidia-cuda-cupti"}
LAST_CUDA_IN_PACKAGE_NAME = 12
LAST_CUDA_WITH_MINOR_CUPTI = 11  # libcupti.so.11.7, but libcupti.so.12
CUDA_RECORD = "cuda-libraries"  # in a tree: what its wheel requires, and hashes of what came
COMMIT = re.compile("[0-9a-f]{40}")
VERSION = re.compile("[0-9A-Za-z][0-9A-Za-z.+!_-]{0,99}")
LINE_BYTES_MAX = 4 << 10  # of a file that says what a tree is
PYTHON_HASH = "python-hash"  # in a tree with a Python part: what tells it from another build's
# What a program for GPUs loads at once or later, and what of it loads the driver.
GPU_LIBRARIES = ("libtorch_cuda.so", "libtorch_cuda_linalg.so")
LOADS_DRIVER = "libcaffe2_nvrtc.so"
DRIVER = "libcuda.so.1"  # of the GPU's driver, no wheel has it


@dataclass(frozen=True)
class Extent:
    """Which libraries a tree gets beside those that a C++ program on a CPU loads."""

    all_libraries: bool = False  # of PyTorch, also those for GPUs and for Python
    cuda: bool = False  # of CUDA, all that the wheel requires; with all_libraries
    shared_with: Path | None = None  # trees in this folder have a part in those of CUDA
    index: str = ""  # has some of what is required that pip's own index may lack; may be empty
    python: bool = False  # with what Python imports, and the packages that this requires


def torch_target(tree: Path, all_libraries: bool) -> Target:
    def target(path: PurePosixPath) -> Path | None:
        if path == PurePosixPath("torch/version.py"):
            return tree / "version.py"
        if (
            len(path.parts) < 3
            or path.parts[0] != "torch"
            or path.parts[1] not in ("lib", "include", "share")
        ):
            return None
        if path.parts[1] == "lib" and not all_libraries and LEFT_OUT.match(path.parts[2]):
            return None
        return tree.joinpath(*path.parts[1:])

    return target


def archive_target(tree: Path, all_libraries: bool) -> Target:
    """An archive has the parts of torch/ in its folder libtorch/, and says what it is in files."""
    of_wheel = torch_target(tree, all_libraries)

    def target(path: PurePosixPath) -> Path | None:
        if path.parts[0] != "libtorch":
            return None
        if path.parts[1:] in (("build-version",), ("build-hash",)):
            return tree / path.name
        return of_wheel(PurePosixPath("torch", *path.parts[1:]))

    return target


def library_target(tree: Path, library: str) -> Target:
    return lambda path: tree / "lib" / library if path.name == library else None


def run_tool(*command: str, package: str, **variables: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            check=False,
            text=True,
            errors="replace",  # of a name of any bytes
            capture_output=True,
            env=os.environ | {"LC_ALL": "C"} | variables,
        )
    except FileNotFoundError:
        raise Trouble(
            f"{command[0]} is missing, which looks into libraries: install {package}"
        ) from None


def libraries_needed(library: Path) -> list[str]:
    """The names of the libraries that a shared library is linked against."""
    done = run_tool("readelf", "--dynamic", "--wide", str(library), package="binutils")
    if done.returncode != 0:
        raise Damaged(f"{library.name} of this wheel is not a shared library")
    return re.findall(r"\(NEEDED\) +Shared library: \[([^\]]+)\]", done.stdout)


def cuda_requirement(library: str) -> str | None:
    """What pip is asked for to get a CUDA library; None for every other library."""
    name = re.fullmatch(r"(libcudart|libcupti)\.so\.((\d+)(?:\.\d+)*)", library)
    if not name:
        return None
    package, version, major = CUDA_PACKAGES[name[1]], name[3], int(name[3])
    if major <= LAST_CUDA_IN_PACKAGE_NAME:
        package += f"-cu{major}"
    if name[1] == "libcupti" and major <= LAST_CUDA_WITH_MINOR_CUPTI:
        version = name[2]
    return f"{package}=={version}.*"


def add_cuda_libraries(tree: Path, wheels: Path, index: str) -> None:
    """Puts the small CUDA libraries that libtorch_cpu.so needs to load into lib/ itself: it looks
    there ($ORIGIN), and a copy of lib/ or a folder of links to it has them too."""
    lib = tree / "lib"
    for library in libraries_needed(lib / "libtorch_cpu.so"):
        requirement = cuda_requirement(library)
        if not requirement or (lib / library).exists():
            continue
        say(f"fetching {library}, which its CPU part needs to load")
        with required(wheels / requirement):
            wheel = pip_download(requirement, wheels, index)
            unpack(wheel, library_target(tree, library), tree)
            if not (lib / library).exists():
                raise Damaged(
                    f"{wheel.name} holds no {library}: {requirement} is the wrong package, or "
                    "damaged"
                )


def missing_needs(tree: Path, library: str) -> list[str]:
    """The libraries that the loader of this machine does not find for one of the tree."""
    path = ":".join(filter(None, [str(tree / "lib"), os.environ.get("LD_LIBRARY_PATH")]))
    done = run_tool("ldd", str(tree / "lib" / library), package="libc-bin", LD_LIBRARY_PATH=path)
    return re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE)


def check_loadable(tree: Path, library: str) -> None:
    """Refuses a tree with a library that the loader of this machine cannot satisfy."""
    missing = [name for name in missing_needs(tree, library) if name != DRIVER]
    if missing:
        raise Trouble(
            f"{library} needs {', '.join(missing)}, which this machine lacks: install it "
            "and try again"
        )


def check_cuda_loadable(tree: Path) -> None:
    """Likewise for the part for GPUs. Says where there is no driver."""
    for library in GPU_LIBRARIES:
        if (tree / "lib" / library).exists():
            check_loadable(tree, library)
    if (tree / "lib" / LOADS_DRIVER).exists() and DRIVER in missing_needs(tree, LOADS_DRIVER):
        say(f"this machine has no {DRIVER}, the GPU's driver: the tree loads and lists no device")


def version_and_commit(tree: Path) -> tuple[str, str]:
    """The version with its flavour, and the commit it was built from, as torch/version.py says."""
    text = (tree / "version.py").read_text(errors="replace")
    value = r"\s*(?::[^=\n]*)?=\s*['\"]([^'\"\n]+)['\"]"
    version = re.search(rf"^__version__{value}", text, re.MULTILINE)
    commit = re.search(rf"^git_version{value}", text, re.MULTILINE)
    if not (version and commit and COMMIT.fullmatch(commit[1])):
        raise Damaged("torch/version.py names no version and commit: this wheel is not PyTorch's")
    return version[1], commit[1]


def first_line(file: Path) -> str:
    """What a file says of the tree, whatever bytes it has. Errors: OSError."""
    with file.open("rb") as source:
        return source.read(LINE_BYTES_MAX).decode(errors="replace").strip()


def is_version(found: str, wanted: str) -> bool:
    return wanted in (found, found.partition("+")[0])


def check_parts(tree: Path, parts: Iterable[str], file: Path) -> None:
    for part in parts:
        if not (tree / part).exists():
            raise Damaged(f"{file.name} holds no torch/{part}: it is not a Linux build of PyTorch")


def check_version(found: str, wanted: str | None, file: Path) -> None:
    if not VERSION.fullmatch(found):
        raise Damaged(
            f"{file.name} says that it is version {found[:60]!r}: it must be such as 2.13.0+cpu"
        )
    if wanted is not None and not is_version(found, wanted):
        raise Damaged(f"{file.name} was asked for as torch {wanted}, but says that it is {found}")


def note_cuda(tree: Path, required: list[str], hashes: dict[str, str]) -> None:
    """Writes into the tree what was required of CUDA, and the libraries that came for it."""
    text = json.dumps({"requires": required, "libraries": hashes}, indent=2, sort_keys=True)
    (tree / CUDA_RECORD).write_text(text + "\n")


def fill_from_archive(file: Path, version: str | None, tree: Path, extent: Extent) -> None:
    """Unpacks a LibTorch archive, which must be of that version; None: of any. It brings its
    libraries of CUDA itself. Errors: Unsuitable (Python is wanted), Damaged, Trouble."""
    if extent.python:
        raise Unsuitable(
            f"{file.name} is a LibTorch archive, which has no Python part: take a wheel"
        )
    unpack_archive(file, archive_target(tree, extent.all_libraries), tree)
    check_parts(tree, ("lib/libtorch_cpu.so", "build-version", "build-hash"), file)
    check_version(first_line(tree / "build-version"), version, file)
    if not COMMIT.fullmatch(first_line(tree / "build-hash")):
        raise Damaged(f"{file.name}: its build-hash names no commit of 40 hexadecimal digits")
    check_loadable(tree, "libtorch_cpu.so")
    if extent.cuda:
        check_cuda_loadable(tree)
        note_cuda(tree, [], {})


def fill_from_wheel(wheel: Path, version: str | None, tree: Path, extent: Extent) -> None:
    """Unpacks a wheel, which must be of that version, and the small libraries of CUDA that its CPU
    part needs, or all that it requires. Their wheels go beside it. Errors: NotOffered, Damaged,
    Trouble."""
    target = torch_target(tree, extent.all_libraries)
    if extent.python:
        from python_part import add_python, check_interpreter, python_target

        check_interpreter(wheel)
        target = python_target(tree)
    unpack(wheel, target, tree)
    check_parts(tree, ("lib/libtorch_cpu.so", "version.py"), wheel)
    found, commit = version_and_commit(tree)
    check_version(found, version, wheel)
    if extent.cuda:
        from cuda_libraries import add_required_libraries

        add_required_libraries(wheel, tree, extent)
    add_cuda_libraries(tree, wheel.parent, extent.index)
    check_loadable(tree, "libtorch_cpu.so")
    if extent.cuda:
        check_cuda_loadable(tree)
    if extent.python:
        add_python(wheel, tree, extent.index)
    else:
        (tree / "version.py").unlink()
    (tree / "build-version").write_text(found + "\n")
    (tree / "build-hash").write_text(commit + "\n")


def fill(file: Path, version: str | None, tree: Path, extent: Extent, is_archive: bool) -> None:
    """Fills the tree from a LibTorch archive or from a wheel. Errors: as those."""
    with unforeseen_damage(file):
        (fill_from_archive if is_archive else fill_from_wheel)(file, version, tree, extent)
