"""deploy/libtorch --index: versions and wheels from the pages of a package index on loopback."""

import datetime as dt
import shutil
import sys
import unittest

from deploy_program import IndexTest, nightly
from wheel_index import Index, Served, torch_members

OF_ANOTHER_PYTHON = "cp27-cp27mu-manylinux_2_17_x86_64"
OF_ANOTHER_PLATFORM = "cp311-cp311-manylinux_2_17_s390x"


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

    def test_an_index_that_has_nothing_for_this_machine_or_label_says_what_it_has(self) -> None:
        self.add(nightly(16), OF_ANOTHER_PLATFORM)
        said = ("has 1 wheels of torch, and none for this machine", "is the address right")
        self.check_fails(self.run_program("--list"), 1, *said)
        self.add(nightly(17))
        self.add(nightly(18, label="cu130"))
        listed = self.run_program("--list", "--flavour", "cu131")
        self.check_fails(listed, 1, "with the label cu131; those that are have cpu, cu130")

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

    def test_an_index_that_begins_to_say_more_has_the_same_files(self) -> None:
        served = self.add(nightly(16))
        digest, served.sha256 = served.sha256, ""
        (bare,) = self.fingerprints()
        self.index.speaks_json = True
        served.sha256 = digest
        (whole,) = self.fingerprints()
        self.assertNotEqual(bare, whole)
        self.check_fetched(nightly(16), "--fingerprint", bare)
        shutil.rmtree(self.tree)
        self.check_fetched(nightly(16), "--fingerprint", f"sha256={digest}")
        shutil.rmtree(self.tree)
        self.check_fails(
            self.fetch(nightly(16), "--fingerprint", f"sha256={'0' * 64}"), 3, "has replaced"
        )

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

    def test_of_several_builds_of_a_version_the_highest_number_is_taken(self) -> None:
        for number in ("", "9-", "12-", "10-"):
            self.add(nightly(16), f"{number}py3-none-any")
        (told,) = self.fingerprints()
        self.check_fetched(nightly(16), "--fingerprint", told)
        self.assertEqual(self.index.downloaded, [f"torch-{nightly(16)}-12-py3-none-any.whl"])

    def test_a_version_waits_a_day_for_the_wheel_of_this_python_where_the_one_before_has_it(
        self,
    ) -> None:
        """PyTorch's wheels of a day come one by one over hours. To take the first that will do,
        and that of this Python later, would be two builds of one nightly."""
        version = f"cp{sys.version_info.major}{sys.version_info.minor}"
        own = f"{version}-{version}-manylinux_2_17_x86_64"
        now = dt.datetime.now(dt.UTC)
        for day, tag, hours in (
            (16, own, 60),
            (17, OF_ANOTHER_PYTHON, 30),
            (18, own, 20),
            (19, OF_ANOTHER_PYTHON, 2),
        ):
            uploaded = now - dt.timedelta(hours=hours)
            self.add(nightly(day), tag).uploaded = f"{uploaded:%Y-%m-%dT%H:%M:%SZ}"
        waits = [nightly(16), nightly(17), nightly(18)]
        self.assertEqual(self.listed(), waits)
        self.check_fetched(nightly(19))  # whoever names it need not wait
        newest = self.index.wheels[f"torch-{nightly(19)}-{OF_ANOTHER_PYTHON}.whl"]
        for unknown in ("", "soon"):
            newest.uploaded = unknown
            self.assertEqual(self.listed(), [*waits, nightly(19)])
        newest.uploaded = f"{now}"
        self.assertEqual(self.listed(), waits)
        self.add(nightly(19), own)
        self.assertEqual(self.listed(), [*waits, nightly(19)])
        # Several in a row wait, but none where the index has had none of this Python lately.
        for day in range(20, 28):
            self.add(nightly(day), OF_ANOTHER_PYTHON).uploaded = f"{now}"
        self.assertEqual(self.listed(), [*waits, nightly(19), nightly(27)])

    def test_of_wheels_of_other_pythons_the_first_that_came_stays_the_one_that_is_taken(
        self,
    ) -> None:
        for hour, python in ((9, "cp38"), (11, "cp37"), (10, "cp39")):
            tag = f"{python}-{python}-manylinux_2_17_x86_64"
            self.add(nightly(16), tag).uploaded = f"2026-08-16T{hour:02}:00:00Z"
            (told,) = self.fingerprints()
            self.assertIn("cp38", told)

    def test_a_file_whose_name_leads_out_of_its_folder_is_passed_over(self) -> None:
        self.add(nightly(16))
        name = f"torch-{nightly(17)}-1/../../../../outside-py3-none-any.whl"
        self.index.wheels[name] = self.index.wheels[f"torch-{nightly(16)}-py3-none-any.whl"]
        for speaks_json in (False, True):
            self.index.speaks_json = speaks_json
            self.assertEqual(self.listed(), [nightly(16)])

    def test_another_package_on_the_page_is_passed_over(self) -> None:
        self.add(nightly(16))
        other = f"torch_cuda-{nightly(17)}-py3-none-any.whl"
        page = self.index.page_of("torch").decode()
        self.index.pages["/simple/torch/"] = page.replace(
            "</body>", f'<a href="/files/{other}">{other}</a></body>'
        )
        self.assertEqual(self.listed(), [nightly(16)])

    def test_pytorchs_own_page_is_read_whose_files_lie_on_another_server(self) -> None:
        """The form that its generator writes: no hash of a nightly, "+" as %2B, a last comment."""
        files = Index()
        self.addCleanup(files.close)
        lines = []
        for day in (16, 17):
            name = f"torch-{nightly(day)}-cp311-cp311-manylinux_2_17_x86_64.whl"
            files.add("torch", nightly(day), torch_members(nightly(day), ("libc10.so",)))
            files.wheels[name] = files.wheels.pop(f"torch-{nightly(day)}-py3-none-any.whl")
            root = files.url.rpartition("/")[0]
            lines.append(
                f'    <a href="{root}/files/{name.replace("+", "%2B")}" '
                'data-dist-info-metadata="sha256=12ab" data-core-metadata="sha256=12ab" '
                f'data-upload-time="2026-08-{day}T10:04:05Z">{name}</a><br/>'
            )
        head = "<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for torch</h1>\n"
        end = "\n  </body>\n</html>\n<!--TIMESTAMP 1786874645-->"
        self.index.pages["/simple/torch/"] = head + "\n".join(lines) + end
        self.assertEqual(self.listed("--flavour", "cpu"), [nightly(16), nightly(17)])
        (first, second) = self.fingerprints()
        self.assertIn("time=2026-08-16", first)
        self.check_fetched(nightly(17), "--fingerprint", second)
        self.assertEqual(self.index.downloaded, [])

    def test_a_page_in_json_says_what_was_yanked_why_and_writes_addresses_as_it_likes(self) -> None:
        self.index.speaks_json = True
        self.index.writes_plus = True  # in addresses, where stores of files take it for a blank
        self.add(nightly(16)).sha256 = self.add(nightly(16)).sha256.upper()
        self.add(nightly(17)).yanked = "broken"
        self.assertEqual(self.listed(), [nightly(16)])
        self.check_fetched(nightly(16))

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


if __name__ == "__main__":
    unittest.main()
