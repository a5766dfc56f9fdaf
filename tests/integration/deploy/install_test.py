"""An installation: what it holds, and that it needs nothing of the checkout that it came from."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import CHECKOUT

BUILD = Path(os.environ["TORCHWATCH_BUILD"])
PREFIX = Path("/opt/torchwatch")
NAMESPACE = ["bwrap", "--dev-bind", "/", "/"]

C10 = """
namespace c10 { namespace detail {
void torchCheckFail(const char*, const char*, unsigned, const char*) {}
}}
"""


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )  # type: ignore[call-overload]


def has_namespaces() -> bool:
    return bool(shutil.which("bwrap")) and run(*NAMESPACE, "true").returncode == 0


def make_tree(folder: Path) -> None:
    """Makes what configuring takes for a LibTorch tree; nothing compiles with its headers."""
    (folder / "lib").mkdir(parents=True)
    header = folder / "include/torch/csrc/api/include/torch/torch.h"
    header.parent.mkdir(parents=True)
    header.write_text('#error "a stand-in"\n')
    parallel = folder / "include/ATen/Parallel.h"
    parallel.parent.mkdir(parents=True)
    parallel.write_text('#error "a stand-in"\n')
    source = folder / "c10.cpp"
    source.write_text(C10)
    for name in ("libc10.so", "libtorch_cpu.so", "libtorch.so"):
        subprocess.run(["g++", "-shared", "-fPIC", "-o", folder / "lib" / name, source], check=True)
    (folder / "build-version").write_text("2.13.0\n")
    (folder / "build-hash").write_text("0" * 40 + "\n")


class Installed(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.destination = self.folder / "destination"
        self.share = self.at("share/torchwatch")
        done = run(
            "cmake", "--install", BUILD, "--prefix", PREFIX,
            env=dict(os.environ, DESTDIR=str(self.destination)),
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)

    def at(self, path: str) -> Path:
        return self.destination / PREFIX.relative_to("/") / path

    def beyond_the_checkout(self, *command: object) -> subprocess.CompletedProcess[str]:
        """Runs a command where the installation is in its place and the checkout is empty."""
        return run(
            *NAMESPACE, "--tmpfs", CHECKOUT, "--tmpfs", PREFIX.parent,
            "--bind", self.at(""), PREFIX, "--bind", self.folder, "/mnt",
            "--chdir", "/mnt", *command,
        )  # fmt: skip

    def test_it_holds_the_program_its_sources_its_documents_and_its_unit(self) -> None:
        for path in (
            "bin/torchwatch",
            "lib/systemd/system/torchwatch.service",
            "lib/sysusers.d/torchwatch.conf",
            "share/man/man1/torchwatch.1",
            "share/torchwatch/models/suite.json",
            "share/torchwatch/models/workloads.txt",
            "share/torchwatch/runner/kit/CMakeLists.txt",
            "share/torchwatch/deploy/recipes/pytorch-cpu",
            "share/torchwatch/studies/threads.toml",
            "share/torchwatch/deploy/recipes/pytorch-cuda",
            "share/doc/torchwatch/torchwatch.example.toml",
            "share/doc/torchwatch/" + "docs/operating.md",
        ):
            self.assertTrue(self.at(path).is_file(), path)
        for program in ("libtorch", "aot_inductor"):
            self.assertTrue(os.access(self.share / "deploy" / program, os.X_OK))
        self.assertFalse((self.share / "cmake/Install.cmake").exists())

    def test_nothing_in_it_names_the_checkout_but_the_program(self) -> None:
        for path in self.destination.rglob("*"):
            if path.is_file() and path.name != "torchwatch":
                self.assertNotIn(str(CHECKOUT).encode(), path.read_bytes(), path)

    def test_the_unit_runs_the_installed_program(self) -> None:
        unit = self.at("lib/systemd/system/torchwatch.service").read_text()
        self.assertIn(f"ExecStart={PREFIX}/bin/torchwatch serve", unit)
        self.assertNotIn("@", unit.replace("@system-service", "").replace("@privileged", "")
                         .replace("@resources", ""))  # fmt: skip

    def test_the_group_of_the_unit_is_one_that_the_installation_makes(self) -> None:
        unit = self.at("lib/systemd/system/torchwatch.service").read_text().splitlines()
        made = self.at("lib/sysusers.d/torchwatch.conf").read_text().splitlines()
        self.assertIn("g torchwatch -", made)
        self.assertIn("Group=torchwatch", unit)
        # systemd refuses a dynamic user whose name a group has.
        self.assertIn("User=torchwatch-daemon", unit)

    def test_the_program_lists_the_suite_of_its_installation(self) -> None:
        if not has_namespaces():
            self.skipTest("bwrap cannot be used here")
        done = self.beyond_the_checkout(PREFIX / "bin/torchwatch", "workload", "list", "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("soft_actor_critic", done.stdout)

    def test_the_manual_page_is_one_without_a_warning(self) -> None:
        if not shutil.which("groff"):
            self.skipTest("groff is not at hand")
        page = self.at("share/man/man1/torchwatch.1")
        done = run("groff", "-man", "-Tutf8", "-ww", "-rLL=100n", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("torchwatch incident dispute", done.stdout)

    def test_systemd_takes_the_unit(self) -> None:
        if not shutil.which("systemd-analyze") or not has_namespaces():
            self.skipTest("systemd-analyze or bwrap is not at hand")
        unit = PREFIX / "lib/systemd/system/torchwatch.service"
        done = self.beyond_the_checkout("systemd-analyze", "verify", "--man=no", unit)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("torchwatch.service", done.stderr)

    def commands_of_a_kit(self, *options: str) -> str:
        """What ninja would do for a kit that is configured from the installed sources."""
        if not has_namespaces():
            self.skipTest("bwrap cannot be used here")
        make_tree(self.folder / "tree")
        done = self.beyond_the_checkout(
            "cmake", "-S", PREFIX / "share/torchwatch/runner/kit", "-B", "kit", "-G", "Ninja",
            "-DTORCHWATCH_LIBTORCH=/mnt/tree", "-DTORCHWATCH_WORKLOADS=soft_actor_critic", *options,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return (self.folder / "kit/build.ninja").read_text()

    def test_a_kit_compiles_each_file_alone_where_python_fails(self) -> None:
        commands = self.commands_of_a_kit("-DTORCHWATCH_PYTHON=/bin/false")
        self.assertIn(f"{PREFIX}/share/torchwatch/models", commands)
        self.assertNotIn("/Unity/", commands)

    def test_a_kit_is_configured_from_the_installed_sources(self) -> None:
        commands = self.commands_of_a_kit()
        self.assertIn(f"{PREFIX}/share/torchwatch/models", commands)
        self.assertNotIn(str(CHECKOUT), commands)
        self.assertIn("/Unity/", commands)

    def test_the_program_compiles_its_own_sources_as_anybody_with_an_empty_environment(
        self,
    ) -> None:
        if not has_namespaces():
            self.skipTest("bwrap cannot be used here")
        make_tree(self.folder / "tree")
        (self.folder / "state.toml").write_text(
            '[suite]\nworkloads = ["soft_actor_critic"]\nconfigurations = ["cpu-train"]\n'
            f'[executor]\nmachine_lock = "{self.folder.name}"\n'
        )
        user = []
        if os.geteuid() == 0:
            user = ["setpriv", "--reuid=61999", "--regid=61999", "--clear-groups"]
            for path in (self.folder, *self.folder.rglob("*")):
                os.chown(path, 61999, 61999, follow_symlinks=False)
        done = self.beyond_the_checkout(
            *user, "env", "-i", "PATH=/usr/bin:/bin", PREFIX / "bin/torchwatch",
            "compare", "/mnt/tree", "/mnt/tree", "--config", "/mnt/state.toml",
        )  # fmt: skip
        # The stand-in's header is what ends it: everything before that worked.
        self.assertIn("a stand-in", done.stdout + done.stderr)
        self.assertNotIn("ccache", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
