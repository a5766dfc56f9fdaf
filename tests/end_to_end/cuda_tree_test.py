"""A release of PyTorch with everything of CUDA that it requires, from the real package index: 3 GB
to fetch, 9 GB of disk. No GPU is needed; where there is one, the kit must find it."""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from command import CHECKOUT

VERSION = "2.13.0"
WORKLOAD = "mobilenet_v2"
GPU_PART = (
    "libtorch.so",
    "libtorch_cuda.so",
    "libtorch_cuda_linalg.so",
    "libc10_cuda.so",
    "libtorch_nvshmem.so",
)


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def run(*command: object, **variables: str) -> str:
    """What a program prints that is called without LD_LIBRARY_PATH."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run(
        [str(part) for part in command],
        env=environment | variables,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


class CudaTree(unittest.TestCase):
    cache: Path
    tree: Path
    first_fetch: str

    @classmethod
    def setUpClass(cls) -> None:
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.cache = Path(holder.name)
        cls.tree = cls.cache / "first" / "torch"
        cls.first_fetch = cls.fetch(cls.tree)

    @classmethod
    def fetch(cls, tree: Path) -> str:
        options = ("--version", VERSION, "--exact", "--cuda", "--shared-with", cls.cache)
        return run(sys.executable, CHECKOUT / "deploy" / "libtorch", *options, "--into", tree)

    def test_the_loader_finds_every_library_that_the_part_for_gpus_needs(self) -> None:
        for name in GPU_PART:
            if (self.tree / "lib" / name).exists():
                self.assertNotIn("not found", run("ldd", self.tree / "lib" / name), name)
        load = "import ctypes, sys; [ctypes.CDLL(path) for path in sys.argv[1:]]"
        libraries = [self.tree / "lib" / name for name in GPU_PART[:3]]
        run(sys.executable, "-I", "-c", load, *libraries, LD_BIND_NOW="1")
        said = "this machine has no libcuda.so.1, the GPU's driver"
        self.assertEqual(said in self.first_fetch, not has_driver())

    def test_a_second_build_shares_the_libraries_and_fetches_none(self) -> None:
        tree = self.cache / "second" / "torch"
        self.assertIn(f"CUDA libraries are those of {self.tree}", self.fetch(tree))
        brought = json.loads((tree / "cuda-libraries").read_text())["libraries"]
        self.assertGreater(len(brought), 10)
        for name in brought:
            self.assertTrue((tree / "lib" / name).samefile(self.tree / "lib" / name), name)

    def test_a_kit_links_the_part_for_gpus_runs_and_says_which_devices_there_are(self) -> None:
        kit = self.cache / "kit"
        run(
            *("cmake", "-S", CHECKOUT / "runner" / "kit", "-B", kit, "-G", "Ninja"),
            *(f"-DTORCHWATCH_LIBTORCH={self.tree}", f"-DTORCHWATCH_WORKLOADS={WORKLOAD}"),
        )
        run("ninja", "-C", kit, "torchwatch-runner")
        runner = kit / "torchwatch-runner"
        self.assertIn(f"=> {self.tree}/lib/", run("ldd", runner))
        self.assertIn("libtorch_cuda.so", run("ldd", runner))
        (row,) = json.loads(run(runner, "list", WORKLOAD, "--json"))["workloads"]
        self.assertGreater(row["params_trainable"], 1_000_000)
        self.check_devices(row["configurations"])

    def check_devices(self, configurations: list[dict[str, Any]]) -> None:
        for row in configurations:
            of_cpu = row["configuration"].startswith("cpu")
            self.assertEqual(row["supported"], of_cpu or has_driver(), row)
            if not row["supported"]:
                self.assertIn("finds no CUDA device here: no NVIDIA driver found", row["reason"])


if __name__ == "__main__":
    unittest.main()
