"""PyTorch's whole source as Debian packages it, in a git repository that builds on Debian 12.

The source is trixie's, its libraries are bookworm's: nothing of trixie is installed, and the
machine's own lists of packages stay as they are.
"""

import os
import shutil
import subprocess
from pathlib import Path

import repository
from changes import Edit

VERSION = "2.6.0+dfsg-7"
SUBJECT = "PyTorch 2.6.0 as Debian packages it, with the libraries of Debian 12"
ROOT_TIME = 1781560800  # 2026-06-15 22:00:00 UTC, before the day
AUTHOR = "Author 01 <author01@example.invalid>"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# What the build needs beyond deploy/prerequisites.
PACKAGES = (
    "dpkg-dev",
    "flatbuffers-compiler-dev",
    "libcpuinfo-dev",
    "libeigen3-dev",
    "libflatbuffers-dev",
    "libfp16-dev",
    "libfxdiv-dev",
    "libonnx-dev",
    "libopenblas-dev",
    "libprotobuf-dev",
    "libpsimd-dev",
    "libpthreadpool-dev",
    "libsleef-dev",
    "patch",
    "protobuf-compiler",
    "python3-typing-extensions",
    "python3-yaml",
    "xz-utils",
)

OFF = (
    "BUILD_CUSTOM_PROTOBUF BUILD_LAZY_TS_BACKEND BUILD_FUNCTORCH HAVE_SOVERSION USE_ROCM "
    "USE_FBGEMM USE_KINETO USE_ITT USE_MAGMA USE_MKLDNN USE_NNPACK USE_NUMA USE_NUMPY "
    "USE_PYTORCH_QNNPACK USE_XNNPACK USE_VALGRIND USE_CUDNN USE_NCCL USE_XPU CXX_AVX512_FOUND"
)
ON = (
    "USE_OPENMP USE_GOLD_LINKER USE_SYSTEM_CPUINFO USE_SYSTEM_SLEEF USE_SYSTEM_FP16 "
    "USE_SYSTEM_PTHREADPOOL USE_SYSTEM_PSIMD USE_SYSTEM_FXDIV USE_SYSTEM_ONNX "
    "USE_SYSTEM_EIGEN_INSTALL"
)
# For the recipe's TORCHWATCH_PYTORCH_OPTIONS. Kernels are compiled for two kinds of processor, not
# three: without AVX512 66 steps are saved.
OPTIONS = " ".join(
    [
        *(f"-D{name}=OFF" for name in OFF.split()),
        *(f"-D{name}=ON" for name in ON.split()),
        "-DBLAS=OpenBLAS",
    ]
)

# What the source needs to build so. Each old text is there exactly once.
EDITS = (
    # Debian prints each command line of a build, and leaves libraries without a path to one
    # another.
    Edit("CMakeLists.txt", "set(CMAKE_VERBOSE_MAKEFILE ON)\n", ""),
    Edit(
        "cmake/Dependencies.cmake",
        'set(CMAKE_INSTALL_RPATH "")',
        'set(CMAKE_INSTALL_RPATH "${_rpath_portable_origin}")',
    ),
    Edit(
        "cmake/Dependencies.cmake",
        "set(CMAKE_INSTALL_RPATH_USE_LINK_PATH FALSE)",
        "set(CMAKE_INSTALL_RPATH_USE_LINK_PATH TRUE)",
    ),
    # pybind11 is left out of the package, and nothing needs it without Python.
    Edit(
        "cmake/Dependencies.cmake",
        """\
    install(DIRECTORY ${pybind11_INCLUDE_DIRS}
            DESTINATION ${CMAKE_INSTALL_PREFIX}
            FILES_MATCHING PATTERN "*.h")
""",
        "",
    ),
    # Less optimisation for what only connects operators: it is half of the build.
    Edit(
        "caffe2/CMakeLists.txt",
        "torch_compile_options(torch_cpu)  # see cmake/public/utils.cmake\n",
        """\
torch_compile_options(torch_cpu)  # see cmake/public/utils.cmake

get_target_property(TORCH_CPU_GLUE torch_cpu SOURCES)
list(FILTER TORCH_CPU_GLUE INCLUDE REGEX
  "/torch/csrc/|/ATen/functorch/|/(Register|Operators_)[^/]*[.]cpp$")
set_property(SOURCE ${TORCH_CPU_GLUE} APPEND PROPERTY COMPILE_OPTIONS -O1)
""",
    ),
    # Debian 12's cpuinfo cannot be asked for these.
    Edit(
        "aten/src/ATen/cpu/Utils.cpp",
        "return cpuinfo_initialize() && cpuinfo_has_x86_amx_tile();",
        "return false;",
    ),
    Edit(
        "aten/src/ATen/cpu/Utils.cpp",
        "return is_amx_tile_supported() && cpuinfo_has_x86_amx_fp16();",
        "return false;",
    ),
)
BYTECODE = Path("torch/csrc/jit/serialization/mobile_bytecode.fbs")


class SourceFailed(Exception):
    pass


def _call(*command: str | Path, folder: Path | None = None) -> str:
    """Output of a program; what it says of a failure is in the exception."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = " ".join(map(str, command[:3]))
        raise SourceFailed(f"{words}: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def missing_packages() -> list[str]:
    done = subprocess.run(
        ["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n", *PACKAGES],
        capture_output=True,
        text=True,
        check=False,
    )
    return [name for name in PACKAGES if f"{name} installed" not in done.stdout.splitlines()]


def install_packages() -> None:
    """Only what is missing; nothing that is there is brought up to date."""
    missing = missing_packages()
    if not missing:
        return
    if os.geteuid() != 0:
        raise SourceFailed(f"as root: apt-get install --no-install-recommends {' '.join(missing)}")
    _call("apt-get", "--quiet", "update")
    how = ("--yes", "--no-install-recommends", "--no-upgrade")
    _call("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", *how, *missing)


def mirror() -> str:
    """Where this machine has Debian's packages from."""
    wanted = ("Label: Debian", "Created-By: Packages")
    sites = _call("apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted).split()
    if not sites:
        raise SourceFailed("this machine's apt knows no mirror of Debian")
    return sites[0]


def download(folder: Path) -> Path:
    """The source package's three files; apt checks them by the archive's signature. Returns the
    .dsc."""
    packages, lists, cache = (folder / "apt" / name for name in ("packages", "lists", "cache"))
    file = packages / f"pytorch_{VERSION}.dsc"
    if file.exists():
        return file
    for path in (packages, lists / "partial", cache / "archives" / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    sources = folder / "apt" / "trixie.sources"
    sources.write_text(
        f"Types: deb-src\nURIs: {mirror()}\nSuites: trixie\nComponents: main\n"
        f"Signed-By: {KEYRING}\n"
    )
    apt = (
        "apt-get",
        *("--option", f"Dir::Etc::sourcelist={sources}", "--option", "Dir::Etc::sourceparts=-"),
        *("--option", f"Dir::State::lists={lists}", "--option", f"Dir::Cache={cache}"),
    )
    _call(*apt, "--quiet", "update")
    _call(*apt, "--quiet", "source", "--download-only", f"pytorch={VERSION}", folder=packages)
    return file


def edit(tree: Path) -> None:
    """Makes the unpacked source build with Debian 12's libraries."""
    texts = {path: (tree / path).read_text() for path in {each.path for each in EDITS}}
    for each in EDITS:
        each.apply(texts)
    for path, text in texts.items():
        (tree / path).write_text(text)
    generated = (tree / BYTECODE).parent
    _call("flatc", "--cpp", "--gen-mutable", "--scoped-enums", "-o", generated, tree / BYTECODE)
    shutil.rmtree(tree / ".pc")  # what undoes Debian's patches


def commit(tree: Path, bare: Path) -> None:
    """The source as the only commit of a new bare repository's branch main."""
    repository.git(bare, "init", "--quiet", "--bare", "--initial-branch=main")
    repository.git(bare, "--work-tree", str(tree), "add", "--all", "--force", "--", ":/")
    written = repository.git(bare, "write-tree").strip()
    when = f"{AUTHOR} {ROOT_TIME} +0000"
    stream = (
        f"commit refs/heads/main\nauthor {when}\ncommitter {when}\n"
        f'data {len(SUBJECT)}\n{SUBJECT}\nM 040000 {written} ""\n'
    )
    repository.git(bare, "fast-import", "--quiet", stdin=stream.encode())


def make(folder: Path) -> Path:
    """The repository of the source below folder; instant if it is there. What a killed call left is
    made anew."""
    bare = folder / "base.git"
    if bare.exists():
        return bare
    install_packages()
    tree, partial = folder / "tree", folder / "base.git.partial"
    for path in (tree, partial):
        shutil.rmtree(path, ignore_errors=True)
    _call("dpkg-source", "--no-copy", "--extract", download(folder), tree)
    edit(tree)
    commit(tree, partial)
    shutil.rmtree(tree)
    partial.rename(bare)
    return bare
