"""The channel, deploy/libtorch and pip together: releases from a package index on loopback."""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(CHECKOUT / "tests" / "support"))

from wheel_index import (  # noqa: E402
    COMMIT,
    Index,
    Served,
    library,
    record_of,
    torch_members,
    wheel_of,
)

WHOLE_RELEASE = [
    "build-hash",
    "build-version",
    "include/torch/torch.h",
    "lib/libc10.so",
    "lib/libcudart.so.13",
    "lib/libcupti.so.13",
    "lib/libtorch.so",
    "lib/libtorch_cpu.so",
    "lib/libtorch_cuda.so",
    "lib/libtorch_python.so",
]
# A stand-in for a program: kills the fetch that runs it, once.
KILLER = """#!/bin/sh
[ -e {done} ] || {{ touch {done}; kill -KILL {victim}; }}
exec {program} "$@"
"""


class Release(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.home = self.folder / "home"
        self.home.mkdir()
        self.cache = self.folder / "releases"
        self.index = Index()
        self.addCleanup(self.index.close)
        self.index.serve_release()

    def fetch(self, *version: str, url: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = self.index.environment()
        environment["PATH"] = f"{self.bin}:{environment['PATH']}"
        environment |= {"PIP_INDEX_URL": url or self.index.url, "HOME": str(self.home)}
        command: list[str | Path] = [
            os.environ["TORCHWATCH_FETCH_RELEASE"],
            sys.executable,
            CHECKOUT / "deploy" / "libtorch",
            self.cache,
            *version,
        ]
        return subprocess.run(command, check=False, env=environment, text=True, capture_output=True)

    def test_a_confined_pip_fetches_a_release_and_writes_nothing_else(self) -> None:
        os.environ["TORCHWATCH_TEST_SANDBOX"] = "1"
        self.addCleanup(os.environ.pop, "TORCHWATCH_TEST_SANDBOX")
        done = self.fetch("1.2.3")
        if done.returncode == 77:
            self.skipTest("there is no sandbox on this machine")
        self.check_whole(done)
        self.assertEqual(list(self.home.iterdir()), [])

    def test_confined_releases_for_gpus_share_cudas_libraries(self) -> None:
        for name in ("TORCHWATCH_TEST_SANDBOX", "TORCHWATCH_TEST_CUDA"):
            os.environ[name] = "1"
            self.addCleanup(os.environ.pop, name)
        requires = []
        for package, name in (("cudart", "libcudart.so.13"), ("cupti", "libcupti.so.13")):
            members = {f"nvidia/cu13/lib/{name}": library(name)}
            self.index.serve(f"nvidia_{package}", "13.0", members)
            requires.append(f"Requires-Dist: nvidia-{package}==13.0")
        for version in ("1.2.3", "1.2.4"):
            self.index.add("torch", version, torch_members(f"{version}+cu130"), requires=requires)
            done = self.fetch(version)
            if done.returncode == 77:
                self.skipTest("there is no sandbox on this machine")
            self.assertEqual(done.returncode, 0, done.stderr)
        first, second = (
            self.cache / f"{version}-cuda/torch/lib/libcudart.so.13"
            for version in ("1.2.3", "1.2.4")
        )
        self.assertTrue(first.samefile(second))

    def test_confined_releases_for_python_have_their_packages_and_lie_beside_others(self) -> None:
        for name in ("TORCHWATCH_TEST_SANDBOX", "TORCHWATCH_TEST_PYTHON"):
            os.environ[name] = "1"
            self.addCleanup(os.environ.pop, name, None)
        members = torch_members("1.2.3", ("libc10.so",)) | {"torch/__init__.py": b""}
        self.index.add("torch", "1.2.3", members, requires=["Requires-Dist: filelock"])
        for package in ("filelock", "numpy"):
            self.index.add(package, "1.0", {f"{package}.py": b""})
        done = self.fetch("1.2.3")
        if done.returncode == 77:
            self.skipTest("there is no sandbox on this machine")
        self.assertEqual(done.returncode, 0, done.stderr)
        tree = self.cache / "1.2.3-python" / "torch"
        self.assertEqual(done.stdout.splitlines()[0], str(tree))
        for module in ("filelock.py", "numpy.py"):
            self.assertTrue((tree / "python" / module).exists(), module)
        del os.environ["TORCHWATCH_TEST_PYTHON"]
        self.assertEqual(
            self.fetch("1.2.3").stdout.splitlines()[0], str(self.cache / "1.2.3/torch")
        )
        self.assertEqual(list(self.home.iterdir()), [])

    def test_a_confined_program_brings_a_build_of_a_commit_from_a_folder_and_from_an_address(
        self,
    ) -> None:
        wheel = wheel_of("torch", "1.2.3", torch_members("1.2.3", ("libc10.so",)))
        digest = hashlib.sha256(wheel).hexdigest().encode()
        builds = self.folder / "builds"
        builds.mkdir()
        for name, content in ((f"{COMMIT}.whl", wheel), (f"{COMMIT}.whl.sha256", digest)):
            (builds / name).write_bytes(content)
            self.index.wheels[name] = Served(content, "")
        root = self.index.url.rpartition("/")[0]
        os.environ["TORCHWATCH_TEST_SANDBOX"] = "1"
        for name in ("TORCHWATCH_TEST_SANDBOX", "TORCHWATCH_TEST_ARTIFACTS"):
            self.addCleanup(os.environ.pop, name, None)
        for place in (f"{builds}/", f"{root}/files/"):
            os.environ["TORCHWATCH_TEST_ARTIFACTS"] = place + "{commit}.whl"
            self.cache = self.folder / f"cache-{place.startswith('/')}"
            done = self.fetch(COMMIT)
            if done.returncode == 77:
                self.skipTest("there is no sandbox on this machine")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.splitlines(), [COMMIT, f"{place}{COMMIT}.whl"])
        self.assertEqual(list(self.home.iterdir()), [])

    def files(self) -> list[str]:
        """Everything in the cache, without locks."""
        return sorted(
            str(path.relative_to(self.cache))
            for path in self.cache.rglob("*")
            if path.is_file() and path.suffix != ".lock" and path.name != "lock"
        )

    def check_whole(self, done: subprocess.CompletedProcess[str]) -> None:
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout.splitlines(),
            [str(self.cache / "1.2.3/torch"), "1.2.3+cu130", COMMIT],
        )
        self.assertEqual(self.files(), [f"1.2.3/torch/{name}" for name in WHOLE_RELEASE])

    def check_refused(self, kind: str, *words: str) -> None:
        done = self.fetch("1.2.3")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertTrue(
            done.stderr.startswith(f"{kind}: cannot fetch PyTorch 1.2.3: "), done.stderr
        )
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual([name for name in self.files() if "/torch.wheels/" not in name], [])

    def test_a_release_becomes_a_tree_with_the_small_cuda_libraries_it_needs_and_nothing_more(
        self,
    ) -> None:
        self.check_whole(self.fetch("1.2.3"))
        self.assertEqual(
            sorted(self.index.downloaded),
            [
                "nvidia_cuda_cupti-13.0.85-py3-none-any.whl",
                "nvidia_cuda_runtime-13.0.96-py3-none-any.whl",
                "torch-1.2.3-py3-none-any.whl",
            ],
        )
        self.assertEqual(list(self.home.iterdir()), [])

    def test_the_cpu_build_of_a_version_is_not_taken_for_it(self) -> None:
        self.index.add("torch", "1.2.3+cpu", torch_members("1.2.3+cpu", ("libc10.so",)))
        self.check_whole(self.fetch("1.2.3"))
        self.assertEqual(self.fetch("1.2.3+cpu").stdout.splitlines()[1], "1.2.3+cpu")

    def test_versions_are_listed_oldest_first(self) -> None:
        for version in ("2.10.0", "2.9.1"):
            self.index.add("torch", version, {})
        self.assertEqual(self.fetch().stdout.splitlines(), ["1.2.3", "2.9.1", "2.10.0"])
        self.assertEqual(self.files(), [])

    def test_a_release_that_the_index_lacks_is_not_found(self) -> None:
        done = self.fetch("9.9.9")
        self.assertTrue(done.stderr.startswith("not found: "), done.stderr)
        self.assertIn("No matching distribution found for torch===9.9.9", done.stderr)

    def test_an_index_that_cannot_be_reached_is_no_missing_release(self) -> None:
        nowhere = "http://127.0.0.1:9/simple"
        for version, said in (
            (("1.2.3",), "cannot fetch PyTorch 1.2.3"),
            ((), "cannot list the versions"),
        ):
            done = self.fetch(*version, url=nowhere)
            self.assertTrue(done.stderr.startswith(f"unavailable: {said}"), done.stderr)
            self.assertIn("reachable", done.stderr)

    def test_a_download_without_the_hash_that_the_index_names_is_refused(self) -> None:
        self.index.wheels["torch-1.2.3-py3-none-any.whl"].sha256 = "0" * 64
        self.check_refused("corrupt", "does not have the hash")

    def test_a_download_that_is_cut_off_is_refused_and_the_next_call_fetches_it_whole(self) -> None:
        self.index.cut_off["torch-1.2.3-py3-none-any.whl"] = 9
        done = self.fetch("1.2.3")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("cannot fetch PyTorch 1.2.3: ", done.stderr)
        self.assertEqual(self.files(), [])
        self.index.cut_off.clear()
        self.check_whole(self.fetch("1.2.3"))

    def test_a_wheel_without_pytorchs_libraries_is_refused_and_a_good_one_after_it_is_not(
        self,
    ) -> None:
        self.index.serve("torch", "1.2.3", {"torch/nn/modules.py": b"# Python\n"})
        self.check_refused(
            "corrupt", "torch-1.2.3-py3-none-any.whl holds no torch/lib/libtorch_cpu.so"
        )
        self.assertEqual(self.files(), [])
        self.index.serve_release()
        self.check_whole(self.fetch("1.2.3"))

    def test_a_wheel_that_says_that_it_is_another_version_is_refused(self) -> None:
        self.index.serve("torch", "1.2.3", torch_members("1.2.4"))
        self.check_refused("corrupt", "was asked for as torch 1.2.3, but says that it is 1.2.4")

    def test_a_file_that_is_not_what_the_record_says_refuses_the_wheel_even_if_it_is_not_kept(
        self,
    ) -> None:
        members = torch_members()
        record = record_of(members | {"torch/nn/modules.py": b"# honest\n"})
        self.index.serve("torch", "1.2.3", members, record=record)
        self.check_refused("corrupt", "torch/nn/modules.py is not what the wheel's RECORD says")

    def test_a_package_that_does_not_hold_its_library_refuses_no_release(self) -> None:
        self.index.serve("nvidia_cuda_runtime", "13.0.96", {"nvidia/cu13/lib/libother.so": b""})
        self.check_refused(
            "unavailable", "nvidia_cuda_runtime-13.0.96-py3-none-any.whl holds no libcudart.so.13"
        )

    def test_a_library_that_the_machine_lacks_is_named(self) -> None:
        self.index.serve("torch", "1.2.3", torch_members(needed=("libc10.so", "libnowhere.so.7")))
        self.check_refused(
            "unavailable", "libtorch_cpu.so needs libnowhere.so.7, which this machine lacks"
        )

    def test_a_program_that_is_killed_leaves_nothing_and_the_next_call_fetches(self) -> None:
        # readelf is asked after torch is unpacked, ldd when all but publishing is done.
        for program in ("readelf", "ldd"):
            with self.subTest(program):
                self.kill_by(program, "$PPID")
                self.assertIn("SIGKILL", self.fetch("1.2.3").stderr)
                self.assertEqual(
                    [name for name in self.files() if "/torch.wheels/" not in name], []
                )
                self.check_whole(self.fetch("1.2.3"))
                self.index.downloaded.clear()
                self.remove_release()

    def test_a_service_that_is_killed_leaves_no_release_and_the_next_one_fetches_it(self) -> None:
        self.kill_by("ldd", "$(ps -o ppid= -p $PPID)")
        self.assertEqual(self.fetch("1.2.3").returncode, -signal.SIGKILL)
        self.assertFalse((self.cache / "1.2.3/torch").exists())
        self.index.downloaded.clear()
        self.check_whole(self.fetch("1.2.3"))
        self.assertEqual(self.index.downloaded, [])  # the wheels were there already

    def kill_by(self, program: str, victim: str) -> None:
        stand_in = self.bin / program
        stand_in.write_text(
            KILLER.format(
                done=self.folder / f"killed-{program}", victim=victim, program=f"/usr/bin/{program}"
            )
        )
        stand_in.chmod(0o755)

    def remove_release(self) -> None:
        for path in sorted((self.cache / "1.2.3").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()


if __name__ == "__main__":
    unittest.main()
