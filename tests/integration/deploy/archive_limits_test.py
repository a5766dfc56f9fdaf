"""What an archive may hold: docs/reliability.md, "Archives and downloads"."""

import io
import sys
import unittest
import zipfile
from unittest import mock

from support import CHECKOUT, DEPLOY, ScriptTest

sys.path.insert(0, str(CHECKOUT / "tests" / "support"))
sys.path.insert(0, str(DEPLOY / "fetching"))

import wheel_file
from wheel_file import Damaged, check_members, damage_of
from wheel_index import Members

BLANKS = bytes(17 << 20)  # more than may grow freely


class ArchiveLimits(ScriptTest):
    def packed(self, members: Members, kind: int = zipfile.ZIP_STORED) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", kind) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return file.getvalue()

    def check(self, content: bytes) -> None:
        file = self.folder / "a.zip"
        file.write_bytes(content)
        with damage_of(file), zipfile.ZipFile(file) as archive:
            check_members(archive)

    def check_refused(self, content: bytes, said: str) -> None:
        with self.assertRaisesRegex(Damaged, said):
            self.check(content)

    def test_what_wheels_of_pytorch_have_passes(self) -> None:
        deep = "/".join(["torch", *"abcdefghijklmnop", "n" * 255])
        small = {"torch/": b"", "torch/Tensor.h": b"", deep: bytes(1 << 20)}
        self.check(self.packed(small, zipfile.ZIP_DEFLATED))
        self.check(self.packed({f"torch/{number}": b"" for number in range(20_000)}))

    def test_a_zero_byte_in_a_name_refuses_it(self) -> None:
        """zipfile cuts the name there, so that it would be taken for another file's."""
        content = self.packed({"lib/a.so_.txt": b""}).replace(b"a.so_", b"a.so\0")
        self.check_refused(content, "entry 'lib/a.so' has a zero byte in its name")

    def test_a_part_of_a_path_that_no_file_system_takes_refuses_it(self) -> None:
        self.check_refused(self.packed({f"lib/{'ä' * 128}/a": b""}), "a part of more than 255 b")

    def test_two_names_that_differ_in_case_only_refuse_it(self) -> None:
        content = self.packed({"lib/a.so": b"", "lib/A.so": b""})
        self.check_refused(content, "entry 'lib/A.so' differs from 'lib/a.so' in case only")

    def test_more_entries_than_any_wheel_has_refuse_it(self) -> None:
        content = self.packed({f"share/{number}": b"" for number in range(50_001)})
        self.check_refused(content, "it has 50001 entries, more than 50000")

    def test_folders_that_are_too_deep_refuse_it(self) -> None:
        self.check(self.packed({"d/" * 32 + "a": b""}))
        self.check_refused(self.packed({"d/" * 33 + "a": b""}), "lies more than 32 folders deep")

    def test_an_entry_that_grows_beyond_measure_refuses_it(self) -> None:
        content = self.packed({"lib/a.so": BLANKS}, zipfile.ZIP_DEFLATED)
        self.check_refused(content, "entry 'lib/a.so' would grow more than 200 times")

    def test_many_small_entries_that_grow_beyond_measure_refuse_it(self) -> None:
        blanks = {f"share/{number}": BLANKS[: 6 << 20] for number in range(3)}
        content = self.packed(blanks, zipfile.ZIP_DEFLATED)
        self.check_refused(content, "it would grow more than 200 times, to 18 MiB")

    def test_more_than_a_disk_is_asked_for_refuses_it(self) -> None:
        with mock.patch.object(wheel_file, "UNPACKED_BYTES_MAX", 1 << 20):
            self.check_refused(self.packed({"a": BLANKS}), "it would unpack to 0 GiB, more than")

    def test_whatever_a_damaged_file_makes_the_libraries_raise_is_damage(self) -> None:
        file = self.folder / "a.zip"
        for error in (RecursionError(), KeyError("a"), TypeError("no text"), UnicodeError("ä")):
            with self.assertRaisesRegex(Damaged, r"a\.zip is damaged"), damage_of(file):
                raise error


if __name__ == "__main__":
    unittest.main()
