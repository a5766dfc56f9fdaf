"""deploy/libtorch --cuda: everything of CUDA that a wheel requires, from an index on loopback."""

import errno
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import CHECKOUT, DEPLOY

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))
sys.path.insert(0, str(DEPLOY / "fetching"))

from cuda_libraries import put
from wheel_index import Index, Members, Served, library, record_of, torch_members

LINUX = 'platform_system == "Linux"'
REQUIRES = (
    "Requires-Dist: filelock",
    f"Requires-Dist: cuda-toolkit[cublas,cudart,cupti,cusolver]==13.0.1; {LINUX}",
    f"Requires-Dist: nvidia-cudnn-cu13==9.1.0; {LINUX}",
    'Requires-Dist: nvidia-of-windows==1; platform_system == "Windows"',
    'Requires-Dist: nvidia-of-an-extra==1; extra == "all"',
    f"Requires-Dist: triton~=3.9; {LINUX}",
)
# The package of each part of cuda-toolkit, its version, and its libraries with what they need.
TOOLKIT: dict[str, tuple[str, str, dict[str, tuple[str, ...]]]] = {
    "cudart": ("nvidia-cuda-runtime", "13.0.96", {"libcudart.so.13": ()}),
    "cupti": ("nvidia-cuda-cupti", "13.0.85", {"libcupti.so.13": ()}),
    "cublas": (
        "nvidia-cublas",
        "13.1.0",
        {"libcublas.so.13": ("libcublasLt.so.13",), "libcublasLt.so.13": ()},
    ),
    "cusolver": (
        "nvidia-cusolver",
        "12.0.4",
        {"libcusolver.so.12": ("libcublas.so.13", "libnvJitLink.so.13")},
    ),
}
GPU_PART = {
    "libc10_cuda.so": ("libc10.so", "libcudart.so.13"),
    "libtorch_cuda.so": (
        "libc10_cuda.so",
        "libtorch_cpu.so",
        "libcudart.so.13",
        "libcublas.so.13",
        "libcudnn.so.9",
    ),
    "libtorch_cuda_linalg.so": ("libtorch_cuda.so", "libcusolver.so.12"),
    "libcaffe2_nvrtc.so": ("libcuda.so.1",),
}


def cuda_torch(version: str) -> Members:
    part = {f"torch/lib/{name}": library(name, *needs) for name, needs in GPU_PART.items()}
    return torch_members(version) | part


def nvidia(folder: str, libraries: dict[str, tuple[str, ...]]) -> Members:
    return {
        f"nvidia/{folder}/lib/{name}": library(name, *needs) for name, needs in libraries.items()
    } | {f"nvidia/{folder}/include/a.h": b"// not a library\n"}


class CudaTree(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.cache = Path(holder.name)
        self.index = Index()
        self.addCleanup(self.index.close)
        self.add_torch("1.2.3")
        self.add_toolkit()
        self.add_cudnn("9.1.0")

    def add_torch(self, version: str, requires: tuple[str, ...] = REQUIRES) -> None:
        self.index.add("torch", version, cuda_torch(f"{version}+cu130"), requires=requires)

    def add_toolkit(self) -> None:
        lines = []
        for extra, (package, version, libraries) in TOOLKIT.items():
            minor = version.rpartition(".")[0]
            wanted = f"{package}=={minor}.*; sys_platform == 'linux' and extra == '{extra}'"
            lines += [f"Provides-Extra: {extra}", f"Requires-Dist: {wanted}"]
            self.index.add(package.replace("-", "_"), version, nvidia("cu13", libraries))
        requires_linker = ["Requires-Dist: nvidia-nvjitlink"]
        self.index.serve("nvidia_cusolver", "12.0.4", {})
        members = nvidia("cu13", TOOLKIT["cusolver"][2])
        self.index.add("nvidia_cusolver", "12.0.4", members, requires=requires_linker)
        linker = nvidia("cu13", {"libnvJitLink.so.13": ()})
        self.index.add("nvidia_nvjitlink", "13.0.5", linker)
        self.index.add("cuda_toolkit", "13.0.1", {"cuda/a.py": b""}, requires=lines)

    def add_cudnn(self, version: str) -> None:
        libraries: dict[str, tuple[str, ...]] = {"libcudnn.so.9": ("libcublas.so.13",)}
        members = nvidia("cudnn", libraries)
        members["nvidia/cudnn/lib/libcudnn.so.9"] += version.encode()  # behind the end of the ELF
        requires = ["Requires-Dist: nvidia-cublas"]
        self.index.add("nvidia_cudnn_cu13", version, members, requires=requires)

    def tree(self, version: str = "1.2.3") -> Path:
        return self.cache / f"{version}-cuda" / "torch"

    def fetch(self, version: str = "1.2.3", **variables: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-I", str(DEPLOY / "libtorch")]
        options = ["--version", version, "--exact", "--cuda", "--shared-with", str(self.cache)]
        return subprocess.run(
            [*program, *options, "--into", str(self.tree(version))],
            env=self.index.environment() | variables,
            check=False,
            text=True,
            capture_output=True,
        )

    def check_fetched(self, version: str = "1.2.3") -> Path:
        done = self.fetch(version)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_loads(self.tree(version))
        return self.tree(version) / "lib"

    def check_fails(self, status: int, *words: str, **variables: str) -> None:
        done = self.fetch(**variables)
        self.assertEqual(done.returncode, status, done.stderr)
        said = done.stderr[done.stderr.rindex("error: ") :]
        for word in words:
            self.assertIn(word, said)
        self.assertFalse(self.tree().exists())

    def check_loads(self, tree: Path) -> None:
        """Lets the loader load the part for GPUs, in a child without LD_LIBRARY_PATH."""
        plain = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        load = "import ctypes, sys; [ctypes.CDLL(path) for path in sys.argv[1:]]"
        wanted = [str(tree / "lib" / name) for name in ("libtorch.so", "libtorch_cuda_linalg.so")]
        done = subprocess.run(
            [sys.executable, "-I", "-c", load, *wanted],
            env=plain | {"LD_BIND_NOW": "1"},
            check=False,
            text=True,
            capture_output=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def downloaded(self) -> list[str]:
        names = sorted({file.split("-")[0] for file in self.index.downloaded})
        self.index.downloaded.clear()
        return names

    def test_everything_that_the_part_for_gpus_needs_comes_and_is_found_by_the_loader(self) -> None:
        lib = self.check_fetched()
        brought = {name for _, _, libraries in TOOLKIT.values() for name in libraries}
        brought |= {"libcudnn.so.9", "libnvJitLink.so.13"}
        self.assertLessEqual(brought, {file.name for file in lib.iterdir()})
        self.assertEqual(
            sorted(path.name for path in self.tree().iterdir()),
            ["build-hash", "build-version", "cuda-libraries", "include", "lib"],
        )
        self.assertEqual(
            self.downloaded(),
            [
                "cuda_toolkit",
                "nvidia_cublas",
                "nvidia_cuda_cupti",
                "nvidia_cuda_runtime",
                "nvidia_cudnn_cu13",
                "nvidia_cusolver",
                "nvidia_nvjitlink",
                "torch",
            ],
        )

    @unittest.skipIf(
        shutil.which("nvidia-smi") or Path("/proc/driver/nvidia").exists(), "there is a driver"
    )
    def test_a_machine_without_the_driver_is_told_so_and_gets_the_tree(self) -> None:
        done = self.fetch()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("this machine has no libcuda.so.1, the GPU's driver", done.stdout)

    def test_a_build_that_requires_the_same_shares_all_of_it_and_fetches_none(self) -> None:
        first = self.check_fetched()
        self.add_torch("1.2.4")
        self.downloaded()
        self.index.add("nvidia_nvjitlink", "13.9.0", {})  # is not asked for
        second = self.check_fetched("1.2.4")
        self.assertEqual(self.downloaded(), ["torch"])
        for name in ("libcublas.so.13", "libcudnn.so.9", "libnvJitLink.so.13"):
            self.assertTrue((first / name).samefile(second / name), name)
        self.assertFalse((first / "libtorch_cuda.so").samefile(second / "libtorch_cuda.so"))

    def test_of_a_build_that_requires_something_else_what_is_equal_is_shared(self) -> None:
        first = self.check_fetched()
        self.add_torch("1.2.4", tuple(line.replace("9.1.0", "9.2.0") for line in REQUIRES))
        self.add_cudnn("9.2.0")
        second = self.check_fetched("1.2.4")
        self.assertTrue((first / "libcublas.so.13").samefile(second / "libcublas.so.13"))
        self.assertFalse((first / "libcudnn.so.9").samefile(second / "libcudnn.so.9"))
        self.assertTrue((second / "libcudnn.so.9").read_bytes().endswith(b"9.2.0"))

    def test_what_is_shared_stays_when_the_tree_that_had_it_first_goes(self) -> None:
        self.check_fetched()
        self.add_torch("1.2.4")
        second = self.check_fetched("1.2.4")
        shutil.rmtree(self.tree())
        self.check_loads(self.tree("1.2.4"))
        self.assertEqual((second / "libcublas.so.13").stat().st_nlink, 1)

    def test_a_library_that_was_damaged_in_a_tree_is_not_shared(self) -> None:
        first = self.check_fetched()
        whole = (first / "libcublas.so.13").read_bytes()
        (first / "libcublas.so.13").write_bytes(whole[:-1])
        (self.cache / "other").mkdir()
        (self.cache / "other" / "cuda-libraries").write_text("half wri")
        self.add_torch("1.2.4")
        second = self.check_fetched("1.2.4")
        self.assertEqual((second / "libcublas.so.13").read_bytes(), whole)
        self.assertTrue((first / "libcudnn.so.9").samefile(second / "libcudnn.so.9"))

    def test_a_library_on_another_file_system_is_copied_and_none_is_written_over(self) -> None:
        source, target = self.cache / "a.so", self.cache / "b.so"
        source.write_bytes(b"library")
        with mock.patch("os.link", side_effect=OSError(errno.EXDEV, "")):
            self.assertTrue(put(source, target))
            with self.assertRaises(FileExistsError):
                put(source, target)
        self.assertFalse(target.samefile(source))
        self.assertEqual(target.read_bytes(), b"library")
        self.assertFalse(put(source, target))
        self.assertFalse(put(self.cache / "gone.so", self.cache / "c.so"))

    def test_a_requirement_that_the_index_lacks_is_named(self) -> None:
        del self.index.wheels["nvidia_cudnn_cu13-9.1.0-py3-none-any.whl"]
        self.check_fails(3, "pip could not fetch nvidia-cudnn-cu13==9.1.0: ")
        self.add_cudnn("9.0.0")
        self.check_fails(3, "pip could not fetch nvidia-cudnn-cu13==9.1.0: ")

    def test_a_requirement_of_a_requirement_that_was_yanked_is_named(self) -> None:
        self.index.wheels["nvidia_cublas-13.1.0-py3-none-any.whl"].yanked = True
        self.check_fails(3, "pip could not fetch nvidia-cublas==13.1.*: ")

    def test_a_requirement_that_is_pinned_is_taken_although_it_was_yanked(self) -> None:
        self.index.wheels["nvidia_cudnn_cu13-9.1.0-py3-none-any.whl"].yanked = True
        self.check_fetched()

    def test_an_index_that_cannot_be_reached_lacks_no_requirement(self) -> None:
        nowhere = {"TORCHWATCH_INDEX": self.index.url, "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
        done = self.fetch("1.2.3+cu130", **nowhere)
        self.assertEqual(done.returncode, 3, done.stderr)  # of that index, which has 1.2.3
        self.index.add("torch", "1.2.3+cu130", cuda_torch("1.2.3+cu130"), requires=REQUIRES)
        del self.index.wheels["nvidia_cudnn_cu13-9.1.0-py3-none-any.whl"]
        done = self.fetch("1.2.3+cu130", **nowhere)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Is the package index reachable", done.stderr)

    def test_a_requirement_that_is_on_the_index_of_the_channel_alone_is_found_there(self) -> None:
        channel = Index()
        self.addCleanup(channel.close)
        torch = "1.2.3+cu130"
        channel.add("torch", torch, cuda_torch(torch), requires=REQUIRES)
        cudnn = "nvidia_cudnn_cu13-9.1.0-py3-none-any.whl"
        channel.wheels[cudnn] = self.index.wheels.pop(cudnn)
        channel.add("nvidia_cuda_cupti", "13.0.99", nvidia("cu13", {"libcupti.so.13": ()}))
        self.index.serve("torch", "1.2.3", {})
        done = self.fetch(torch, TORCHWATCH_INDEX=channel.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_loads(self.tree(torch))
        self.assertEqual(len([f for f in channel.downloaded if f.startswith("nvidia")]), 2)

    def add_source(self, package: str, version: str) -> Path:
        """Publishes a package's source, which leaves a mark where pip runs what is in it."""
        mark = self.cache / "was-run"
        text = f"open({str(mark)!r}, 'w')\n".encode()
        name = f"{package}-{version}"
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w:gz") as archive:
            about = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n".encode()
            for member, content in (("setup.py", text), ("PKG-INFO", about)):
                info = tarfile.TarInfo(f"{name}/{member}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        content = file.getvalue()
        digest = hashlib.sha256(content).hexdigest()
        self.index.wheels[f"{name}.tar.gz"] = Served(content, digest)
        return mark

    def test_pip_takes_wheels_alone_and_runs_nothing_of_a_source_that_is_newer(self) -> None:
        mark = self.add_source("nvidia_nvjitlink", "14.0.0")
        self.check_fetched()
        self.assertNotIn("nvidia_nvjitlink-14.0.0.tar.gz", self.index.downloaded)
        self.assertFalse(mark.exists())

    def test_a_requirement_that_is_there_as_source_alone_is_not_offered(self) -> None:
        del self.index.wheels["nvidia_nvjitlink-13.0.5-py3-none-any.whl"]
        mark = self.add_source("nvidia_nvjitlink", "14.0.0")
        self.check_fails(3, "pip could not fetch nvidia-nvjitlink")
        self.assertFalse(mark.exists())

    def test_a_damaged_wheel_of_a_requirement_is_named(self) -> None:
        cublas = self.index.wheels["nvidia_cublas-13.1.0-py3-none-any.whl"]
        honest, cublas.sha256 = cublas.sha256, "0" * 64
        # Not of torch's wheel, which would be refused for it.
        self.check_fails(1, "the wheel downloaded for nvidia-cublas==13.1.", "the hash")
        cublas.sha256 = honest
        self.check_fetched()

    def test_a_requirement_that_is_not_what_its_record_says_is_named(self) -> None:
        members = nvidia("cu13", TOOLKIT["cudart"][2])
        record = record_of(members | {"nvidia/cu13/include/a.h": b"// honest\n"})
        self.index.serve("nvidia_cuda_runtime", "13.0.96", members, record)
        self.check_fails(1, "nvidia_cuda_runtime-13.0.96", "is not what the wheel's RECORD says")
        self.index.serve("nvidia_cuda_runtime", "13.0.96", members)
        self.downloaded()
        self.check_fetched()
        self.assertEqual(self.downloaded(), ["nvidia_cuda_runtime"])

    def test_a_call_that_breaks_keeps_what_had_come_for_the_next(self) -> None:
        cudnn = self.index.wheels.pop("nvidia_cudnn_cu13-9.1.0-py3-none-any.whl")
        self.check_fails(3, "pip could not fetch nvidia-cudnn-cu13==9.1.0: ")
        self.assertIn("nvidia_cublas", self.downloaded())
        self.index.wheels["nvidia_cudnn_cu13-9.1.0-py3-none-any.whl"] = cudnn
        self.check_fetched()
        self.assertEqual(self.downloaded(), ["nvidia_cudnn_cu13", "nvidia_nvjitlink"])

    def test_what_an_earlier_call_chose_gives_way_to_what_is_newer(self) -> None:
        del self.index.wheels["nvidia_cudnn_cu13-9.1.0-py3-none-any.whl"]
        self.check_fails(3, "pip could not fetch nvidia-cudnn-cu13==9.1.0: ")
        runtime = nvidia("cu13", {"libcudart.so.13": ()})
        runtime["nvidia/cu13/lib/libcudart.so.13"] += b"newer"
        self.index.add("nvidia_cuda_runtime", "13.0.97", runtime)
        self.add_cudnn("9.1.0")
        lib = self.check_fetched()
        self.assertTrue((lib / "libcudart.so.13").read_bytes().endswith(b"newer"))

    def test_a_library_in_a_folder_of_its_own_comes_too(self) -> None:
        self.index.serve("nvidia_cudnn_cu13", "9.1.0", {})
        members = {"cudnn/lib/libcudnn.so.9": library("libcudnn.so.9", "libcublas.so.13")}
        self.index.add("nvidia_cudnn_cu13", "9.1.0", members)
        self.check_fetched()

    def test_a_library_that_no_requirement_brings_is_named(self) -> None:
        members = cuda_torch("1.2.3+cu130")
        members["torch/lib/libtorch_cuda.so"] = library("libtorch_cuda.so", "libnowhere.so.7")
        self.index.serve("torch", "1.2.3", {})
        self.index.add("torch", "1.2.3", members, requires=REQUIRES)
        self.check_fails(1, "libtorch_cuda.so needs libnowhere.so.7, which this machine lacks")

    def test_a_requirement_that_cannot_be_read_is_a_damaged_wheel(self) -> None:
        self.add_torch("1.2.3", ("Requires-Dist: nvidia-cudnn-cu13 at 9",))
        self.check_fails(
            4, "torch-1.2.3-py3-none-any.whl is damaged", TORCHWATCH_INDEX=self.index.url
        )

    def test_a_tree_without_cudas_libraries_is_not_taken_for_one_that_has_them(self) -> None:
        self.index.add("torch", "1.2.5+cpu", torch_members("1.2.5+cpu", ("libc10.so",)))
        self.assertEqual(self.fetch("1.2.5+cpu").returncode, 0)  # it requires none
        (self.tree("1.2.5+cpu") / "cuda-libraries").unlink()
        done = self.fetch("1.2.5+cpu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds LibTorch 1.2.5+cpu without CUDA's libraries: remove it", done.stderr)


if __name__ == "__main__":
    unittest.main()
