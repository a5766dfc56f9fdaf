import shutil
import subprocess
import sys
import types
import unittest
import zipfile
from collections.abc import Sequence
from unittest import mock

from support import CHECKOUT, DEPLOY, ScriptTest, write_program

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))
sys.path.insert(0, str(DEPLOY / "fetching"))

from torch_tree import torch_target
from wheel_file import RESERVE_BYTES, Damaged, Trouble, unpack
from wheel_index import Members, library, nvidia_members, record_of, wheel_of

VERSION_PY = (
    b"__version__ = '2.13.0+cpu'\ncuda = None\n"
    b"git_version = 'cf30153c4c131c8164ee7798e5022d810682e2cb'\n"
)
MEMBERS = {
    "torch/version.py": VERSION_PY,
    "torch/lib/libtorch_cpu.so": library("libtorch_cpu.so"),
    "torch/lib/libtorch.so": b"the stub",
    "torch/lib/libtorch_python.so": b"not for C++",
    "torch/include/ATen/ATen.h": b"// header",
    "torch/nn/modules/linear.py": b"# Python",
}
CPU_WHEEL = "torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl"

# Stands in for pip: `download ... --dest FOLDER ... REQUIREMENT...` copies the wheels prepared for
# each requirement's name and notes what was asked.
PIP = """
import os, shutil, sys
sys.argv = [word for word in sys.argv if word not in ("--disable-pip-version-check", "--no-input")]
if "--version" in sys.argv:
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
    def setUp(self) -> None:
        super().setUp()
        self.index = self.folder / "index"
        (self.folder / "python" / "pip").mkdir(parents=True)
        self.index.mkdir()
        (self.folder / "python" / "pip" / "__init__.py").touch()
        write_program(self.folder / "python" / "pip" / "__main__.py", PIP)
        self.target = self.folder / "deps" / "libtorch"

    def publish(
        self,
        members: Members,
        name: str = CPU_WHEEL,
        record: str | None = None,
        compression: int = zipfile.ZIP_DEFLATED,
    ) -> None:
        package, version = name.split("-")[:2]
        (self.index / name).write_bytes(wheel_of(package, version, members, record, compression))

    def fetch(
        self, *arguments: str, before: Sequence[str] = (), path: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        return self.run_script(
            *before,
            "python3",
            DEPLOY / "libtorch",
            "--into",
            self.target,
            *arguments,
            path=path,
            PYTHONPATH=str(self.folder / "python"),
            TEST_INDEX=str(self.index),
        )

    def left_over(self) -> list[str]:
        return sorted(path.name for path in self.target.parent.iterdir())

    def asked(self) -> list[str]:
        return (self.index / "asked").read_text().splitlines()

    def test_the_tree_has_what_a_cpp_program_needs_and_says_where_it_comes_from(self) -> None:
        self.publish(MEMBERS)
        done = self.fetch()
        self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(
            str(path.relative_to(self.target)) for path in self.target.rglob("*") if path.is_file()
        )
        self.assertEqual(
            files,
            [
                "build-hash",
                "build-version",
                "include/ATen/ATen.h",
                "lib/libtorch.so",
                "lib/libtorch_cpu.so",
            ],
        )
        self.assertEqual((self.target / "build-version").read_text(), "2.13.0+cpu\n")
        self.assertEqual(
            (self.target / "build-hash").read_text(), "cf30153c4c131c8164ee7798e5022d810682e2cb\n"
        )

    def test_a_second_call_asks_nobody(self) -> None:
        self.publish(MEMBERS)
        self.fetch()
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual(self.asked(), ["torch==2.13.0"])

    def test_nothing_but_the_tree_stays_behind(self) -> None:
        self.publish(MEMBERS)
        self.fetch()
        self.assertEqual(self.left_over(), ["libtorch", "libtorch.lock"])

    def test_an_ordinary_wheel_gets_the_two_small_cuda_libraries_beside_its_own(self) -> None:
        needs = library("libtorch_cpu.so", "libcudart.so.13", "libcupti.so.13")
        self.publish(
            {
                **MEMBERS,
                "torch/lib/libtorch_cpu.so": needs,
                "torch/lib/libtorch_cuda.so": b"a gigabyte",
            },
            "torch-2.13.0-cp311-cp311-linux_x86_64.whl",
        )
        self.publish(
            {**nvidia_members("libcudart.so.13"), "nvidia/cu13/include/a.h": b""},
            "nvidia_cuda_runtime-13.0.96-py3-none-linux_x86_64.whl",
        )
        self.publish(
            {**nvidia_members("libcupti.so.13"), "nvidia/cu13/lib/libcheckpoint.so": b""},
            "nvidia_cuda_cupti-13.0.85-py3-none-linux_x86_64.whl",
        )
        done = self.fetch()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            sorted(path.name for path in (self.target / "lib").iterdir()),
            ["libcudart.so.13", "libcupti.so.13", "libtorch.so", "libtorch_cpu.so"],
        )

    def test_the_package_that_supplies_a_cuda_library_follows_from_the_librarys_name(self) -> None:
        packages = {
            "libcudart.so.13": "nvidia-cuda-runtime==13.*",
            "libcupti.so.13": "nvidia-cuda-cupti==13.*",
            "libcudart.so.12": "nvidia-cuda-runtime-cu12==12.*",
            "libcupti.so.12": "nvidia-cuda-cupti-cu12==12.*",
            "libcudart.so.11.0": "nvidia-cuda-runtime-cu11==11.*",
            "libcupti.so.11.7": "nvidia-cuda-cupti-cu11==11.7.*",
        }
        for name, requirement in packages.items():
            self.publish({**MEMBERS, "torch/lib/libtorch_cpu.so": library("libtorch_cpu.so", name)})
            self.assertIn(f"pip could not fetch {requirement}: ", self.fetch().stderr)

    def test_a_cuda_library_that_the_wheel_brings_itself_is_not_fetched(self) -> None:
        bundled = "libcudart-e409450e.so.11.0"
        self.publish(
            {
                **MEMBERS,
                "torch/lib/libtorch_cpu.so": library("libtorch_cpu.so", bundled),
                f"torch/lib/{bundled}": library(bundled),
            }
        )
        done = self.fetch()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.asked(), ["torch==2.13.0"])

    def test_all_libraries_are_kept_if_asked_for(self) -> None:
        self.publish({**MEMBERS, "torch/lib/libtorch_cuda.so": b"a gigabyte"})
        self.assertEqual(self.fetch("--all-libraries").returncode, 0)
        self.assertEqual(
            sorted(path.name for path in (self.target / "lib").iterdir()),
            ["libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so", "libtorch_python.so"],
        )

    def test_exactly_a_version_is_asked_for_with_three_signs(self) -> None:
        self.publish(MEMBERS)
        self.fetch("--exact")
        self.assertEqual(self.asked(), ["torch===2.13.0"])

    def test_a_path_out_of_the_folder_refuses_the_whole_wheel(self) -> None:
        for path in (
            "torch/lib/../../../../outside",
            "/outside",
            "torch\\lib\\outside",
            "../outside",
            "a/..",
            ".",
        ):
            self.publish({**MEMBERS, path: b"evil"})
            done = self.fetch()
            self.assertEqual(done.returncode, 4)
            self.assertIn("hostile or damaged", done.stderr)
            self.assertFalse(self.target.exists())
            self.assertFalse((self.folder / "outside").exists())

    def test_a_link_in_the_wheel_refuses_it(self) -> None:
        self.publish(MEMBERS)
        with zipfile.ZipFile(next(self.index.glob("*.whl")), "a") as wheel:
            link = zipfile.ZipInfo("torch/lib/libc10.so")
            link.external_attr = 0o120777 << 16
            wheel.writestr(link, "/etc/passwd")
        self.assertIn("hostile or damaged", self.fetch().stderr)
        self.assertFalse(self.target.exists())

    def test_a_wheel_cut_off_never_becomes_a_tree_and_the_next_call_starts_afresh(self) -> None:
        self.publish(MEMBERS)
        wheel = next(self.index.glob("*.whl"))
        whole = wheel.read_bytes()
        wheel.write_bytes(whole[: len(whole) // 2])
        done = self.fetch()
        self.assertIn("damaged", done.stderr)
        self.assertFalse(self.target.exists())
        wheel.write_bytes(whole)
        self.assertEqual(self.fetch().returncode, 0)

    def test_a_content_that_was_changed_never_becomes_a_tree(self) -> None:
        self.publish(MEMBERS, compression=zipfile.ZIP_STORED)
        wheel = next(self.index.glob("*.whl"))
        wheel.write_bytes(wheel.read_bytes().replace(b"the stub", b"the stab"))
        self.assertIn("damaged", self.fetch().stderr)
        self.assertFalse(self.target.exists())

    def test_whatever_byte_of_a_wheel_changes_no_file_of_the_tree_differs(self) -> None:
        for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            with self.subTest(compression):
                self.check_changed_bytes(compression)

    def check_changed_bytes(self, compression: int) -> None:
        members = {"torch/version.py": VERSION_PY, "torch/lib/libtorch_cpu.so": b"\x7fELF"}
        whole = wheel_of("torch", "2.13.0", members, compression=compression)
        wheel, tree = self.folder / "changed.whl", self.folder / "tree"
        for at in range(0, len(whole), 3):
            changed = bytearray(whole)
            changed[at] ^= 0x41
            wheel.write_bytes(changed)
            tree.mkdir()
            try:
                unpack(wheel, torch_target(tree, True), tree)
                self.assertEqual((tree / "lib" / "libtorch_cpu.so").read_bytes(), b"\x7fELF")
                self.assertEqual((tree / "version.py").read_bytes(), VERSION_PY)
            except Damaged:
                pass
            shutil.rmtree(tree)

    def test_a_name_that_no_file_can_have_refuses_the_wheel(self) -> None:
        self.publish({**MEMBERS, f"torch/lib/{'n' * 300}": b""})
        done = self.fetch()
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertFalse(self.target.exists())

    def test_a_record_that_names_more_or_less_than_the_wheel_holds_refuses_it(self) -> None:
        honest = record_of(MEMBERS)
        for record in (
            honest + "torch/gone.py,sha256=x,1\n",
            honest.partition("\n")[2],
            "torch/version.py\n",
        ):
            self.publish(MEMBERS, record=record)
            done = self.fetch()
            self.assertEqual(done.returncode, 4)
            self.assertIn("RECORD", done.stderr)
            self.assertFalse(self.target.exists())

    def test_a_wheel_that_would_fill_the_disk_is_refused_before_it_is_unpacked(self) -> None:
        self.publish({**MEMBERS, "torch/include/large.h": bytes(3_000_000_000 // 1000)})
        wheel, tree = self.index / CPU_WHEEL, self.folder / "tree"
        tree.mkdir()
        said = f"unpacking .* takes 3.0 MB, and {self.folder} has only 1.0 MB"
        space = types.SimpleNamespace(free=RESERVE_BYTES + 1_000_000)
        with (
            mock.patch("shutil.disk_usage", return_value=space),
            self.assertRaisesRegex(Trouble, said),
        ):
            unpack(wheel, torch_target(tree, True), tree)
        self.assertEqual(list(tree.iterdir()), [])

    def test_a_disk_that_is_full_while_unpacking_leaves_nothing_and_is_named(self) -> None:
        self.publish({**MEMBERS, "torch/include/large.h": bytes(1_000_000)})
        limited = ["bash", "-c", 'ulimit -f 100; exec "$@"', "-"]
        done = self.fetch(before=limited)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(
            done.stderr,
            f"error: cannot read or write .*{self.target.parent}.*: File too large: is the disk",
        )
        self.assertEqual(self.left_over(), ["libtorch.lock", "libtorch.wheels"])
        self.assertEqual(self.fetch().returncode, 0)

    def test_a_call_that_is_ended_leaves_the_wheels_and_nothing_half_made(self) -> None:
        self.publish(MEMBERS)
        self.stand_in("ldd", "kill -TERM $PPID")
        self.assertEqual(self.fetch().returncode, 128 + 15)
        self.assertEqual(self.left_over(), ["libtorch.lock", "libtorch.wheels"])

    def test_a_library_that_this_machine_lacks_is_named(self) -> None:
        self.publish(
            {**MEMBERS, "torch/lib/libtorch_cpu.so": library("libtorch_cpu.so", "libnowhere.so.7")}
        )
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn(
            "libtorch_cpu.so needs libnowhere.so.7, which this machine lacks: install it",
            done.stderr,
        )
        self.assertFalse(self.target.exists())

    def test_a_missing_tool_is_named_with_its_package(self) -> None:
        self.publish(MEMBERS)
        (self.bin / "python3").symlink_to(sys.executable)
        done = self.fetch(path=str(self.bin))
        self.assertEqual(done.returncode, 1)
        self.assertIn("readelf is missing", done.stderr)
        self.assertIn("binutils", done.stderr)

    def test_a_version_is_what_an_index_writes_and_nothing_that_could_be_a_path_or_an_option(
        self,
    ) -> None:
        for version in ("", "..", "2..", "-r", "/etc", "2/3", "2.0 ", "v2.0", "2;ls", "1" * 100):
            done = self.fetch(f"--version={version}")
            self.assertEqual(done.returncode, 2, version)
            self.assertIn("invalid version", done.stderr)
        self.assertFalse((self.index / "asked").exists())

    def test_a_version_file_with_types_is_read_too(self) -> None:
        commit = "a" * 40
        typed = (
            f"__version__: str = \"2.13.0+cpu\"\ngit_version: Optional[str] = '{commit}'\n".encode()
        )
        self.publish({**MEMBERS, "torch/version.py": typed})
        self.assertEqual(self.fetch().returncode, 0)
        self.assertEqual((self.target / "build-hash").read_text(), commit + "\n")

    def test_a_folder_that_holds_something_else_is_not_overwritten(self) -> None:
        self.publish(MEMBERS)
        self.target.mkdir(parents=True)
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a complete LibTorch tree: remove it", done.stderr)
        self.assertFalse((self.index / "asked").exists())

    def test_what_a_killed_call_left_behind_is_replaced(self) -> None:
        self.publish(MEMBERS)
        partial = self.target.with_name("libtorch.partial")
        (partial / "lib").mkdir(parents=True)
        (partial / "lib" / "stray.so").touch()
        self.assertEqual(self.fetch().returncode, 0)
        self.assertFalse((self.target / "lib" / "stray.so").exists())

    def test_another_version_in_the_folder_is_not_overwritten(self) -> None:
        self.publish(MEMBERS)
        self.fetch()
        done = self.fetch("--version", "2.12.1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds LibTorch 2.13.0+cpu, not 2.12.1", done.stderr)

    def test_a_version_that_the_index_lacks_names_the_command_to_look_with(self) -> None:
        done = self.fetch()
        self.assertEqual(done.returncode, 3)
        self.assertIn("pip could not fetch torch==2.13.0", done.stderr)
        self.assertIn("python3 -m pip download --no-deps 'torch==2.13.0'", done.stderr)

    def test_a_python_without_pip_is_told_what_to_install(self) -> None:
        write_program(self.folder / "python" / "pip" / "__main__.py", "raise SystemExit(1)\n")
        done = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no pip", done.stderr)
        self.assertIn("deploy/prerequisites", done.stderr)

    def test_a_wheel_that_is_not_pytorchs_is_refused(self) -> None:
        self.publish({**MEMBERS, "torch/version.py": b"__version__ = 'x'\n"})
        self.assertIn("names no version and commit", self.fetch().stderr)
        self.assertFalse(self.target.exists())


if __name__ == "__main__":
    unittest.main()
