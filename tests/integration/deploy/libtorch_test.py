import unittest
import zipfile

from support import DEPLOY, ScriptTest, write_program

VERSION_PY = "__version__ = '2.13.0+cpu'\ncuda = None\ngit_version = 'cf30153c4c131c8164ee7798e5022d810682e2cb'\n"
MEMBERS = {
    "torch/version.py": VERSION_PY,
    "torch/lib/libtorch_cpu.so": "the library",
    "torch/lib/libtorch.so": "the stub",
    "torch/lib/libtorch_python.so": "not for C++",
    "torch/include/ATen/ATen.h": "// header",
    "torch/nn/modules/linear.py": "# Python",
    "torch-2.13.0+cpu.dist-info/RECORD": "",
}

# Stands in for pip: `download ... --dest FOLDER ... REQUIREMENT...` copies the wheels prepared for
# each requirement's name and notes what was asked.
PIP = """
import os, shutil, sys
if sys.argv[1] == "--version":
    sys.exit(0)
index, dest = os.environ["TEST_INDEX"], sys.argv[sys.argv.index("--dest") + 1]
requirements = sys.argv[sys.argv.index(dest) + 1:]
open(os.path.join(index, "asked"), "a").write(" ".join(requirements) + "\\n")
for requirement in requirements:
    name = requirement.split("=")[0].split(">")[0]
    found = [file for file in os.listdir(index) if file.startswith(name.replace("-", "_") + "-")]
    if not found:
        sys.exit(f"ERROR: No matching distribution found for {requirement}")
    shutil.copy(os.path.join(index, found[0]), dest)
"""


class LibTorch(ScriptTest):
    def setUp(self):
        super().setUp()
        self.index = self.folder / "index"
        (self.folder / "python" / "pip").mkdir(parents=True)
        self.index.mkdir()
        (self.folder / "python" / "pip" / "__init__.py").touch()
        write_program(self.folder / "python" / "pip" / "__main__.py", PIP)
        self.target = self.folder / "deps" / "libtorch"

    def publish(self, members, name="torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl"):
        with zipfile.ZipFile(self.index / name, "w") as wheel:
            for path, content in members.items():
                wheel.writestr(path, content)

    def fetch(self, *arguments):
        return self.run_script("python3", DEPLOY / "libtorch", "--into", self.target, *arguments,
                               PYTHONPATH=str(self.folder / "python"), TEST_INDEX=str(self.index))

    def asked(self):
        return (self.index / "asked").read_text().splitlines()

    def test_the_tree_has_what_a_cpp_program_needs_and_says_where_it_comes_from(self):
        self.publish(MEMBERS)
        done = self.fetch()
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(str(path.relative_to(self.target)) for path in self.target.rglob("*") if path.is_file())
        self.assertEqual(files, ["build-hash", "build-version", "include/ATen/ATen.h", "lib/libtorch.so",
                                 "lib/libtorch_cpu.so"])
        self.assertEqual((self.target / "build-version").read_text(), "2.13.0+cpu\n")
        self.assertEqual((self.target / "build-hash").read_text(), "cf30153c4c131c8164ee7798e5022d810682e2cb\n")

    def test_a_second_call_asks_nobody(self):
        self.publish(MEMBERS)
        self.fetch()
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(self.asked(), ["torch==2.13.0"])

    def test_nothing_but_the_tree_stays_behind(self):
        self.publish(MEMBERS)
        self.fetch()
        self.assertEqual(sorted(path.name for path in self.target.parent.iterdir()), ["libtorch", "libtorch.lock"])

    def test_an_ordinary_wheel_gets_the_two_small_cuda_libraries_beside_its_own(self):
        self.publish({**MEMBERS, "torch/lib/libtorch_cpu.so": "needs libcudart.so.13 ",
                      "torch/lib/libtorch_cuda.so": "a gigabyte"}, "torch-2.13.0-cp311-cp311-linux_x86_64.whl")
        self.publish({"nvidia/cu13/lib/libcudart.so.13": "runtime", "nvidia/cu13/include/a.h": ""},
                     "nvidia_cuda_runtime-13.0.96-py3-none-linux_x86_64.whl")
        self.publish({"nvidia/cu13/lib/libcupti.so.13": "cupti", "nvidia/cu13/lib/libcheckpoint.so": ""},
                     "nvidia_cuda_cupti-13.0.85-py3-none-linux_x86_64.whl")
        done = self.fetch()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(path.name for path in (self.target / "lib").iterdir()),
                         ["libcudart.so.13", "libcupti.so.13", "libtorch.so", "libtorch_cpu.so"])

    def test_a_path_out_of_the_folder_refuses_the_whole_wheel(self):
        for path in ("torch/lib/../../../../outside", "/outside", "torch\\lib\\outside"):
            self.publish({**MEMBERS, path: "evil"})
            done = self.fetch()
            self.assertEqual(done.returncode, 1)
            self.assertIn("hostile or damaged", done.stderr)
            self.assertFalse(self.target.exists())
            self.assertFalse((self.folder / "outside").exists())

    def test_a_link_in_the_wheel_refuses_it(self):
        self.publish(MEMBERS)
        with zipfile.ZipFile(next(self.index.glob("*.whl")), "a") as wheel:
            link = zipfile.ZipInfo("torch/lib/libc10.so")
            link.external_attr = 0o120777 << 16
            wheel.writestr(link, "/etc/passwd")
        self.assertIn("hostile or damaged", self.fetch().stderr)
        self.assertFalse(self.target.exists())

    def test_a_wheel_cut_off_never_becomes_a_tree_and_the_next_call_starts_afresh(self):
        self.publish(MEMBERS)
        wheel = next(self.index.glob("*.whl"))
        whole = wheel.read_bytes()
        wheel.write_bytes(whole[: len(whole) // 2])
        done = self.fetch()
        self.assertIn("damaged", done.stderr)
        self.assertFalse(self.target.exists())
        wheel.write_bytes(whole)
        self.assertEqual(self.fetch().returncode, 0)

    def test_a_content_that_was_changed_never_becomes_a_tree(self):
        self.publish(MEMBERS)
        wheel = next(self.index.glob("*.whl"))
        wheel.write_bytes(wheel.read_bytes().replace(b"the library", b"the lubrary"))
        self.assertIn("damaged", self.fetch().stderr)
        self.assertFalse(self.target.exists())

    def test_what_a_killed_call_left_behind_is_replaced(self):
        self.publish(MEMBERS)
        partial = self.target.with_name("libtorch.partial")
        (partial / "lib").mkdir(parents=True)
        (partial / "lib" / "stray.so").touch()
        self.assertEqual(self.fetch().returncode, 0)
        self.assertFalse((self.target / "lib" / "stray.so").exists())

    def test_another_version_in_the_folder_is_not_overwritten(self):
        self.publish(MEMBERS)
        self.fetch()
        done = self.fetch("--version", "2.12.1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds LibTorch 2.13.0+cpu, not 2.12.1", done.stderr)

    def test_a_version_that_the_index_lacks_names_the_command_to_look_with(self):
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn("pip could not fetch torch==2.13.0", done.stderr)
        self.assertIn("python3 -m pip download --no-deps 'torch==2.13.0'", done.stderr)

    def test_a_python_without_pip_is_told_what_to_install(self):
        write_program(self.folder / "python" / "pip" / "__main__.py", "raise SystemExit(1)\n")
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no pip", done.stderr)
        self.assertIn("deploy/prerequisites", done.stderr)

    def test_a_wheel_that_is_not_pytorchs_is_refused(self):
        self.publish({**MEMBERS, "torch/version.py": "__version__ = 'x'\n"})
        self.assertIn("names no version and commit", self.fetch().stderr)
        self.assertFalse(self.target.exists())


if __name__ == "__main__":
    unittest.main()
