"""The recipe pytorch-cuda with the real cmake, ninja and nvcc, where there is one: a small project
takes PyTorch's place."""

import shutil
import subprocess
import unittest

from pytorch_recipe import PyTorchRecipe

PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(part LANGUAGES CXX)
if(NOT USE_CUDA OR USE_NCCL OR BUILD_PYTHON)
  message(FATAL_ERROR "not what a build for GPUs is configured with")
endif()
# As PyTorch does: the list's form is "8.0;9.0+PTX".
string(REPLACE "." "" CMAKE_CUDA_ARCHITECTURES "${TORCH_CUDA_ARCH_LIST}")
list(TRANSFORM CMAKE_CUDA_ARCHITECTURES APPEND "-real")
enable_language(CUDA)
add_library(torch_cuda SHARED add.cu sum.cu)
install(TARGETS torch_cuda DESTINATION lib)
"""
KERNEL = """
#include "kernels.cuh"
__global__ void NAME(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = twice(x[i]);
}
void call_NAME(float* x, int n) { NAME<<<(n + 255) / 256, 256>>>(x, n); }
"""
FILES = {
    "version.txt": "2.15.0a0\n",
    "CMakeLists.txt": PROJECT,
    "kernels.cuh": "template <typename T> __device__ T twice(T x) { return x + x; }\n",
    **{f"{name}.cu": KERNEL.replace("NAME", name) for name in ("add", "sum")},
}


def why_not() -> str:
    """Why no kernel can be compiled here; empty where one can."""
    missing = [tool for tool in ("nvcc", "cmake", "ninja") if not shutil.which(tool)]
    return f"{missing[0]} is not installed" if missing else ""


class Cuda(PyTorchRecipe):
    def setUp(self) -> None:
        if why_not():
            self.skipTest(why_not())
        super().setUp()
        for tool in ("cmake", "ninja"):
            (self.bin / tool).unlink()
        for name, text in FILES.items():
            (self.clone / name).write_text(text)
        self.commit_all()

    def commit_all(self) -> None:
        self.git(self.clone, "add", ".")
        self.git(self.clone, "commit", "--quiet", "--message", "Change")
        self.commit = self.git(self.clone, "rev-parse", "HEAD").strip()

    def build_for_gpus(
        self, name: str, gpus: str = "9.0", **more: object
    ) -> subprocess.CompletedProcess[str]:
        cache = self.folder / "ccache"
        return self.build(
            name, "pytorch-cuda", TORCHWATCH_PYTORCH_CUDA=gpus, CCACHE_DIR=cache, **more
        )

    def test_kernels_are_compiled_for_the_gpus_that_are_named(self) -> None:
        done = self.build_for_gpus("first", "8.0;9.0")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        library = self.prefix / "lib" / "libtorch_cuda.so"
        code = library.read_bytes()
        for name in ("add", "sum"):
            self.assertIn(f"call_{name}".encode(), code)
        compiled = (self.work / "0" / "build" / "build.ninja").read_text()
        for capability in ("80", "90"):
            self.assertIn(f"sm_{capability}", compiled)
        self.assertEqual((self.prefix / "build-hash").read_text(), f"{self.commit}\n")

    def test_a_kernel_that_does_not_compile_and_a_compiler_that_is_killed_differ(self) -> None:
        kernel = self.clone / "sum.cu"
        kernel.write_text(kernel.read_text().replace("twice(x[i])", "thrice(x[i])"))
        self.commit_all()
        done = self.build_for_gpus("broken")
        self.assertEqual(done.returncode, 125, done.stdout + done.stderr)
        self.assertIn("thrice", done.stdout)
        kernel.write_text(FILES["sum.cu"])
        self.stand_in("g++", '[[ "$*" != *sum.cu* ]] || kill -KILL $$\nexec /usr/bin/g++ "$@"\n')
        project = PROJECT.replace(
            "enable_language", 'set(CMAKE_CUDA_HOST_COMPILER "$ENV{HOST}")\nenable_language'
        )
        (self.clone / "CMakeLists.txt").write_text(project)
        self.commit_all()
        done = self.build_for_gpus("killed", HOST=self.bin / "g++")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"died due to signal 9|\bKilled\b")


if __name__ == "__main__":
    unittest.main()
