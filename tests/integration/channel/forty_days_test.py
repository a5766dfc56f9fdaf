"""A daemon with a scripted runner follows an index for forty days, with what happens to one."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(CHECKOUT / "tests" / "support"))

from wheel_index import Index, Served, torch_members  # noqa: E402

DAYS = 40
KEPT_BY_THE_INDEX = 12
OTHER_PYTHON = "cp27-cp27mu-manylinux_2_17_x86_64"
OTHER_MACHINE = "cp311-cp311-manylinux_2_17_s390x"


def real_parts() -> dict[str, bytes]:
    """What of the LibTorch at hand is small: all but libtorch_cpu.so and most of the headers."""
    if not os.environ["TORCHWATCH_LIBTORCH"]:
        return {}
    tree = Path(os.environ["TORCHWATCH_LIBTORCH"])
    names = [f"lib/{name}" for name in ("libc10.so", "libtorch.so")]
    names += [str(path.relative_to(tree)) for path in (tree / "include/c10/macros").glob("*.h")]
    return {f"torch/{name}": (tree / name).read_bytes() for name in names}


def make_repository(folder: Path) -> list[str]:
    """A trunk of commits and the branch of nightlies made from them, as PyTorch has them. Returns
    the shas of the branch's commits."""
    blob = "blob\nmark :1\ndata 5\ntext\n\n"
    stream = [blob]
    who = "A Developer <a@example.org>"
    for number in range(1, DAYS + 1):
        subject = f"Change {number}"
        stream.append(
            f"commit refs/heads/main\nmark :{number + 1}\ncommitter {who} {1754000000 + number} "
            f"+0000\ndata {len(subject)}\n{subject}\nM 100644 :1 file{number}\n"
        )
    git = ["git", f"--git-dir={folder}"]
    subprocess.run(["git", "init", "--quiet", "--bare", "-b", "main", folder], check=True)
    subprocess.run([*git, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)
    trunk = subprocess.run(
        [*git, "rev-list", "--reverse", "main"], check=True, text=True, capture_output=True
    ).stdout.split()
    return [nightly_commit(git, sha, day) for day, sha in enumerate(trunk)]


def nightly_commit(git: list[str], trunk: str, day: int) -> str:
    names = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (
            ("NAME", "A"),
            ("EMAIL", "a@example.org"),
            ("DATE", f"{1754000000 + day} +0000"),
        )
    }
    subject = f"2026-08-{day:02} nightly release ({trunk})"
    return subprocess.run(
        [*git, "commit-tree", f"{trunk}^{{tree}}", "-m", subject],
        check=True,
        text=True,
        capture_output=True,
        env=os.environ | names,
    ).stdout.strip()


def version_of(day: int, release: str = "2.15.0") -> str:
    return f"{release}.dev{20260800 + day if day <= 31 else 20260900 + day - 31}+cpu"


class Followed:
    """The daemon, and the index that it follows."""

    def __init__(self, folder: Path) -> None:
        self.index = Index()
        self.parts = real_parts()
        self.commits = make_repository(folder / "pytorch.git")
        (folder / "nightlies").mkdir()
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # of the channel's python3
        reading, writing = os.pipe()
        self.process = subprocess.Popen(
            [
                os.environ["TORCHWATCH_FOLLOW_INDEX"],
                folder,
                self.index.url,
            ],
            env=self.index.environment() | {"PATH": path},
            stdin=reading,
            stdout=subprocess.PIPE,
            text=True,
        )
        os.close(reading)
        self.orders = os.fdopen(writing, "w")

    def close(self) -> None:
        self.orders.close()
        self.process.communicate()
        self.index.close()

    def publish(self, day: int, release: str = "2.15.0", **wheel: Any) -> Served:
        """Publishes the nightly of a day, one that can be compared unless it is damaged."""
        version = version_of(day, release)
        text = wheel.pop("text", "")
        members = torch_members(version, ("libc10.so",), self.commits[day - 1]) | self.parts
        members["torch/lib/behaviour"] = f"noise 0.01\n{wheel.pop('behaviour', '')}\n".encode()
        members["torch/lib/libtorch.so"] += f"{version} {text}".encode()
        if wheel.pop("damaged", False):
            del members["torch/lib/libtorch_cpu.so"]
        served = self.index.add("torch", version, members, **wheel)
        self.retire()
        return served

    def retire(self) -> None:
        """The index names its newest versions only."""
        for file in list(self.index.wheels)[:-KEPT_BY_THE_INDEX]:
            del self.index.wheels[file]

    def pass_time(self, hours: int = 24) -> Any:
        self.orders.write(f"{hours}\n")
        self.orders.flush()
        answers = self.process.stdout
        return json.loads(answers.readline()) if answers else None


class FortyDays(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.followed = Followed(Path(holder.name))
        self.addCleanup(self.followed.close)
        self.index = self.followed.index
        self.good_ones: list[str] = []  # versions that can be compared, in order
        self.pairs: list[tuple[str, str]] = []  # that must have a verdict: baseline, candidate

    def good(self, day: int, release: str = "2.15.0", **wheel: Any) -> Served:
        """Publishes a nightly that can be compared with the one before it."""
        served = self.followed.publish(day, release, **wheel)
        version = version_of(day, release)
        before = [good for good in self.good_ones if good != version]
        if before:
            self.pairs.append((before[-1], version))
        self.good_ones = [*before, version]
        return served

    def comes_late(self, day: int, release: str = "2.15.0") -> None:
        """Expects that version, which is there now, before the newest one: that follows another
        one now, so it has a second verdict."""
        version = version_of(day, release)
        self.pairs += [(self.good_ones[-2], version), (version, self.good_ones[-1])]
        self.good_ones.insert(-1, version)

    def problems_of(self, state: Any, source: str) -> str:
        return "\n".join(p["detail"] for p in state["problems"] if p["source"] == source)

    def path_of_newest(self) -> str:
        return f"/files/{list(self.index.wheels)[-1]}"

    def check(self, state: Any) -> None:
        """Each pair of versions that follow one another has one verdict."""
        names = {build["id"]: build["name"] for build in state["builds"]}
        judged = sorted(
            (row for row in state["comparisons"] if row["verdicts"] > 0), key=lambda row: row["id"]
        )
        found = [(names.get(row["baseline"]), names[row["candidate"]]) for row in judged]
        self.assertEqual(found, self.pairs)
        pairs = [(row["baseline"], row["candidate"]) for row in judged]
        self.assertEqual(len(pairs), len(set(pairs)))
        waiting = [row for row in state["comparisons"] if row["state"] == "discovered"]
        self.assertEqual(waiting, [])

    def server_is_down(self, day: int) -> None:
        self.index.statuses["/simple/torch/"] = 503
        self.good(day)
        state = self.followed.pass_time()
        self.assertIn("answers 503", self.problems_of(state, "channel"))
        self.index.statuses.clear()

    def page_is_half_written(self, day: int) -> None:
        self.good(day)
        self.index.half_written = True
        state = self.followed.pass_time(1)
        self.assertIn("half written", self.problems_of(state, "channel"))
        self.index.half_written = False
        self.assertEqual(self.problems_of(self.followed.pass_time(1), "channel"), "")

    def json_page_is_half_written(self, day: int) -> None:
        self.good(day)
        self.index.speaks_json = self.index.half_written = True
        state = self.followed.pass_time(1)
        self.assertIn("not a whole page", self.problems_of(state, "channel"))
        self.index.half_written = False
        self.assertEqual(self.problems_of(self.followed.pass_time(1), "channel"), "")
        self.index.speaks_json = False

    def page_names_a_file_before_it_is_there(self, day: int) -> None:
        self.good(day)
        self.index.statuses[self.path_of_newest()] = 404
        self.followed.pass_time(1)
        self.index.statuses.clear()

    def file_before_the_newest_is_missing_for_a_while(self, day: int) -> None:
        self.followed.publish(day, "2.14.1")
        missing = self.path_of_newest()
        self.index.statuses[missing] = 404
        self.good(day)
        self.followed.pass_time(1)
        self.index.statuses.clear()
        self.comes_late(day, "2.14.1")

    def page_names_no_hash(self, day: int) -> None:
        self.good(day).sha256 = ""

    def nightly_of_two_days_ago_comes(self, day: int) -> None:
        self.followed.publish(day - 2)
        self.comes_late(day - 2)
        self.good(day)

    def nightly_is_yanked_after_it_was_compared(self, day: int) -> None:
        served = self.good(day)
        self.followed.pass_time(1)
        served.yanked = True
        self.good_ones.pop()

    def second_nightly_of_a_commit_is_slower(self, day: int) -> None:
        self.good(day, release="2.14.1")
        self.good(day, behaviour="time dlrm cpu-infer 1.5")
        self.slower = self.pairs[-1]

    def wheel_is_damaged_for_good(self, day: int) -> None:
        self.followed.publish(day, damaged=True)

    def wheel_is_damaged_and_then_replaced(self, day: int) -> None:
        self.followed.publish(day, damaged=True)
        downloads = len(self.index.downloaded)
        self.followed.pass_time(1)
        self.followed.pass_time(1)
        self.assertEqual(len(self.index.downloaded), downloads + 1)
        self.good(day)

    def page_names_another_hash_for_a_while(self, day: int) -> None:
        served = self.good(day)
        right, served.sha256 = served.sha256, "0" * 64
        self.followed.pass_time(1)
        served.sha256 = right

    def download_breaks(self, day: int) -> None:
        self.good(day).etag = '"one"'
        self.index.cut_off[self.path_of_newest().rpartition("/")[2]] = 3

    def wheel_is_for_another_machine(self, day: int) -> None:
        self.followed.publish(day, tag=OTHER_MACHINE)

    def wheel_is_for_another_python(self, day: int) -> None:
        self.good(day, tag=OTHER_PYTHON)

    def nightly_is_yanked_at_once(self, day: int) -> None:
        self.followed.publish(day).yanked = True

    def two_builds_come_on_one_day(self, day: int) -> None:
        self.good(day, release="2.14.1")
        self.good(day)

    def nightly_is_replaced_after_it_was_compared(self, day: int) -> None:
        self.good(day)
        self.followed.pass_time(1)
        self.good(day, text="again")

    def nothing_comes(self, day: int) -> None:
        pass

    def check_incidents(self, state: Any) -> None:
        """The one change of the forty days has one incident, which its comparison opened."""
        names = {build["id"]: build["name"] for build in state["builds"]}
        rows = {row["id"]: row for row in state["comparisons"]}
        found = [rows[incident["comparison"]] for incident in state["incidents"]]
        pairs = [(names[row["baseline"]], names[row["candidate"]]) for row in found]
        self.assertEqual(pairs, [self.slower])

    def test_each_pair_that_can_be_compared_has_exactly_one_verdict(self) -> None:
        for day in range(1, 8):  # before the service began
            self.followed.publish(day)
        self.good(8)
        self.good(9)
        state = self.followed.pass_time()
        self.assertEqual(len(state["builds"]), 2, state)
        faults: dict[int, Callable[[int], object]] = {
            10: self.nothing_comes,
            11: self.nothing_comes,
            12: self.server_is_down,
            14: self.page_is_half_written,
            16: self.page_names_a_file_before_it_is_there,
            18: self.wheel_is_damaged_for_good,
            20: self.wheel_is_damaged_and_then_replaced,
            22: self.page_names_another_hash_for_a_while,
            24: self.download_breaks,
            26: self.wheel_is_for_another_machine,
            28: self.wheel_is_for_another_python,
            30: self.nightly_is_yanked_at_once,
            31: self.json_page_is_half_written,
            32: self.two_builds_come_on_one_day,
            33: self.file_before_the_newest_is_missing_for_a_while,
            34: self.nightly_is_replaced_after_it_was_compared,
            35: self.page_names_no_hash,
            36: self.nothing_comes,
            38: self.nightly_of_two_days_ago_comes,
            39: self.nightly_is_yanked_after_it_was_compared,
            40: self.second_nightly_of_a_commit_is_slower,
        }
        for day in range(10, DAYS + 1):
            if day in faults:
                faults[day](day)
            else:
                self.good(day)
            state = self.followed.pass_time()
        self.check(state)
        self.check_incidents(state)
        self.assertEqual([build["state"] for build in state["builds"]].count("rejected"), 1)
        trunk = {build["trunk_commit"] for build in state["builds"] if build["state"] == "ready"}
        self.assertEqual(trunk & set(self.followed.commits), set())  # they are the trunk's


if __name__ == "__main__":
    unittest.main()
