"""deploy/aot_inductor with a stand-in of a few lines for a build's Python part."""

import json
import subprocess
import unittest
from pathlib import Path
from typing import Any

from support import DEPLOY, ScriptTest

TORCH = """\
import pathlib
from . import jit
threads = None
def set_num_threads(count):
    global threads
    threads = count
def load(path):
    return tuple(pathlib.Path(path).read_text().split())
"""
JIT = "import pathlib\ndef load(path):\n    return pathlib.Path(path).read_text()\n"
CONVERTER = """\
class Dim:
    AUTO = "any size"
    STATIC = "that size"
class TS2EPConverter:
    def __init__(self, graph, inputs):
        self.program = graph, inputs
    def convert(self):
        return self.program if Dim.AUTO == "that size" else None
"""
INDUCTOR = """\
import pathlib
import torch
def aoti_compile_and_package(program, package_path):
    graph, inputs = program
    {ACT}
    pathlib.Path(package_path).write_text(f"{graph} of {inputs}, {torch.threads} threads")
"""
# Takes 64 MiB and keeps them until the script, which looks every now and then, has seen it.
HOLDS = """\
import threading
    watch = next(thread for thread in threading.enumerate() if hasattr(thread, "peak"))
    held = b"x" * (64 << 20)
    while watch.peak < watch.level + len(held):
        pass
"""


class Package(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.tree = self.folder / "2.13.0"
        self.work = self.folder / "work"
        self.work.mkdir()
        (self.work / "graph.pt").write_text("graph")
        (self.work / "inputs.pt").write_text("a b")
        for path, text in {
            "__init__.py": TORCH,
            "jit.py": JIT,
            "_export/__init__.py": "",
            "_export/converter.py": CONVERTER,
            "_inductor/__init__.py": "",
        }.items():
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / path).write_text(text)
        self.compiler("pass")

    def compiler(self, act: str) -> None:
        (self.tree / "_inductor" / "__init__.py").write_text(INDUCTOR.replace("{ACT}", act))

    def make(self) -> subprocess.CompletedProcess[str]:
        return self.run_script(DEPLOY / "aot_inductor", self.tree, self.work, OMP_NUM_THREADS="2")

    def answer(self) -> dict[str, Any]:
        done = self.make()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer: dict[str, Any] = json.loads((self.work / "package.json").read_text())
        return answer

    def refusal(self) -> str:
        answer = self.answer()
        self.assertEqual(answer["status"], "unsupported")
        return str(answer["reason"])

    def test_the_build_s_own_compiler_makes_the_package(self) -> None:
        answer = self.answer()
        self.assertEqual((answer["status"], answer["reason"]), ("ok", ""))
        self.assertGreater(answer["compile_time"], 0)
        made = (self.work / "package.pt2").read_text()
        self.assertEqual(made, "graph of ('a', 'b'), 2 threads")

    def test_what_the_compiler_holds_is_in_its_peak(self) -> None:
        self.compiler(HOLDS)
        self.assertGreaterEqual(self.answer()["compile_peak"], 64 << 20)

    def test_packages_of_the_build_are_found(self) -> None:
        (self.tree / "python").mkdir()
        (self.tree / "python" / "sympy.py").write_text("NAME = 'own'\n")
        self.compiler("import sympy; graph += sympy.NAME")
        self.assertEqual(self.answer()["status"], "ok")
        self.assertIn("graphown", (self.work / "package.pt2").read_text())

    def test_what_the_compiler_refuses_is_a_reason_of_one_line(self) -> None:
        self.compiler("raise NotImplementedError('no lowering of aten::lstm\\nat frame 0')")
        self.assertEqual(
            self.refusal(),
            "AOTInductor cannot take it: NotImplementedError: no lowering of aten::lstm",
        )

    def test_a_build_without_what_is_needed_says_so_and_may_get_it(self) -> None:
        (self.tree / "_export" / "converter.py").write_text("import no_such_package\n")
        self.assertRegex(
            self.refusal(), r"cannot be imported by Python 3\.\d+: .*'no_such_package'"
        )
        self.assertIs(self.answer()["keep"], False)
        (self.tree / "_export" / "converter.py").write_text("def\n")
        self.assertIn("SyntaxError: invalid syntax", self.refusal())
        (self.tree / "__init__.py").unlink()
        self.assertIn("has no Python part", self.refusal())
        self.assertIs(self.answer()["keep"], False)

    def test_packages_beside_a_pip_environment_s_torch_are_found(self) -> None:
        self.tree = self.tree.rename(self.folder / "torch")
        (self.folder / "sympy.py").write_text("NAME = 'beside'\n")
        self.compiler("import sympy; graph += sympy.NAME")
        self.answer()
        self.assertIn("graphbeside", (self.work / "package.pt2").read_text())

    def test_the_peak_is_that_of_the_compilers_as_well(self) -> None:
        child = "x = bytearray(200 << 20); import time; time.sleep(1)"
        self.compiler(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])")
        self.assertGreater(self.answer()["compile_peak"], 190 << 20)

    def test_the_peak_does_not_count_this_process_again_for_a_small_child(self) -> None:
        (self.tree / "__init__.py").write_text(TORCH + "held = bytearray(200 << 20)\n")
        self.compiler("import subprocess; subprocess.run(['/bin/sleep', '1'])")
        self.assertLess(self.answer()["compile_peak"], 50 << 20)

    def test_a_fault_of_the_machine_is_not_answered(self) -> None:
        compiler = "type('InvalidCxxCompiler', (RuntimeError,), {})('No working C++ compiler')"
        killed = "RuntimeError('C++ compile error: g++: fatal error: Killed signal terminated "
        killed += "program cc1plus')"
        for fault, status in (
            ("OSError(28, 'No space left on device')", 1),
            (compiler, 1),
            ("MemoryError()", 3),
            (killed, 3),
        ):
            with self.subTest(fault):
                self.compiler(f"raise {fault}")
                done = self.make()
                self.assertEqual(done.returncode, status)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertFalse((self.work / "package.json").exists())

    def test_wrong_usage(self) -> None:
        done = self.run_script(DEPLOY / "aot_inductor", self.tree)
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage: aot_inductor TREE FOLDER", done.stderr)
        self.assertEqual(list(Path(self.work).glob("package*")), [])


if __name__ == "__main__":
    unittest.main()
