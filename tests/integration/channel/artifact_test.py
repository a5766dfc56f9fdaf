"""deploy/libtorch --artifacts: a build of a commit that somebody else has made."""

import hashlib
import shutil
import subprocess
import sys
import unittest

from deploy_program import CHECKOUT, IndexTest

sys.path.insert(0, str(CHECKOUT / "deploy" / "fetching"))

from checksum_file import own_hash
from raw_answers import Answer, Answers
from web_request import check_redirect
from wheel_file import Trouble
from wheel_index import COMMIT, Members, Served, archive_members, archive_of


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

    def serve(self, **files: bytes) -> None:
        """Publishes files at an address; "_" stands for a point in their names."""
        for name, content in files.items():
            self.index.wheels[name.replace("_", ".")] = Served(content, "")
        self.template = f"{self.index.url.rpartition('/')[0]}/files/{{commit}}.zip"

    def test_the_hash_may_stand_in_the_sums_of_the_folder(self) -> None:
        content = archive_of(archive_members("2.15.0a0"))
        digest, other = hashlib.sha256(content).hexdigest(), "0" * 64
        sums = f"{other}  a-{COMMIT}.zip\n{digest} *{COMMIT}.zip\r\n{other}  {COMMIT}.zip.asc\n"
        self.serve(**{f"{COMMIT}_zip": content, "SHA256SUMS": sums.encode()})
        done = self.bring()
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.rmtree(self.tree)
        self.template = f"{self.folder.parent}/{{commit}}/torch.zip"
        (self.folder / "torch.zip").write_bytes(content)
        (self.folder / "SHA256SUMS").write_text(f"{digest}  ./torch.zip\n")
        done = self.bring()
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.rmtree(self.tree)
        (self.folder / "SHA256SUMS").write_text(f"{other}  torch.zip\n")
        self.check_fails(self.bring(), 4, "does not have the hash")
        (self.folder / "SHA256SUMS").write_text(f"{digest}  other.zip\n")
        self.check_fails(self.bring(), 3, "SHA256SUMS does not name the file")

    def test_a_hash_is_read_in_every_form_that_programs_write(self) -> None:
        content = archive_of(archive_members("2.15.0a0"))
        digest, other = hashlib.sha256(content).hexdigest(), "0" * 64
        for text in (
            digest,
            f"{digest.upper()}  other.zip\n",
            f"{digest} *torch.zip\r\n",
            f"{other}  other.zip\n{digest}  build/torch.zip\n",
            f"SHA256 (torch.zip) = {digest}\n",
            f"SHA2-256(./torch.zip)= {digest}\n",
        ):
            for encoding in ("utf-8", "utf-8-sig", "utf-16"):
                with self.subTest(text, encoding=encoding):
                    self.assertEqual(own_hash(text.encode(encoding), "torch.zip", "x"), digest)

    def test_a_hash_that_might_be_of_another_file_is_not_taken(self) -> None:
        digest, other = "a" * 64, "b" * 64
        forms = '64 hexadecimal digits alone, or a line "DIGITS  torch.zip"'
        for text, said in (
            ("", forms),
            (f"{digest}a", forms),
            (f"{digest}  one.zip\n{other}  two.zip\n", forms),
            (f"{digest}\n{other}\n", forms),
            (f"{digest}  torch.zip\n{other}  torch.zip\n", "names 2 SHA-256 for torch.zip"),
        ):
            with self.subTest(text), self.assertRaisesRegex(Trouble, said):
                own_hash(text.encode(), "torch.zip", "x")

    def test_what_follows_a_question_mark_stays_behind_the_name_of_the_hash(self) -> None:
        content = archive_of(archive_members("2.15.0a0"))
        digest = hashlib.sha256(content).hexdigest().encode()
        answers = Answers()
        self.addCleanup(answers.close)
        self.template = f"{answers.url}/{{commit}}.zip?x=/1"
        answers.by_path[f"/{COMMIT}.zip?x=/1"] = Answer(content)
        for beside, text in (
            (f"/{COMMIT}.zip.sha256?x=/1", digest),
            ("/SHA256SUMS?x=/1", digest + f"  {COMMIT}.zip\n".encode()),
        ):
            answers.by_path[beside] = Answer(text)
            done = self.bring()
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = f"{answers.url}/{COMMIT}.zip"
            self.assertEqual((self.tree / "origin").read_text(), f"{shown}\n")
            shutil.rmtree(self.tree)
            del answers.by_path[beside]
            missing = self.bring()
            self.assertIn(f"there is no {shown}.sha256, and no", missing.stderr)
            self.assertNotIn("x=/1", missing.stdout + missing.stderr)

    def test_a_template_that_is_no_address_of_a_file_is_named(self) -> None:
        for self.template, said in (
            ("https://[bad/{commit}.zip", "is not an address"),
            ("https://h.example/{commit}/", "names no file: see [build] artifacts"),
        ):
            self.check_fails(self.bring(), 1, said)

    def test_a_redirect_that_leaves_the_host_without_tls_is_not_followed(self) -> None:
        content = archive_of(archive_members("2.15.0a0"))
        digest = hashlib.sha256(content).hexdigest().encode()
        self.serve(build_zip=content, build_zip_sha256=digest)
        hash_path, path = f"/files/{COMMIT}.zip.sha256", f"/files/{COMMIT}.zip"
        self.index.redirects = {hash_path: "/files/build.zip.sha256", path: "/files/build.zip"}
        done = self.bring()
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.rmtree(self.tree)
        for moved in (path, hash_path):
            kept = self.index.redirects[moved]
            for target in ("http://builds.example/a", "ftp://127.0.0.1/a", "file:///etc/passwd"):
                self.index.redirects[moved] = target
                self.check_fails(self.bring(), 1, "a redirect is followed to https alone")
            self.index.redirects[moved] = kept

    def test_a_redirect_leads_from_https_to_https_alone(self) -> None:
        check_redirect("https://a.example/x", "https://b.example/y")
        check_redirect("http://a.example/x", "https://b.example/y")
        for target in ("http://a.example/x", "http://127.0.0.1/x"):
            with self.assertRaises(Trouble):
                check_redirect("https://a.example/x", target)

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
