"""deploy/libtorch --index: versions and wheels from the pages of a package index on loopback."""

import datetime as dt
import hashlib
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
    Members,
    Served,
    archive_members,
    archive_of,
    library,
    torch_members,
)

OF_ANOTHER_PYTHON = "cp27-cp27mu-manylinux_2_17_x86_64"
OF_ANOTHER_PLATFORM = "cp311-cp311-manylinux_2_17_s390x"


def nightly(day: int, release: str = "2.15.0", label: str = "cpu") -> str:
    return f"{release}.dev202608{day:02}+{label}"


class IndexTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.tree = Path(holder.name) / "torch"
        self.index = Index()
        self.addCleanup(self.index.close)
        self.address = self.index.url
        self.kind: list[str] = []

    def run_program(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", CHECKOUT / "deploy" / "libtorch", *self.kind, *arguments],
            env=self.index.environment() | {"TORCHWATCH_INDEX": self.address},
            check=False,
            text=True,
            capture_output=True,
        )

    def listed(self, *arguments: str) -> list[str]:
        done = self.run_program("--list", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    def fingerprints(self) -> list[str]:
        return [line.partition("\t")[2] for line in self.run_program("--list").stdout.splitlines()]

    def fetch(self, version: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run_program(
            "--version", version, "--exact", "--all-libraries", *arguments, "--into", str(self.tree)
        )

    def check_fetched(self, version: str, *arguments: str) -> None:
        done = self.fetch(version, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.tree / "build-version").read_text().strip(), version)

    def check_fails(self, done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertFalse(self.tree.exists())


class WheelIndex(IndexTest):
    def add(self, version: str, tag: str = "py3-none-any") -> Served:
        return self.index.add("torch", version, torch_members(version, ("libc10.so",)), tag=tag)

    def test_nightlies_are_listed_by_their_date_in_json_and_in_html(self) -> None:
        newest = nightly(18, "2.14.1")  # a lower version, published later
        for version in (newest, nightly(16), nightly(17)):
            self.add(version)
        expected = [nightly(16), nightly(17), newest]
        for speaks_json in (False, True):
            with self.subTest(speaks_json=speaks_json):
                self.index.speaks_json = speaks_json
                self.assertEqual(self.listed(), expected)
                self.assertTrue(all(text.startswith("sha256=") for text in self.fingerprints()))

    def test_two_builds_of_one_day_stand_in_the_order_of_their_versions(self) -> None:
        for release in ("2.15.0", "2.14.0"):
            self.add(nightly(16, release))
        self.assertEqual(self.listed(), [nightly(16, "2.14.0"), nightly(16, "2.15.0")])

    def test_a_yanked_version_and_one_of_another_flavour_are_left_out(self) -> None:
        self.add(nightly(16))
        self.add(nightly(17)).yanked = True
        self.add(nightly(18, label="cu130"))
        self.assertEqual(self.listed("--flavour", "cpu"), [nightly(16)])
        self.assertEqual(self.listed("--flavour", "cu130"), [nightly(18, label="cu130")])
        self.check_fails(self.fetch(nightly(17)), 3, "offers no build")

    def test_a_date_or_a_version_says_where_the_list_begins(self) -> None:
        for day in (15, 16, 17):
            self.add(nightly(day))
        for since in ("2026-08-16", nightly(16)):
            self.assertEqual(self.listed("--since", since), [nightly(16), nightly(17)])
        self.check_fails(
            self.run_program("--list", "--since", "yesterday"),
            1,
            'invalid date or version "yesterday"',
        )

    def test_a_wheel_of_another_python_will_do_and_one_of_another_machine_will_not(self) -> None:
        self.add(nightly(16), OF_ANOTHER_PYTHON)
        self.add(nightly(17), OF_ANOTHER_PLATFORM)
        self.assertEqual(self.listed(), [nightly(16)])
        self.check_fetched(nightly(16))

    def test_the_wheel_of_this_python_is_preferred(self) -> None:
        own = f"cp{sys.version_info.major}{sys.version_info.minor}"
        tag = f"{own}-{own}-manylinux_2_17_x86_64"
        for other in (OF_ANOTHER_PYTHON, tag):
            self.add(nightly(16), other)
        self.check_fetched(nightly(16))
        self.assertEqual(self.index.downloaded, [f"torch-{nightly(16)}-{tag}.whl"])

    def test_a_replaced_file_has_another_fingerprint_also_without_a_hash(self) -> None:
        served = self.add(nightly(16))
        (first,) = self.fingerprints()
        served.sha256 = ""
        served.uploaded = "2026-08-16T09:00:00Z"
        (second,) = self.fingerprints()
        served.uploaded = "2026-08-16T19:00:00Z"
        (third,) = self.fingerprints()
        self.assertEqual(len({first, second, third}), 3)
        self.check_fails(self.fetch(nightly(16), "--fingerprint", second), 3, "has replaced")
        self.check_fetched(nightly(16), "--fingerprint", third)

    def test_an_index_in_trouble_is_no_index_without_versions(self) -> None:
        self.add(nightly(16))
        self.index.half_written = True
        self.check_fails(self.run_program("--list"), 1, "is half written")
        self.index.speaks_json = True
        self.check_fails(self.run_program("--list"), 1, "is not a whole page of a package index")
        self.index.half_written = False
        for status in (403, 404, 500):
            self.index.statuses["/simple/torch/"] = status
            self.check_fails(self.run_program("--list"), 1, f"answers {status}", "[channel] index")
        self.index.close()
        self.check_fails(self.run_program("--list"), 1, "cannot reach http://127.0.0.1")

    def test_files_that_are_no_wheels_of_a_version_are_passed_over(self) -> None:
        self.add(nightly(16))
        for file in ("torch-2.0.tar.gz", "torch-not_a_version-py3-none-any.whl", "README"):
            self.index.wheels[file] = Served(b"", "")
            self.assertEqual(self.listed(), [nightly(16)])

    def test_a_download_that_breaks_goes_on_where_it_broke(self) -> None:
        served = self.add(nightly(16))
        served.etag = '"one"'
        file = f"torch-{nightly(16)}-py3-none-any.whl"
        self.index.cut_off[file] = 1
        self.check_fetched(nightly(16))
        half = len(served.content) // 2
        self.assertEqual(self.index.downloaded, [file, f"{file}:{half}"])

    def test_a_file_that_changed_while_it_was_fetched_is_fetched_anew(self) -> None:
        served = self.add(nightly(16))
        served.etag = 'W/"weak"'
        file = f"torch-{nightly(16)}-py3-none-any.whl"
        self.index.cut_off[file] = 1
        self.check_fetched(nightly(16))
        self.assertEqual(self.index.downloaded, [file, file])

    def test_what_has_come_is_kept_when_the_download_breaks_for_good(self) -> None:
        served = self.add(nightly(16))
        served.etag = '"one"'
        file = f"torch-{nightly(16)}-py3-none-any.whl"
        self.index.cut_off[file] = 9
        self.check_fails(self.fetch(nightly(16)), 1, "broke 5 times")
        self.index.cut_off.clear()
        self.index.downloaded.clear()
        self.check_fetched(nightly(16))
        (asked,) = self.index.downloaded
        self.assertGreater(int(asked.rpartition(":")[2]), len(served.content) // 2)

    def test_a_file_without_the_hash_that_the_index_names_is_removed(self) -> None:
        self.add(nightly(16)).sha256 = "0" * 64
        self.check_fails(self.fetch(nightly(16)), 4, "does not have the hash")
        self.assertEqual(list(self.tree.parent.rglob("*.whl*")), [])

    def test_a_file_that_the_index_names_and_the_server_lacks_may_come_later(self) -> None:
        self.add(nightly(16))
        path = f"/files/torch-{nightly(16)}-py3-none-any.whl"
        for status in (403, 404, 410, 503):
            self.index.statuses[path] = status
            self.check_fails(self.fetch(nightly(16)), 1, f"answers {status}")
        self.index.statuses.clear()
        self.check_fetched(nightly(16))


class ArchiveIndex(IndexTest):
    def setUp(self) -> None:
        super().setUp()
        self.address += "/libtorch/"
        self.kind = ["--archives"]

    def add(self, version: str, kind: str = "shared-with-deps", **members: bytes) -> Served:
        named = {name.replace("__", "/"): content for name, content in members.items()}
        return self.add_file(f"libtorch-{kind}-{version}.zip", archive_members(version) | named)

    def add_file(self, file: str, members: Members) -> Served:
        served = Served(archive_of(members), "")
        self.index.wheels[file] = served
        return served

    def test_the_archives_of_a_page_are_listed_and_become_trees(self) -> None:
        self.add(nightly(17))
        self.add(nightly(16), "cxx11-abi-shared-with-deps")
        for kind in ("shared-without-deps", "static-with-deps"):
            self.add(nightly(18), kind)
        self.add_file("libtorch-shared-with-deps-latest.zip", {})
        self.add_file("debug-libtorch-shared-with-deps-2.15.0-1a2b.zip", {})
        self.assertEqual(self.listed("--flavour", "cpu"), [nightly(16), nightly(17)])
        self.check_fetched(nightly(16))
        self.assertEqual((self.tree / "build-hash").read_text().strip(), COMMIT)
        self.assertEqual(
            sorted(str(path.relative_to(self.tree)) for path in self.tree.rglob("*.*")),
            ["include/torch/torch.h", "lib/libc10.so", "lib/libtorch_cpu.so"],
        )

    def test_a_template_of_dates_lists_the_days_that_have_an_archive(self) -> None:
        today = dt.datetime.now(dt.UTC)
        versions = [f"2.15.0.dev{today - dt.timedelta(days=ago):%Y%m%d}+cpu" for ago in (3, 2, 0)]
        for version in versions:
            self.add(version).etag = '"one"'
        root = self.index.url.rpartition("/")[0]
        self.address = f"{root}/files/libtorch-shared-with-deps-2.15.0.dev{{date}}%2Bcpu.zip"
        self.assertEqual(self.listed(), versions)
        (first, *_) = self.fingerprints()
        self.index.wheels[f"libtorch-shared-with-deps-{versions[0]}.zip"].etag = '"two"'
        self.assertNotEqual(self.fingerprints()[0], first)
        self.index.asked_for.clear()
        self.check_fetched(versions[1])
        file = f"libtorch-shared-with-deps-{versions[1]}.zip"
        self.assertEqual(self.index.asked_for, [file])  # no other day

    def test_an_archive_that_is_damaged_or_hostile_never_becomes_a_tree(self) -> None:
        good = archive_members(nightly(16))
        without = {
            name: text for name, text in good.items() if not name.endswith("libtorch_cpu.so")
        }
        file = f"libtorch-shared-with-deps-{nightly(16)}.zip"
        for members, said in (
            (good | {"libtorch/../../outside": b""}, "is not a plain file"),
            (without, "holds no torch/lib/libtorch_cpu.so"),
            (archive_members(nightly(17)), f"but says that it is {nightly(17)}"),
        ):
            with self.subTest(said):
                self.add_file(file, members)
                self.check_fails(self.fetch(nightly(16)), 4, said)
        served = self.add_file(file, good)
        served.content = served.content[: len(served.content) // 2]
        self.check_fails(self.fetch(nightly(16)), 4, "is damaged")
        self.add_file(file, good)
        self.check_fetched(nightly(16))

    def test_an_archive_for_gpus_brings_what_it_needs_or_the_machine_has_it(self) -> None:
        part = {"libtorch/lib/libtorch_cuda.so": library("libtorch_cuda.so", "libcublas.so.13")}
        self.add(nightly(16, label="cu130"), "shared-with-deps", **part)
        self.check_fails(
            self.fetch(nightly(16, label="cu130"), "--cuda"), 1, "needs libcublas.so.13, which"
        )
        part["libtorch/lib/libcublas.so.13"] = library("libcublas.so.13")
        self.add(nightly(17, label="cu130"), "shared-with-deps", **part)
        self.check_fetched(nightly(17, label="cu130"), "--cuda")


class Artifacts(IndexTest):
    def setUp(self) -> None:
        super().setUp()
        self.folder = self.tree.parent / "builds" / COMMIT
        self.folder.mkdir(parents=True)
        self.template = f"{self.folder.parent}/{{commit}}/torch.zip"

    def publish(self, members: Members, file: str = "torch.zip", sha256: str = "") -> None:
        content = archive_of(members)
        (self.folder / file).write_bytes(content)
        digest = sha256 or hashlib.sha256(content).hexdigest()
        (self.folder / f"{file}.sha256").write_text(f"{digest}  {file}\n")

    def bring(self) -> subprocess.CompletedProcess[str]:
        return self.run_program(
            "--commit", COMMIT, "--artifacts", self.template, "--into", str(self.tree)
        )

    def test_a_build_that_somebody_else_has_made_becomes_a_tree_that_says_whose_it_is(self) -> None:
        self.publish(archive_members("2.15.0a0"))
        done = self.bring()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.tree / "origin").read_text(), f"{self.folder}/torch.zip\n")
        self.assertEqual((self.tree / "build-version").read_text(), "2.15.0a0\n")

    def test_a_build_comes_from_an_address_too(self) -> None:
        content = archive_of(archive_members("2.15.0a0"))
        file = f"{COMMIT}.zip"
        self.index.wheels[file] = Served(content, "")
        digest = hashlib.sha256(content).hexdigest().encode()
        self.index.wheels[f"{file}.sha256"] = Served(digest, "")
        self.template = f"{self.index.url.rpartition('/')[0]}/files/{{commit}}.zip"
        done = self.bring()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_build_of_another_commit_or_with_another_hash_is_refused(self) -> None:
        members = archive_members("2.15.0a0")
        self.publish(members | {"libtorch/build-hash": b"a" * 40 + b"\n"})
        self.check_fails(self.bring(), 4, "was made from commit aaaa")
        self.publish(members, sha256="0" * 64)
        self.check_fails(self.bring(), 4, "does not have the hash")

    def test_a_build_or_a_hash_that_is_missing_is_not_offered(self) -> None:
        self.check_fails(self.bring(), 3, "there is no", "torch.zip.sha256")
        self.publish(archive_members("2.15.0a0"))
        (self.folder / "torch.zip").unlink()
        self.check_fails(self.bring(), 3, "there is no", "torch.zip")
        (self.folder / "torch.zip.sha256").write_text("soon")
        self.check_fails(self.bring(), 1, "holds no SHA-256")


if __name__ == "__main__":
    unittest.main()
