"""deploy/libtorch --archives: LibTorch's archives of a page or of a template of dates."""

import datetime as dt
import hashlib
import shutil
import unittest

from deploy_program import IndexTest, nightly
from wheel_index import COMMIT, Members, Served, archive_members, archive_of, library


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

    def pytorchs_page(self, *files: str) -> None:
        """PyTorch's page of archives: sorted links alone, nothing around them, a bare + in them."""
        lines = sorted(f'<a href="/files/{file}">{file}</a><br/>' for file in files)
        self.index.pages["/simple/libtorch/"] = "\n".join(lines)

    def test_a_page_of_links_alone_is_whole_if_it_has_its_length(self) -> None:
        for day in (16, 17):
            self.add(nightly(day))
        self.pytorchs_page(*self.index.wheels, "libtorch-shared-with-deps-latest.zip")
        self.assertEqual(self.listed(), [nightly(16), nightly(17)])
        self.check_fetched(nightly(17))
        self.index.half_written = True
        self.check_half_written("was cut off after")
        self.index.half_written = False
        self.index.pages["/simple/libtorch/"] = (
            "<html><body>" + self.index.pages["/simple/libtorch/"]
        )
        self.check_half_written("is half written: it has no </html>")

    def check_half_written(self, said: str) -> None:
        done = self.run_program("--list")
        self.assertEqual(done.returncode, 1)
        self.assertIn(said, done.stderr)

    def test_of_two_archives_of_a_version_that_of_the_new_abi_is_taken_at_every_poll(self) -> None:
        new = f"libtorch-cxx11-abi-shared-with-deps-{nightly(16)}.zip"
        self.add(nightly(16), "cxx11-abi-shared-with-deps")
        self.add(nightly(16))
        polls = []
        for _ in range(3):
            self.assertEqual(self.listed(), [nightly(16)])
            polls.append(self.fingerprints())
            self.index.wheels = dict(reversed(self.index.wheels.items()))
        self.assertEqual(polls, polls[:1] * 3)
        self.check_fetched(nightly(16), "--fingerprint", polls[0][0])
        self.assertEqual(self.index.downloaded, [new])

    def test_an_archive_that_breaks_goes_on_where_it_broke(self) -> None:
        served = self.add(nightly(16))
        served.etag = '"one"'
        (file,) = self.index.wheels
        self.index.cut_off[file] = 1
        self.check_fetched(nightly(16))
        half = len(served.content) // 2
        self.assertEqual(self.index.downloaded, [file, f"{file}:{half}"])

    def test_an_archive_without_the_hash_that_the_page_names_is_removed(self) -> None:
        served = self.add(nightly(16))
        served.sha256 = "0" * 64
        self.check_fails(self.fetch(nightly(16)), 4, "does not have the hash")
        self.assertEqual(list(self.tree.parent.rglob("*.zip*")), [])
        served.sha256 = hashlib.sha256(served.content).hexdigest()
        self.check_fetched(nightly(16))

    def test_the_size_of_a_page_tells_that_an_archive_broke_or_is_too_long(self) -> None:
        self.index.states_length = False
        self.index.speaks_json = True
        served = self.add(nightly(16))
        served.etag = '"one"'
        (file,) = self.index.wheels
        self.index.cut_off[file] = 1
        self.check_fetched(nightly(16))
        self.assertEqual(self.index.downloaded, [file, f"{file}:{len(served.content) // 2}"])
        shutil.rmtree(self.tree)
        served.size = len(served.content) - 1
        self.check_fails(self.fetch(nightly(16)), 4, "has more than the")
        self.index.states_length = True  # of what it sends, which is not what the page says
        for size in (-1, 1):
            served.size = len(served.content) + size
            self.check_fails(self.fetch(nightly(16)), 4, f"not the {served.size} that the index")

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
        shutil.rmtree(self.tree)
        self.address = self.address.replace("2.15.0", "2.51.0")
        self.check_fails(self.run_program("--list"), 1, "has none of the last 60 days")

    def test_a_template_is_asked_for_no_day_before_since(self) -> None:
        today = dt.datetime.now(dt.UTC)
        for ago in (3, 2, 0):
            self.add(f"2.15.0.dev{today - dt.timedelta(days=ago):%Y%m%d}+cpu")
        root = self.index.url.rpartition("/")[0]
        self.address = f"{root}/files/libtorch-shared-with-deps-2.15.0.dev{{date}}%2Bcpu.zip"
        since = f"{today - dt.timedelta(days=2):%Y-%m-%d}"
        self.index.asked_for.clear()
        self.assertEqual(len(self.listed("--since", since)), 2)
        self.assertEqual(len(self.index.asked_for), 3)
        self.index.wheels.clear()  # on its first days nothing may be there yet
        self.assertEqual(self.listed("--since", since), [])

    def test_an_archive_that_is_replaced_on_a_page_of_links_alone_is_known_by_its_server(
        self,
    ) -> None:
        served = [self.add(nightly(day)) for day in (14, 15, 16, 17)]
        for one in served:
            one.etag = '"one"'
        self.pytorchs_page(*self.index.wheels)
        before = self.fingerprints()
        served[3].etag = '"two"'
        served[0].etag = '"two"'  # is not asked for: it is not one of the newest
        after = self.fingerprints()
        self.assertEqual([a == b for a, b in zip(before, after, strict=True)], [True] * 3 + [False])
        self.check_fetched(nightly(17), "--fingerprint", after[3])
        shutil.rmtree(self.tree)
        self.check_fails(self.fetch(nightly(17), "--fingerprint", before[3]), 3, "has replaced")

    def test_a_page_without_an_archive_of_the_flavour_says_which_it_has(self) -> None:
        self.add(nightly(16))
        self.check_fails(self.run_program("--list", "--flavour", "cu131"), 1, "have cpu")

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
            (good | {"libtorch/build-hash": b"main\n"}, "its build-hash names no commit"),
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


if __name__ == "__main__":
    unittest.main()
