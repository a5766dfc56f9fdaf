"""deploy/libtorch --actions: a build of a commit that a workflow of GitHub Actions makes."""

import copy
import hashlib
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deploy_program import CHECKOUT

# isort: split

from pip._vendor import requests

from actions_api import Github
from actions_build import Build, CannotBeBuilt, Wanted, fill_from_actions
from fake_actions import REPOSITORY, SIGNATURE, TOKEN, FakeActions, Run, zip_of
from torch_tree import Extent
from wheel_file import Damaged, NotOffered, Trouble
from wheel_index import COMMIT, archive_members, archive_of

STEP = {"name": "The commit cannot be built", "conclusion": "success"}


def artifact(members: dict[str, bytes] | None = None) -> bytes:
    return zip_of({"libtorch.zip": archive_of(members or archive_members("2.15.0a0"))})


class Time:
    """Passes when somebody waits."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0
        self.pauses: list[float] = []
        self.during: Callable[[], object] = lambda: None

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds
        self.during()

    def now(self) -> float:
        return self.seconds


class ActionsBuilds(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.github = FakeActions()
        self.addCleanup(self.check_described)
        self.addCleanup(self.github.close)
        self.github.next.artifact = artifact()
        self.time = Time()
        self.token = TOKEN
        self.calls = 0

    def check_described(self) -> None:
        """What GitHub does not describe fails each test."""
        self.assertEqual(self.github.violations(), [])

    def wanted(self) -> Wanted:
        return Wanted(COMMIT, "owner/source", "build.yml", "main", "libtorch", 3600)

    def build(self) -> Path:
        """The tree."""
        self.calls += 1
        tree = self.folder / f"tree-{self.calls}"
        tree.mkdir()
        github = Github(
            self.github.url, REPOSITORY, self.token, self.time.pause, self.time.now, self.time.now
        )
        wheels = self.folder / f"wheels-{self.calls}"
        fill_from_actions(github, self.wanted(), wheels, tree, Extent())
        return tree

    def fails(self, kind: type[Trouble], *words: str) -> None:
        with self.assertRaises(Trouble) as caught:
            self.build()
        self.assertIs(type(caught.exception), kind, caught.exception)
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertNotIn(TOKEN, str(caught.exception))
        self.assertNotIn(SIGNATURE, str(caught.exception))

    def test_a_build_is_asked_for_waited_for_and_becomes_a_tree_that_says_who_made_it(self) -> None:
        tree = self.build()
        self.assertEqual((tree / "build-hash").read_text(), f"{COMMIT}\n")
        made_by = (tree / "made-by").read_text()
        digest = hashlib.sha256(self.github.next.artifact or b"").hexdigest()
        self.assertIn(f"/{REPOSITORY}/actions/runs/1\nsha256 {digest}\n", made_by)
        self.assertEqual(self.github.runs[0].inputs["commit"], COMMIT)
        self.assertEqual(self.github.tokens_at_store, [""], "the token goes to GitHub alone")

    def test_a_start_names_the_commit_and_by_what_its_run_is_found(self) -> None:
        self.build()
        (body,) = self.github.dispatched
        key = self.wanted().key(REPOSITORY)
        self.assertEqual(body["ref"], "main")
        self.assertEqual(body["inputs"], {"commit": COMMIT, "request": key})

    def test_what_github_does_not_describe_is_found(self) -> None:
        self.build()
        self.assertGreater(len(self.github.exchanges), 5, "every request is judged")
        self.assertEqual(self.github.violations(), [])
        planted: list[tuple[str, Callable[[dict[str, Any], dict[str, Any]], object]]] = [
            ("is not described", lambda asked, _: asked.update(path="/repos/owner/builds/runs")),
            ('"colour" is not described', lambda asked, _: asked.update(query=[["colour", "red"]])),
            ("is a required property", lambda _, answer: answer.update(body="{}")),
            ("is no JSON", lambda _, answer: answer.update(body="<html>")),
        ]
        right = self.github.exchanges
        (artifacts,) = [each for each in right if each["request"]["path"].endswith("/artifacts")]
        for said, plant in planted:
            wrong = copy.deepcopy(artifacts)
            plant(wrong["request"], wrong["response"])
            self.github.exchanges = [wrong]
            found = self.github.violations()
            self.assertTrue(any(said in each for each in found), (said, found))
        self.github.exchanges = right

    def test_a_request_without_the_version_of_the_api_is_found(self) -> None:
        answer = requests.get(f"{self.github.url}/repos/{REPOSITORY}/actions/runs/1", timeout=10)
        self.assertEqual(answer.status_code, 401)
        (version,) = [each for each in self.github.violations() if "X-GitHub-Api-Version" in each]
        self.assertIn("is not once '2022-11-28'", version)
        self.github.wrong_headers.clear()

    def test_where_github_names_no_run_it_is_found_by_its_name(self) -> None:
        other = Run(1, {"request": "somebody else's"}, looks_left=0)
        self.github.runs.append(other)
        self.github.returns_details = False
        self.github.hidden_looks = 3
        self.build()
        self.assertEqual(len(self.github.runs), 2)

    def test_an_older_server_that_cannot_name_the_run_is_asked_as_it_understands(self) -> None:
        self.github.knows_details = False
        self.build()
        self.assertEqual(len(self.github.runs), 1)

    def test_a_start_whose_answer_was_lost_is_not_repeated(self) -> None:
        self.github.lost_dispatches = 1
        self.github.hidden_looks = 2
        self.build()
        self.assertEqual(len(self.github.runs), 1)

    def test_a_call_after_one_that_was_killed_takes_up_its_run(self) -> None:
        key = self.wanted().key(REPOSITORY)
        going = Run(1, {"request": key}, looks_left=5, artifact=artifact())
        self.github.runs.append(going)
        self.build()
        self.build()
        self.assertEqual(self.github.runs, [going])

    def test_a_run_on_another_branch_is_not_taken_for_this_build(self) -> None:
        key = self.wanted().key(REPOSITORY)
        self.github.runs.append(Run(1, {"request": key}, looks_left=0, ref="evil"))
        self.build()
        self.assertEqual(len(self.github.runs), 2)

    def test_a_build_whose_artifact_has_expired_is_made_again(self) -> None:
        key = self.wanted().key(REPOSITORY)
        self.github.runs.append(Run(1, {"request": key}, looks_left=0, expired=True))
        self.build()
        self.assertEqual(len(self.github.runs), 2)

    def test_only_the_named_step_says_that_a_commit_cannot_be_built(self) -> None:
        self.github.next.conclusion = "failure"
        self.github.next.steps = [STEP]
        self.fails(CannotBeBuilt, "The commit cannot be built")
        for steps in ([], [STEP | {"conclusion": "skipped"}], [STEP | {"name": "Build"}]):
            self.github.next.steps = steps
            self.fails(NotOffered, "ended with failure")
        self.github.next.steps = [STEP]
        for conclusion in ("cancelled", "timed_out", "startup_failure", "action_required", "stale"):
            self.github.next.conclusion = conclusion
            self.fails(NotOffered, f"ended with {conclusion}")

    def test_a_run_that_failed_is_started_anew_by_the_next_call(self) -> None:
        self.github.next.conclusion = "failure"
        self.fails(NotOffered)
        self.github.next.conclusion = "success"
        self.build()
        self.assertEqual(len(self.github.runs), 2)

    def test_a_commit_that_github_does_not_have_cannot_be_built_there(self) -> None:
        self.github.unknown_commits = {COMMIT}
        self.fails(CannotBeBuilt, "owner/source does not have it")
        self.assertEqual(self.github.runs, [])

    def test_a_run_that_takes_too_long_is_cancelled(self) -> None:
        self.github.next.looks_left = 10_000
        self.fails(NotOffered, "took longer than 3600 s and was cancelled")
        self.assertTrue(self.github.runs[0].is_cancelled)
        self.assertLess(len(self.time.pauses), 100, "it is looked at with growing pauses")

    def test_a_run_without_the_artifact_is_no_build(self) -> None:
        self.github.next.artifact = None
        self.fails(NotOffered, "has no artifact libtorch")

    def test_a_limit_is_waited_for_and_a_long_one_by_the_service(self) -> None:
        self.github.faults = [(429, {"Retry-After": "30"}), (403, {"Retry-After": "40"})]
        self.build()
        self.assertEqual(self.time.pauses[:2], [30, 40])
        reset = str(int(self.time.seconds) + 200)
        self.github.runs.clear()
        self.time.pauses.clear()
        self.github.faults = [(403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset})]
        self.build()
        self.assertAlmostEqual(self.time.pauses[0], 201, delta=1)
        self.github.faults = [(403, {"Retry-After": "3600"})]
        self.fails(Trouble, "its limit lasts 3600 s more")

    def test_an_outage_is_outlived_and_a_long_one_is_the_machines_fault(self) -> None:
        self.github.faults = [(503, {}), (503, {}), (503, {}), (503, {}), (0, {})]
        self.build()
        self.github.faults = [(503, {})] * 100
        self.fails(Trouble, "GitHub answers 503")
        self.github.faults = []

    def test_a_token_that_may_not_is_the_machines_fault(self) -> None:
        self.token = "ghp_wrong"  # noqa: S105
        self.fails(Trouble, "401", "needs Actions: read and write")
        self.token = TOKEN
        self.github.faults = [(404, {})] * 1
        self.fails(Trouble, "404")

    def check_damaged(self, content: bytes, *words: str) -> None:
        self.github.next.artifact = content
        self.github.runs.clear()
        self.fails(Damaged, *words)

    def test_an_artifact_that_is_not_what_it_should_be_is_refused(self) -> None:
        members = archive_members("2.15.0a0")
        other = members | {"libtorch/build-hash": b"a" * 40 + b"\n"}
        self.check_damaged(artifact(other), "was made from commit aaaa")
        self.check_damaged(b"no zip", "is damaged")
        self.check_damaged(zip_of({"a.txt": b""}), "0 wheels or archives")
        archive = archive_of(members)
        self.check_damaged(zip_of({"a.zip": archive, "b/b.zip": archive}), "2 wheels or archives")
        self.check_damaged(zip_of({"../a.zip": archive}), "not a plain file")
        wrong = {"libtorch.zip": archive, "libtorch.zip.sha256": b"0" * 64}
        self.check_damaged(zip_of(wrong), "does not have the hash that is stated beside it")
        evil = members | {"../../evil": b"x"}
        self.check_damaged(artifact(evil), "not a plain file")

    def test_the_hash_comes_from_github_or_from_the_artifact(self) -> None:
        self.github.states_digest = False
        self.check_damaged(artifact(), "neither GitHub nor the artifact states the SHA-256")
        archive = archive_of(archive_members("2.15.0a0"))
        digest = hashlib.sha256(archive).hexdigest().encode()
        self.github.runs.clear()
        self.github.next.artifact = zip_of({"x.zip": archive, "x.zip.sha256": digest})
        self.build()

    def test_an_artifact_of_another_size_or_hash_than_github_states_is_refused(self) -> None:
        self.github.stated_size = 5
        self.check_damaged(artifact())
        self.github.stated_size = 13 << 30
        self.check_damaged(artifact(), "more than")
        self.github.stated_size = None
        self.github.states_digest = True
        right = FakeActions.artifacts

        def lying(run: Run) -> list[dict[str, Any]]:
            return [one | {"digest": "sha256:" + "0" * 64} for one in right(self.github, run)]

        self.github.artifacts = lying  # type: ignore[method-assign]
        self.check_damaged(artifact(), "does not have the hash")

    def test_a_download_leads_to_https_or_stays_on_its_host(self) -> None:
        for target in ("http://evil.example/x", "file:///etc/passwd", "ftp://127.0.0.1/x"):
            self.github.downloads_redirect_to = target
            self.fails(Trouble, "a redirect is followed to https alone")

    def test_the_program_builds_by_its_options_and_says_by_its_status_what_happened(self) -> None:
        def run() -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [
                    sys.executable, "-I", CHECKOUT / "deploy" / "libtorch", "--commit", COMMIT,
                    "--actions", REPOSITORY, "--api", self.github.url,
                    "--into", self.folder / "torch",
                ],
                env={"TORCHWATCH_ACTIONS_TOKEN": TOKEN, "PATH": "/usr/bin:/bin"},
                check=False, text=True, capture_output=True,
            )  # fmt: skip

        self.github.next.conclusion = "failure"
        self.github.next.looks_left = 0
        self.github.next.steps = [STEP]
        done = run()
        self.assertEqual(done.returncode, 5, done.stderr)
        self.github.next = Run(0, {}, looks_left=0, artifact=artifact())
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "torch" / "made-by").exists())
        self.assertNotIn(TOKEN, done.stdout + done.stderr)

    def test_other_settings_make_another_build(self) -> None:
        github = Github(self.github.url, REPOSITORY, TOKEN)
        one = Build(github, self.wanted()).key
        other = Wanted("b" * 40, "owner/source", "build.yml", "main", "libtorch", 3600)
        self.assertNotEqual(one, Build(github, other).key)


if __name__ == "__main__":
    unittest.main()
