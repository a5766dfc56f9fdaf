"""The unit on a machine that boots systemd: a copy of this one in namespaces of its own.

The copy is an overlay over this machine's files, in which nothing stays. It has no network, no
devices but the harmless ones, no checkout, and cannot change settings of the kernel. Needs root and
overlayfs.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from support import CHECKOUT

BUILD = Path(os.environ["TORCHWATCH_BUILD"])
LIBTORCH = os.environ.get("TORCHWATCH_LIBTORCH", "")
TREE = "/srv/libtorch"  # that tree, on the machine
PREFIX = "/usr/local"
UNIT = "torchwatch.service"
TOKEN = "a-token-of-the-unit-s-test"  # noqa: S105
SYSTEMD = "/lib/systemd/systemd"
CONFIGURATION_FILE = "/etc/torchwatch/torchwatch.toml"
STATE = "/var/lib/torchwatch"
DYNAMIC_USERS = 61184  # the first of them
KIT_LIMIT_S = 1200

# Runs as the first process of the new namespaces, and becomes systemd.
BOOT = r"""
set -eu
place=$1
mount --make-rprivate /
mount -t tmpfs tmpfs "$place"
mkdir "$place/upper" "$place/work" "$place/root"
mount -t overlay overlay \
  -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" "$place/root"
cd "$place/root"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  touch "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/shm dev/pts dev/mqueue
mount -t tmpfs tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ip link set lo up
cp -a "$2/." .
if [ -n "$3" ]; then
  mkdir -p srv/libtorch
  mount --bind "$3" srv/libtorch
  mount -o remount,bind,ro srv/libtorch
fi
mkdir -p "./$4"
mount -t tmpfs tmpfs "./$4"
mkdir -p former
pivot_root . former
umount -l /former
mount --make-rshared /
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=basic.target --show-status=no
"""

CONFIGURATION = f"""
[storage]
path = "/var/lib/torchwatch/torchwatch.sqlite"
[channel]
path = "/srv/nightlies"
[build]
cache = "/var/lib/torchwatch/builds"
[suite]
workloads = ["soft_actor_critic"]
configurations = ["cpu-train"]
[executor]
scratch = "/var/lib/torchwatch/scratch"
[web]
token_file = "/run/credentials/{UNIT}/web-token"
"""

# What an administrator adds; the pause before a restart is shorter so that nobody waits for it.
OVERRIDE = """
[Service]
LoadCredential=web-token:/etc/torchwatch/web-token
RestartSec=100ms
"""


Seen = TypeVar("Seen")


def run(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options,
    )  # type: ignore[call-overload]  # fmt: skip


def mounted_cgroup() -> Path | None:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(place)
    return None


class Machine:
    """A booted copy of this machine, which ends with the object's `end`."""

    def __init__(self, folder: Path, installed: Path) -> None:
        cgroups = mounted_cgroup()
        if os.geteuid() != 0 or not Path(SYSTEMD).exists() or cgroups is None:
            raise unittest.SkipTest("needs root, systemd and cgroup2")
        self.cgroup = cgroups / f"torchwatch-test-{os.getpid()}"
        try:
            self.cgroup.mkdir()
        except OSError as error:
            raise unittest.SkipTest(f"a group of processes cannot be made: {error}") from error
        place = folder / "machine"
        place.mkdir()
        self.output = (folder / "boot.log").open("w+")
        self.unshared = subprocess.Popen(
            ["bash", "-c", f'echo $$ > {self.cgroup}/cgroup.procs; exec "$@"', "bash",
             "unshare", "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--net", "--fork",
             "--kill-child", "bash", "-c", BOOT, "bash", place, installed, LIBTORCH, CHECKOUT],
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output,
        )  # fmt: skip

    def wait(self) -> None:
        """Waits until systemd has booted."""
        limit = time.monotonic() + 60
        while time.monotonic() < limit and self.unshared.poll() is None:
            booted = self.run("timeout", "20", "systemctl", "is-system-running", "--wait")
            if booted.stdout.strip() in ("running", "degraded"):
                return
        self.output.seek(0)
        words = self.output.read()
        raise unittest.SkipTest(f"systemd does not boot in a container here: {words}")

    def first_process(self) -> str:
        pid = self.unshared.pid
        try:
            return Path(f"/proc/{pid}/task/{pid}/children").read_text().strip()
        except OSError:  # it has ended, or the kernel does not say
            return ""

    def run(self, *command: object) -> subprocess.CompletedProcess[str]:
        first = self.first_process()
        if not first:
            return subprocess.CompletedProcess([], 1, "", "not there yet")
        return run("nsenter", "--all", "--target", first, *command)

    def end(self) -> None:
        self.unshared.kill()  # --kill-child: systemd and all of its children end with it
        self.unshared.wait()
        self.output.close()
        folders = [Path(folder) for folder, _, _ in os.walk(self.cgroup, topdown=False)]
        limit = time.monotonic() + 20
        while folders and time.monotonic() < limit:
            try:
                folders[0].rmdir()
                folders.pop(0)
            except OSError:  # a process in it has not quite ended
                time.sleep(0.01)


def install(destination: Path) -> None:
    done = run(
        "cmake", "--install", BUILD, "--prefix", PREFIX,
        env=dict(os.environ, DESTDIR=str(destination)),
    )  # fmt: skip
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    for path, text, mode in (
        ("etc/torchwatch/torchwatch.toml", CONFIGURATION, 0o644),
        ("etc/torchwatch/web-token", TOKEN + "\n", 0o600),
        (f"etc/systemd/system/{UNIT}.d/test.conf", OVERRIDE, 0o644),
        ("srv/nightlies/README", "", 0o644),
    ):
        file = destination / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
    destination.chmod(0o755)


class Unit(unittest.TestCase):
    machine: Machine

    @classmethod
    def setUpClass(cls) -> None:
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        folder = Path(holder.name)
        install(folder / "installed")
        cls.machine = Machine(folder, folder / "installed")
        cls.addClassCleanup(cls.machine.end)
        cls.machine.wait()
        made = cls.machine.run("systemd-sysusers")
        if made.returncode != 0:
            raise AssertionError(made.stderr)

    def setUp(self) -> None:
        self.machine.run("systemctl", "reset-failed", UNIT)
        self.addCleanup(self.machine.run, "systemctl", "stop", UNIT)

    def start(self) -> None:
        done = self.machine.run("systemctl", "start", UNIT)
        self.assertEqual(done.returncode, 0, done.stderr + self.journal())
        self.wait_for(self.health, lambda health: health.get("status") == "ok")

    def wait_for(
        self, value: Callable[[], Seen], holds: Callable[[Seen], bool], seconds: int = 20
    ) -> Seen:
        limit = time.monotonic() + seconds
        seen = value()
        while not holds(seen) and time.monotonic() < limit:
            time.sleep(seconds / 1000)  # the machine has other things to do
            seen = value()
        self.assertTrue(holds(seen), f"{seen} {self.journal()}")
        return seen

    def journal(self) -> str:
        return self.machine.run("journalctl", "--no-pager", "--unit", UNIT).stdout

    def shown(self, name: str) -> str:
        shown = self.machine.run("systemctl", "show", "--value", "--property", name, UNIT)
        return shown.stdout.strip()

    def get(self, path: str) -> dict[str, Any]:
        asked = self.machine.run(
            "curl", "--silent", "--unix-socket", "/run/torchwatch/control", f"http://here{path}"
        )
        answer: dict[str, Any] = json.loads(asked.stdout) if asked.stdout else {}
        return answer

    def health(self) -> dict[str, Any]:
        return self.get("/healthz")

    def torchwatch(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.machine.run("torchwatch", *arguments, "--config", CONFIGURATION_FILE)

    def test_it_runs_as_nobody_in_particular_and_answers_on_its_socket(self) -> None:
        self.start()
        self.assertEqual(self.shown("ActiveState"), "active")
        user = self.machine.run("stat", "--format", "%u", f"/proc/{self.shown('MainPID')}").stdout
        self.assertGreaterEqual(int(user), DYNAMIC_USERS)
        status = self.torchwatch("status")
        self.assertEqual(status.returncode, 0, status.stderr)
        asked = self.torchwatch("database", "gc")
        self.assertIn("The daemon, process ", asked.stdout, asked.stderr)
        self.assertNotIn(TOKEN, self.journal())

    def test_its_socket_is_for_the_group_torchwatch_alone(self) -> None:
        self.start()
        about = self.machine.run("stat", "--format", "%G %a", "/run/torchwatch/control").stdout
        self.assertEqual(about.strip(), "torchwatch 660")
        for group, status in (("torchwatch", 0), ("nogroup", 3)):
            asked = self.machine.run(
                "setpriv", "--reuid", "nobody", "--regid", group, "--clear-groups",
                "torchwatch", "database", "gc", "--config", CONFIGURATION_FILE,
            )  # fmt: skip
            self.assertEqual(asked.returncode, status, asked.stdout + asked.stderr)

    def test_its_token_is_a_credential_that_only_it_can_read(self) -> None:
        self.start()
        for token, status in ((TOKEN, "202"), ("a-wrong-token-0000", "401")):
            asked = self.machine.run(
                "curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
                "--header", f"Authorization: Bearer {token}", "--json", "{}",
                "http://127.0.0.1:8420/api/v1/nightlies",
            )  # fmt: skip
            self.assertEqual(asked.stdout, status, self.journal())

    def test_children_run_in_a_sandbox_inside_the_unit(self) -> None:
        self.start()
        self.assertNotIn("without a sandbox", self.journal())
        self.assertNotIn("warnings", self.health())

    def test_a_kit_is_compiled_from_the_installed_sources_and_its_runs_are_stored(self) -> None:
        """Whatever the unit forbids, cmake, ninja, g++, ccache and the runner need none of it."""
        if not LIBTORCH:
            self.skipTest("configured without LibTorch")
        self.start()
        asked = self.torchwatch("compare", TREE, TREE)
        self.assertIn("has taken it on as request ", asked.stdout, asked.stderr)
        (number,) = re.findall(r"as request (\d+)", asked.stdout)
        seen = self.wait_for(
            lambda: self.became_of(number),
            lambda each: bool(each["runs"] or each["error"] or each["problems"]),
            KIT_LIMIT_S,
        )
        self.torchwatch("comparison", "cancel", str(seen["comparison"]))
        self.assertEqual((seen["error"], seen["problems"]), ("", []), self.journal())
        self.assertTrue(all(run["status"] == "ok" for run in seen["runs"]), seen)
        runners = f"stat --format %u {STATE}/builds/kits/*/torchwatch-runner"
        owners = self.machine.run("sh", "-c", runners).stdout.split()
        self.assertTrue(owners)
        self.assertTrue(all(int(owner) >= DYNAMIC_USERS for owner in owners), owners)

    def became_of(self, request: str) -> dict[str, Any]:
        """The comparison that a request led to, its runs, and what keeps it from any. No other work
        is due."""
        result = self.get(f"/api/v1/requests/{request}").get("result") or {}
        comparison = result.get("comparison")
        path = f"/api/v1/comparisons/{comparison}/runs?state=done"
        return {
            "comparison": comparison,
            "runs": [] if comparison is None else self.get(path).get("runs", []),
            "error": result.get("error", ""),
            "problems": self.health().get("problems", []),
        }

    def test_a_daemon_that_is_killed_is_started_again(self) -> None:
        self.start()
        killed = self.shown("MainPID")
        self.machine.run("kill", "-KILL", killed)
        self.wait_for(lambda: self.shown("MainPID"), lambda pid: pid not in (killed, "0"))
        self.wait_for(self.health, lambda health: health.get("status") == "ok")
        self.assertEqual(self.shown("NRestarts"), "1")

    def test_a_wrong_configuration_is_not_tried_again(self) -> None:
        edit = ("sed", "--in-place")
        self.machine.run(*edit, "s/^token_file/tokn_file/", CONFIGURATION_FILE)
        self.addCleanup(self.machine.run, *edit, "s/^tokn_file/token_file/", CONFIGURATION_FILE)
        self.machine.run("systemctl", "start", UNIT)
        self.wait_for(lambda: self.shown("ActiveState"), lambda state: state == "failed")
        self.assertEqual(self.shown("ExecMainStatus"), "2")
        self.assertEqual(self.shown("NRestarts"), "0")
        self.assertIn("tokn_file", self.journal())

    def test_stopping_is_no_failure_and_kills_nothing(self) -> None:
        self.start()
        self.assertEqual(self.machine.run("systemctl", "stop", UNIT).returncode, 0)
        self.assertEqual(self.shown("ActiveState"), "inactive", self.journal())
        self.assertEqual(self.shown("Result"), "success")
        self.assertEqual(self.shown("ExecMainStatus"), "0")


if __name__ == "__main__":
    if not shutil.which("unshare"):
        raise SystemExit("unshare is not at hand")
    unittest.main()
