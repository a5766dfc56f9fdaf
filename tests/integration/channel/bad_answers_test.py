"""deploy/libtorch with servers that answer what none should, and files that are none of PyTorch's:
each ends with an error that names it, and leaves nothing that is useless."""

import contextlib
import gzip
import hashlib
import io
import os
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from unittest import mock

from deploy_program import CHECKOUT, IndexTest, nightly

sys.path.insert(0, str(CHECKOUT / "deploy" / "fetching"))

import download as downloads
import web_request
from artifact import bring, content_at, hash_at
from download import download
from index_page import read_links
from link import Link
from raw_answers import Answer, Answers
from wheel_file import Damaged, Trouble
from wheel_index import archive_members, archive_of, torch_members, wheel_of

BYTES = b"0123456789"
Body = bytes | Callable[..., None]


class BadAnswers(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.answers = Answers()
        self.addCleanup(self.answers.close)

    def put(self, path: str, body: Body = b"", **more: object) -> str:
        """Has the path answered; "_" stands for "-" in the names of headers. Returns its
        address."""
        status = more.pop("status", 200)
        headers = {name.replace("_", "-"): str(value) for name, value in more.items()}
        self.answers.by_path[path] = Answer(body, headers, status)  # type: ignore[arg-type]
        return self.answers.url + path

    def check_left(self, *names: str) -> None:
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), sorted(names))

    def check_page(self, said: str, body: Body = b"", **more: object) -> None:
        address = self.put("/torch/", body, **more)
        with self.subTest(said), self.assertRaisesRegex(Trouble, said):
            read_links(address)

    def test_a_page_with_an_answer_that_makes_no_sense_is_named(self) -> None:
        for length in ("abc", "²", "-5", "9" * 30):
            self.check_page("torch/ states the length ", b"<html></html>", Content_Length=length)
        self.check_page("not an address", status=302, Location="http://[bad/")
        self.check_page("cannot reach", status=302, Location="http://127.0.0.1:99999999/")
        with self.assertRaisesRegex(Trouble, r"cannot reach http://\[bad/"):
            read_links("http://me:secret@[bad/")
        with self.assertRaisesRegex(Trouble, "has 20011 letters, more than 8192"):
            read_links(f"http://h.example/{'d' * 20_000}"[:20_011])

    def test_a_page_that_is_packed_twice_is_not_unpacked(self) -> None:
        bomb = gzip.compress(gzip.compress(bytes(10 << 20)))
        self.check_page("coded as 'gzip, gzip'", bomb, Content_Encoding="gzip, gzip")
        self.check_page("coded as 'br'", b"x", Content_Encoding="br")
        self.assertEqual(self.answers.asked[-1][1]["Accept-Encoding"], "identity")

    def test_a_page_that_is_packed_once_is_unpacked_up_to_its_limit(self) -> None:
        page = gzip.compress(b'<html><a href="x.whl">x</a></html>')
        (link,) = read_links(self.put("/torch/", page, Content_Encoding="gzip"))
        self.assertEqual(link.file, "x.whl")
        blanks = gzip.compress(bytes(200 << 20), 1)
        self.check_page("is longer than 64 MiB", blanks, Content_Encoding="gzip")

    def test_the_body_of_a_redirect_is_not_read(self) -> None:
        self.put("/next", b"<html></html>")

        def endless(write: Callable[[bytes], object]) -> None:
            while True:
                write(bytes(1 << 16))

        address = self.put("/torch/", endless, status=302, Location="/next")
        self.assertEqual(read_links(address), [])

    def test_a_page_that_comes_byte_by_byte_has_a_limit_of_time(self) -> None:
        def drip(write: Callable[[bytes], object]) -> None:
            for _ in range(100):
                write(b" ")
                time.sleep(0.1)

        begun = time.monotonic()
        with mock.patch.object(web_request, "PAGE_S_MAX", 1):
            self.check_page("has not come within 1 s: is the server slow", drip)
            address = self.put("/x.sha256", drip)
            with self.assertRaisesRegex(Trouble, "x.sha256 has not come within"):
                content_at(address, 100)
        self.assertLess(time.monotonic() - begun, 8)

    def link(self, body: Body = BYTES, **more: object) -> Link:
        return Link("x.whl", self.put("/x.whl", body, **more))

    def check_download(self, said: str, link: Link, kind: type[Exception] = Trouble) -> None:
        with self.subTest(said), self.assertRaisesRegex(kind, said):
            download(link, self.folder / "x.whl")
        self.check_left()

    def test_an_answer_that_is_no_file_is_named_and_leaves_nothing(self) -> None:
        self.check_download("states the length '²'", self.link(Content_Length="²"))
        part = self.link(status=206, Content_Range="bytes 0-9/10")
        self.check_download("answers with a part, and all of it was asked for", part)
        self.check_download("answers 416", self.link(status=416))
        self.check_download("not an address", self.link(status=302, Location="http://[bad/"))

    def test_a_file_without_a_length_ends_where_the_disk_or_the_limit_does(self) -> None:
        with mock.patch.object(downloads, "FILE_BYTES_MAX", 5):
            self.check_download("x.whl is larger than 0 MB", self.link(), Damaged)
            self.check_download("more than the 0 GiB", self.link(Content_Length=10), Damaged)
        with mock.patch.dict(os.environ, TORCHWATCH_DISK_RESERVE="9" * 17):
            self.check_download("must stay free: free some space", self.link())

    def test_a_disk_that_is_full_keeps_nothing_of_a_download(self) -> None:
        for number in downloads.DISK_IS_FULL:
            full = mock.patch.object(Path, "open", side_effect=OSError(number, "full"))
            with full, self.assertRaises(OSError):
                download(self.link(), self.folder / "x.whl")
            self.check_left()

    def test_a_file_of_an_earlier_call_is_used_if_it_is_the_one_that_is_named(self) -> None:
        target = self.folder / "x.whl"
        right = {"sha256": hashlib.sha256(BYTES).hexdigest()}
        address = self.put("/x.whl", BYTES)
        for content, asked in ((b"another", 1), (BYTES, 0)):
            target.write_bytes(content)
            self.answers.asked.clear()
            download(Link("x.whl", address, right), target)
            self.assertEqual(target.read_bytes(), BYTES)
            self.assertEqual(len(self.answers.asked), asked)

    def test_without_a_hash_the_file_of_an_earlier_call_must_be_said_to_be_the_same(self) -> None:
        target = self.folder / "x.whl"
        address = self.put("/x.whl", BYTES)
        for uploaded, asked in (("one", 1), ("one", 0), ("two", 1)):
            self.answers.asked.clear()
            download(Link("x.whl", address, uploaded=uploaded), target)
            self.assertEqual(len(self.answers.asked), asked, uploaded)

    def test_what_lies_beside_an_artifact_must_be_a_small_file(self) -> None:
        file = self.folder / "x.zip"
        beside = self.folder / "x.zip.sha256"
        for make, said in (
            (os.mkfifo, "is not a regular file"),
            (os.mkdir, "is not a regular file"),
            (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
            (lambda path: path.write_bytes(bytes(70_000)), "is longer than 64 KiB"),
        ):
            make(beside)
            with self.subTest(said), self.assertRaisesRegex(Trouble, f"x.zip.sha256 {said}"):
                hash_at(str(file))
            beside.rmdir() if beside.is_dir() else beside.unlink()
        beside.write_text("0" * 64)
        for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")):
            make(file)
            with self.assertRaisesRegex(Trouble, r"x.zip is not a regular file: put"):
                bring(str(file), self.folder / "into")
            file.rmdir() if file.is_dir() else file.unlink()


class BadFiles(IndexTest):
    """What is damaged is refused for good: "unavailable" would fetch it again for ever."""

    def test_an_archive_that_says_what_it_is_in_no_letters_is_damaged(self) -> None:
        self.kind = ["--archives"]
        self.address += "/libtorch/"
        file = f"libtorch-shared-with-deps-{nightly(16)}.zip"
        served = self.index.wheels[file] = self.index.add("libtorch", "1", {})
        for name, content, said in (
            ("build-version", b"2.1\xff\n", "says that it is version"),
            ("build-version", b"2.1\x1b[31m\n", "says that it is version"),
            ("build-hash", b"\xff" * 40, "names no commit"),
        ):
            members = archive_members(nightly(16)) | {f"libtorch/{name}": content}
            served.content, served.sha256 = archive_of(members), ""
            self.check_fails(self.fetch(nightly(16)), 4, said)

    def test_a_wheel_whose_metadata_is_not_ascii_is_damaged_or_unsuitable(self) -> None:
        members = torch_members(nightly(16), ("libc10.so",))
        info = f"torch-{nightly(16)}.dist-info"
        tag = "Wheel-Version: 1.0\nTag: py3-néne-any\n".encode()
        for more, requires, option, status in (
            ({}, ["Requires-Dist: numpé"], "--cuda", 4),
            ({f"{info}/WHEEL": tag}, [], "--python", 6),
            ({"torch/cuda.partial": b"x", "torch/__init__.py": b""}, [], "--cuda", 4),
        ):
            content = wheel_of("torch", nightly(16), members | more, requires=requires)
            served = self.index.add("torch", nightly(16), {})
            served.content, served.sha256 = content, ""
            options = [option, "--python"] if "torch/cuda.partial" in more else [option]
            self.check_fails(self.fetch(nightly(16), *options), status, f"torch-{nightly(16)}")

    def test_a_library_that_needs_one_of_any_bytes_is_named(self) -> None:
        members = torch_members(nightly(16), ("libc10.so",))
        cpu = members["torch/lib/libtorch_cpu.so"]
        members["torch/lib/libtorch_cpu.so"] = cpu.replace(b"libc10.so", b"lib\xff\x1b0.so")
        self.index.add("torch", nightly(16), members)
        self.check_fails(self.fetch(nightly(16)), 1, "needs lib�\\x1b0.so, which this machine")

    def test_an_error_without_words_of_its_own_names_the_index_and_no_password(self) -> None:
        loader = SourceFileLoader("libtorch", str(CHECKOUT / "deploy" / "libtorch"))
        program = module_from_spec(spec_from_loader("libtorch", loader))  # type: ignore[arg-type]
        loader.exec_module(program)
        said = io.StringIO()
        with (
            mock.patch.object(program, "list_versions", side_effect=KeyError("a\x1b")),
            mock.patch.object(sys, "argv", ["x", "--list", "--index", "http://me:secret@h/"]),
            contextlib.redirect_stderr(said),
        ):
            self.assertEqual(program.main(), 1)
        self.assertIn("error: cannot use what http://h/ offers: KeyError", said.getvalue())
        self.assertTrue(said.getvalue().strip().isprintable())


if __name__ == "__main__":
    unittest.main()
