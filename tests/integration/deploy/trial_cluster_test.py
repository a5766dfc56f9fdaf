import os
import subprocess
import time
import unittest
from pathlib import Path

from support import DEPLOY, ScriptTest

TRIAL = DEPLOY / "cluster" / "trial"
CANNOT = 77

COMMANDS = """
set -e
srun --nodes 3 --label hostname | sort
scontrol update NodeName=n2 State=DRAIN Reason=test
until sinfo -h -N -p measure -o %T | sort | uniq -c | grep -q '2 idle'; do sleep 0.1; done
sinfo -h -N -p measure -o '%N %T'
srun --exclude n2 --nodes 2 --label hostname | sort
sbatch --parsable --wrap 'sleep 1000' --output /dev/null
squeue --noheader --format %T
"""


def processes_with(text: str) -> list[str]:
    """The command lines of this machine's processes that name the text."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        if text in line:
            found.append(line)
    return found


class TrialCluster(ScriptTest):
    def trial(self, *command: object, **options: str) -> subprocess.CompletedProcess[str]:
        cluster = self.folder / "cluster"
        call = [TRIAL, "--nodes", "3", "--folder", cluster, "--", *command]
        return self.run_script(*call, **options)

    def need_cluster(self) -> None:
        done = self.trial("true")
        if done.returncode == CANNOT:
            print(done.stderr, flush=True)
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_three_nodes_start_run_drain_and_stop_and_leave_no_process(self) -> None:
        self.need_cluster()
        done = self.trial("bash", "-c", COMMANDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:3], ["0: n1", "1: n2", "2: n3"])
        self.assertEqual(lines[3:6], ["n1 idle", "n2 drained", "n3 idle"])
        self.assertEqual(lines[6:8], ["0: n1", "1: n3"])
        self.assertIn(lines[-1], ("RUNNING", "PENDING", "CONFIGURING"))
        self.assertEqual(processes_with(str(self.folder)), [])

    def test_accounting_knows_its_accounts_and_leaves_no_process(self) -> None:
        command = "sacctmgr -nP show assoc user=root format=account,qos; sbatch --account others"
        call = [TRIAL, "--accounting", "--folder", self.folder / "cluster", "--"]
        done = self.run_script(*call, "bash", "-c", f"{command} --wrap true")
        if done.returncode == CANNOT:
            print(done.stderr, flush=True)
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.splitlines(), ["measure|low,normal", "root|normal"])
        self.assertIn("Invalid account", done.stderr)
        self.assertEqual(processes_with(str(self.folder)), [])

    def test_a_cluster_whose_script_is_killed_leaves_no_process(self) -> None:
        self.need_cluster()
        up = self.folder / "up"
        command = f"sbatch --wrap 'sleep 1000' --output /dev/null; touch {up}; sleep 1000"
        script = subprocess.Popen(
            [TRIAL, "--folder", self.folder / "cluster", "--", "bash", "-c", command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(script.wait)
        deadline = time.monotonic() + 60
        while not up.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(up.exists())
        self.assertNotEqual(processes_with(str(self.folder)), [])
        script.kill()
        script.wait()
        while processes_with(str(self.folder)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(processes_with(str(self.folder)), [])

    def test_the_status_of_the_command_is_the_script_s(self) -> None:
        self.need_cluster()
        self.assertEqual(self.trial("bash", "-c", "exit 3").returncode, 3)

    def test_a_machine_without_slurm_is_told_and_skipped_and_does_not_fail(self) -> None:
        for name in ("bash", "sed", "id"):
            (self.bin / name).symlink_to(f"/usr/bin/{name}")
        if os.geteuid() != 0:
            self.stand_in("id", "echo 0\n")
        done = self.trial("true", path=str(self.bin))
        self.assertEqual(done.returncode, CANNOT)
        self.assertIn(
            "skipped: no Slurm cluster on this machine: slurmctld is missing", done.stderr
        )
        self.assertIn("deploy/prerequisites --tests", done.stderr)

    def test_a_machine_without_accounting_has_only_clusters_without_it(self) -> None:
        for name in ("bash", "sed", "id"):
            (self.bin / name).symlink_to(f"/usr/bin/{name}")
        if os.geteuid() != 0:
            self.stand_in("id", "echo 0\n")
        for name in ("slurmctld", "slurmd", "srun", "sbatch", "ip", "unshare", "nsenter"):
            self.stand_in(name, "exit 1\n")
        without = self.run_script(TRIAL, "--", "true", path=str(self.bin))
        self.assertEqual(without.returncode, CANNOT)
        self.assertIn("the kernel refuses namespaces", without.stderr)
        done = self.run_script(TRIAL, "--accounting", "--", "true", path=str(self.bin))
        self.assertEqual(done.returncode, CANNOT)
        self.assertIn("skipped: no Slurm cluster on this machine: slurmdbd is missing", done.stderr)

    def test_the_batch_script_of_a_lane_ends_when_no_run_comes(self) -> None:
        text = (DEPLOY / "cluster" / "lane").read_text()
        first, rest = text.split("\n", 1)
        script = self.folder / "script"
        script.write_text(f"{first}\nidle=1 look=1\n{rest}")
        job = f"test-{os.getpid()}"
        done = self.run_script("timeout", "30", "sh", script, SLURM_JOB_ID=job)
        self.assertEqual(done.returncode, 0, done.stderr)
        mark = Path(f"/tmp/torchwatch-lane-{job}")  # noqa: S108, as the script has it
        self.assertFalse(mark.exists())


if __name__ == "__main__":
    unittest.main()
