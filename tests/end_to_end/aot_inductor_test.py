"""What the AOTInductor of a real LibTorch makes of workloads, beside eager mode."""

import json
import os
import shutil
import sqlite3
import subprocess
import unittest
from pathlib import Path
from typing import Any

from command import CHECKOUT, LIBTORCH, CommandTest

WORKLOADS = ("nvidia_deeprecommender", "soft_actor_critic")
DECIDED = {"unchanged", "regressed", "improved", "inconclusive"}

# Kernels that take several times as long, each in the place of LibTorch's own.
RELU = """\
#include <ATen/core/Tensor.h>
#include <ATen/ops/relu_cpu_dispatch.h>
#include <torch/library.h>

namespace overlay {
at::Tensor relu(const at::Tensor& self) {
  for (int i = 0; i < 30; ++i) at::cpu::relu(self);
  return at::cpu::relu(self);
}
at::Tensor& relu_(at::Tensor& self) {
  for (int i = 0; i < 30; ++i) at::cpu::relu(self);
  return at::cpu::relu_(self);
}
} // namespace overlay

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("relu", overlay::relu);
  m.impl("relu_", overlay::relu_);
}
"""
CONVOLUTION = """\
#include <ATen/core/Tensor.h>
#include <ATen/ops/mkldnn_convolution_compositeexplicitautograd_dispatch.h>
#include <torch/library.h>

#include <optional>

namespace overlay {
at::Tensor convolution(const at::Tensor& self, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, c10::SymIntArrayRef padding,
                       c10::SymIntArrayRef stride, c10::SymIntArrayRef dilation,
                       c10::SymInt groups) {
  using at::compositeexplicitautograd::mkldnn_convolution_symint;
  mkldnn_convolution_symint(self, weight, bias, padding, stride, dilation, groups);
  return mkldnn_convolution_symint(self, weight, bias, padding, stride, dilation, groups);
}
} // namespace overlay

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("mkldnn_convolution", overlay::convolution);
}
"""


class PythonTreeTest(CommandTest):
    """A test with a LibTorch that has its Python part."""

    def setUp(self) -> None:
        super().setUp()
        self.configure('[suite]\npreset = "small"\nconfigurations = ["cpu-infer"]\n')
        self.tree = self.folder / "torch"
        subprocess.run(
            [CHECKOUT / "deploy" / "libtorch", "--python", "--into", self.tree], check=True
        )


@unittest.skipUnless(LIBTORCH, "configured without LibTorch")
class Packages(PythonTreeTest):
    def compare(self) -> dict[tuple[str, str], Any]:
        done = self.run_command(
            "compare",
            str(self.tree),
            *("--between", "backend=eager", "--and", "backend=aot_inductor", "--json"),
            *(f"--workload={workload}" for workload in WORKLOADS),
        )
        self.assertIn(done.returncode, (0, 1, 4), done.stderr)
        self.said = done.stderr
        document = json.loads(done.stdout)
        self.assertEqual((document["purpose"], document["state"]), ("study", "reported"))
        return {
            (verdict["workload"], verdict["metric"]): verdict for verdict in document["verdicts"]
        }

    def test_a_package_is_made_once_and_measured(self) -> None:
        verdicts = self.compare()
        for metric in ("time", "cpu_peak_resident", "leak_growth"):
            verdict = verdicts["nvidia_deeprecommender", metric]
            self.assertIn(verdict["verdict"], DECIDED, verdict["reason"])
        refused = {
            verdict["reason"]
            for (workload, _), verdict in verdicts.items()
            if workload == "soft_actor_critic"
        }
        self.assertEqual(len(refused), 1)
        self.assertIn("which a trace would freeze", refused.pop())
        self.assertIn("compiling nvidia_deeprecommender cpu-infer", self.said)

        database = sqlite3.connect(self.folder / "state" / "torchwatch.sqlite")
        self.addCleanup(database.close)
        stated = dict(
            database.execute(
                "SELECT metric, min(value) FROM value WHERE metric IN "
                "('compile_time', 'compile_peak', 'package_size') GROUP BY metric"
            )
        )
        self.assertEqual(set(stated), {"compile_time", "compile_peak", "package_size"})
        self.assertGreater(min(stated.values()), 0)

        self.compare()
        self.assertNotIn("compiling", self.said)


@unittest.skipUnless(LIBTORCH, "configured without LibTorch")
class PlantedKernels(PythonTreeTest):
    WORKLOAD = "squeezenet1_1"

    def planted(self, name: str, kernel: str) -> Path:
        """The tree with one kernel replaced."""
        source = self.folder / f"{name}-source"
        native = source / "aten" / "src" / "ATen" / "native"
        native.mkdir(parents=True)
        (native / f"{name}.cpp").write_text(kernel)
        overlay = self.folder / f"{name}-overlay"
        overlay.mkdir()
        recipe = {"SOURCE": source, "COMMIT": 40 * "0", "PREFIX": overlay, "BASE": self.tree}
        subprocess.run(
            [CHECKOUT / "deploy" / "recipes" / "overlay"],
            env=os.environ | {f"TORCHWATCH_{key}": str(value) for key, value in recipe.items()},
            check=True,
        )
        tree = self.folder / name / "torch"
        shutil.copytree(self.tree, tree, symlinks=True, copy_function=os.link)
        library = tree / "lib" / "libtorch.so"
        library.unlink()
        shutil.copy(overlay / "lib" / "libtorch.so", library)
        return tree

    def verdict(self, tree: Path, backend: str) -> str:
        done = self.run_command(
            *("compare", str(self.tree), str(tree), "--variant", backend),
            *("--workload", self.WORKLOAD, "--metric", "time", "--json"),
        )
        verdicts = json.loads(done.stdout)["verdicts"]
        self.assertEqual(len(verdicts), 1, done.stderr)
        verdict = verdicts[0]["verdict"]
        self.assertEqual(done.returncode, 1 if verdict == "regressed" else 0, verdicts)
        return str(verdict)

    def test_a_kernel_that_the_compiler_fuses_away_is_not_blamed_and_one_that_it_calls_is(
        self,
    ) -> None:
        relu, convolution = (
            self.planted(name, kernel)
            for name, kernel in (("relu", RELU), ("convolution", CONVOLUTION))
        )
        self.assertEqual(self.verdict(relu, "default"), "regressed")
        self.assertEqual(self.verdict(convolution, "default"), "regressed")
        self.assertEqual(self.verdict(relu, "aot_inductor"), "unchanged")
        self.assertEqual(self.verdict(convolution, "aot_inductor"), "regressed")


if __name__ == "__main__":
    unittest.main()
