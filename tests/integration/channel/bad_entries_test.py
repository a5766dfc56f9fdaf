"""deploy/libtorch --list: one bad entry of an index is named and stops no other."""

import contextlib
import datetime as dt
import hashlib
import io
import json
import sys
import unittest

from deploy_program import CHECKOUT, IndexTest, nightly

sys.path.insert(0, str(CHECKOUT / "deploy" / "fetching"))

import named_index
from archive_index import archives
from index_page import SIMPLE
from link import LeftOut, Link, is_same_file
from package_index import wheels_for_this_machine
from raw_answers import Answer, Answers
from versions import Offered, version_of
from wheel_file import Damaged, Trouble
from wheel_index import torch_members, wheel_of
from wheel_metadata import check_tags

GOOD = "torch-2.13.0+cpu-py3-none-any.whl"
OTHER = "torch-2.14.0-py3-none-any.whl"
JSON = {"Content-Type": f"{SIMPLE}.simple.v1+json"}


def page_in_json(*files: object) -> Answer:
    good = {"filename": GOOD, "url": f"/f/{GOOD}", "hashes": {"sha256": "a" * 64}, "size": 5}
    page = {"meta": {"api-version": "1.1"}, "name": "torch", "files": [*files, good]}
    return Answer(json.dumps(page).encode(), JSON)


def page_in_html(*links: str) -> Answer:
    lines = [f'<a href="{link}">x</a>' for link in (*links, f"/f/{GOOD}#sha256={'a' * 64}")]
    return Answer(f"<html><body>{''.join(lines)}</body></html>".encode())


def entry(**facts: object) -> dict[str, object]:
    return {"filename": OTHER, "url": f"/f/{OTHER}", "hashes": {}} | facts


class BadEntries(unittest.TestCase):
    def setUp(self) -> None:
        self.answers = Answers()
        self.addCleanup(self.answers.close)

    def listed(self, page: Answer) -> tuple[list[str], str]:
        """What is listed of a page, and what is noted."""
        self.answers.by_path["/torch/"] = page
        notes = io.StringIO()
        with contextlib.redirect_stderr(notes):
            offers = wheels_for_this_machine(self.answers.url, "")
            named = [f"{one.version} {one.link.fingerprint()}" for one in offers]
        return [line.partition(" ")[0] for line in named], notes.getvalue()

    def check_left_out(self, page: Answer, *said: str) -> None:
        with self.subTest(said[0]):
            versions, notes = self.listed(page)
            self.assertEqual(versions, ["2.13.0+cpu"])
            for words in ("is left out: ", *said):
                self.assertIn(words, notes)
            self.assertEqual(notes.count("\n"), 1)

    def test_a_bad_entry_in_json_is_left_out_and_named(self) -> None:
        for facts, said in (
            ({"filename": None}, "its name must be a text"),
            ({"filename": 5}, "its name must be a text"),
            ({"filename": f"torch-2.14.0-py3-none-{'n' * 250}.whl"}, "more than 255 bytes"),
            ({"filename": "torch-2.14.0-py3-none-\0.whl"}, "that can be printed"),
            ({"url": 5}, "its address must be a text"),
            ({"url": "x\ud800"}, "its address is invalid"),
            ({"url": "http://[bad/x"}, "Invalid IPv6 URL"),
            ({"url": f"/{'d' * 9000}/x"}, "letters, more than 8192"),
            ({"upload-time": 12}, "its upload time 12 must be"),
            ({"upload-time": "soon\n"}, "its upload time"),
            ({"hashes": [1]}, "its hashes must have names"),
            ({"hashes": {"sha256": 12}}, "its sha256 '12' is not of 64 hexadecimal digits"),
            ({"hashes": {"sha512": "a" * 64}}, "is not of 128 hexadecimal digits"),
            ({"size": "12"}, "its size '12' must be a number"),
            ({"size": -1}, "its size -1 must be a number"),
            ({"size": True}, "its size True must be a number"),
        ):
            self.check_left_out(page_in_json(entry(**facts)), said)
        no_address = entry()
        del no_address["url"]
        self.check_left_out(page_in_json(no_address), "it has no url", OTHER)
        for none in (None, 5, "torch", [entry()]):
            self.check_left_out(page_in_json(none), "note: ")

    def test_a_bad_link_in_html_is_left_out_also_one_of_another_package(self) -> None:
        self.check_left_out(page_in_html("http://[bad/numpy-1.0-py3-none-any.whl"), "numpy", "IPv6")
        self.check_left_out(page_in_html(f"http://h:99999/{OTHER}"), "Port out of range")
        self.check_left_out(page_in_html(f"{OTHER}#sha256=zz"), "its sha256 'zz' is not of 64")
        for digits in ("2." + "1" * 5000, "2.1-" + "1" * 5000):
            name = f"torch-{digits}-py3-none-any.whl"
            self.check_left_out(page_in_html(name), "its name has more than 255 bytes")

    def test_many_bad_entries_are_counted_and_not_all_named(self) -> None:
        versions, notes = self.listed(page_in_json(*[None] * 1000))
        self.assertEqual(versions, ["2.13.0+cpu"])
        self.assertEqual(notes.count("\n"), 6)
        self.assertIn("995 more are left out", notes)

    def test_a_note_is_one_line_whatever_an_entry_says(self) -> None:
        notes = io.StringIO()
        with contextlib.redirect_stderr(notes):
            LeftOut("http://h/").note("a\n2.99.0\tx", "b\n2.99.0\tpath=x\nerror: c")
        self.assertEqual(notes.getvalue().count("\n"), 1)
        self.assertNotIn("\t", notes.getvalue())

    def test_what_says_no_hash_at_all_is_listed_as_before(self) -> None:
        for hashes in (None, {}, {"sha256": None}, {"md5": "zz"}):
            versions, notes = self.listed(page_in_json(entry(hashes=hashes, size=None)))
            self.assertEqual((versions, notes), (["2.13.0+cpu", "2.14.0"], ""))

    def test_a_page_that_is_nested_without_end_is_no_page(self) -> None:
        body = b'{"meta":{},"files":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
        for page in (body, b'{"files":{}}', b"[]", b'{"meta":{}}'):
            with self.assertRaisesRegex(Trouble, r"/torch/ is not a .*page of a package index"):
                self.listed(Answer(page, JSON))

    def test_a_name_that_stands_for_millions_of_tags_is_left_out(self) -> None:
        tags = "-".join(".".join(f"a{number}" for number in range(18)) for _ in range(3))
        self.check_left_out(page_in_html(f"torch-2.1-{tags}.whl"), "its tags stand for 5832")
        check_tags(["cp37.cp38.cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64"] * 100)
        with self.assertRaises(Damaged):
            check_tags(["cp37.cp38-abi3.none-any"] * 300)

    def test_other_hashes_than_sha256_are_named_and_decide(self) -> None:
        one, other = "a" * 128, "b" * 128
        link = Link("x.whl", "http://h/x.whl", {"sha512": one})
        self.assertIn(f"sha512={one}", link.fingerprint())
        self.assertTrue(is_same_file(f"sha512={one};time=1", f"sha512={one};time=2"))
        self.assertFalse(is_same_file(f"sha512={one};time=1", f"sha512={other};time=1"))
        self.listed(page_in_html(f"/f/{OTHER}#sha512={one.upper()}"))
        (found, _) = wheels_for_this_machine(self.answers.url, "")[::-1]
        self.assertEqual(found.link.hashes, {"sha512": one})

    def test_of_a_list_that_is_too_long_the_newest_are_printed(self) -> None:
        link = Link("x.whl", f"http://h/{'d' * 8000}")
        offers = [Offered(version_of(f"1.{number}"), link) for number in range(1200)]
        lines = named_index.newest_lines(offers)
        self.assertLess(len(lines), 1200)
        self.assertTrue(lines[-1].startswith("1.1199\t"))
        self.assertLessEqual(sum(len(line) + 1 for line in lines), named_index.LIST_BYTES_MAX)


class BadDays(unittest.TestCase):
    def setUp(self) -> None:
        self.answers = Answers()
        self.addCleanup(self.answers.close)
        self.template = f"{self.answers.url}/libtorch-shared-with-deps-2.15.0.dev{{date}}%2Bcpu.zip"

    def answer_day(self, ago: int, answer: Answer) -> None:
        day = dt.datetime.now(dt.UTC) - dt.timedelta(days=ago)
        path = self.template.replace("{date}", f"{day:%Y%m%d}").removeprefix(self.answers.url)
        self.answers.by_path[path] = answer

    def listed(self) -> tuple[int, str]:
        notes = io.StringIO()
        with contextlib.redirect_stderr(notes):
            return len(archives(self.template, "cpu")), notes.getvalue()

    def test_a_day_that_is_answered_badly_stops_no_other(self) -> None:
        self.answer_day(1, Answer(b"", {"Content-Length": "5", "ETag": '"one"'}))
        self.answer_day(2, Answer(b"", status=500))
        self.answer_day(3, Answer(b"", {"Content-Length": "abc"}))
        self.answer_day(4, Answer(b"", {"Location": "http://[bad/"}, 302))
        self.answer_day(5, Answer(b"", {"Content-Length": "7", "ETag": "\x85"}))
        count, notes = self.listed()
        self.assertEqual(count, 1)
        for said in ("answers 500", "states the length 'abc'", "not an address", "upload time"):
            self.assertIn(said, notes)

    def test_where_no_day_is_answered_well_the_first_error_is_told(self) -> None:
        self.answer_day(2, Answer(b"", status=500))
        with self.assertRaisesRegex(Trouble, "answers 500"):
            self.listed()


class HashesOfFiles(IndexTest):
    def test_a_file_is_checked_by_the_hash_that_the_index_names_whichever_it_is(self) -> None:
        version = nightly(16)
        content = wheel_of("torch", version, torch_members(version, ("libc10.so",)))
        served = self.index.add("torch", version, {})
        served.content, served.sha256 = content, ""
        page = self.index.page_of("torch").decode()
        right = hashlib.sha512(content).hexdigest()
        for digest, status in (("0" * 128, 4), (right, 0)):
            named = page.replace('.whl"', f'.whl#sha512={digest}"')
            self.index.pages["/simple/torch/"] = named
            done = self.fetch(version)
            self.assertEqual(done.returncode, status, done.stderr)


if __name__ == "__main__":
    unittest.main()
