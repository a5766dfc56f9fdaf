"""A build of one commit, made by a workflow of GitHub Actions. Used by libtorch.

The workflow is started with the inputs `commit` and `request`; its run-name must hold the latter,
by which the run is found again, also by a call after one that was killed. The run's artifact holds
one wheel or LibTorch archive, and may hold its SHA-256 beside it.
"""

import hashlib
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from actions_api import Github, Unsure, document_of, said_by
from checksum_file import own_hash
from download import download, sha256_of
from link import Link, hashes_in
from pip_wheels import say
from torch_tree import Extent, fill
from wheel_file import (
    UNPACKED_BYTES_MAX,
    Damaged,
    NotOffered,
    Trouble,
    check_members,
    check_space,
    copy_member,
    damage_of,
)

UNBUILDABLE_STEP = "The commit cannot be built"
LOOK_EVERY_S, LOOK_EVERY_MAX_S = 15, 120
APPEARS_WITHIN = 12  # looks for a run that was just started
HASH_BYTES_MAX = 1 << 10


class CannotBeBuilt(Trouble):
    status = 5


@dataclass(frozen=True)
class Wanted:
    """What is built where, by whom."""

    commit: str
    commits: str  # the repository that has the commit, as owner/name
    workflow: str  # its file's name
    ref: str  # the branch or tag whose workflow runs
    artifact: str  # the artifact's name
    time_limit_s: float

    def key(self, repository: str) -> str:
        parts = (repository, self.workflow, self.ref, self.artifact, self.commit)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Made:
    """An artifact as it was downloaded."""

    file: Path
    is_hashed: bool  # GitHub stated its SHA-256
    run: str  # the address of the run that made it


class Build:
    """The way from a commit to the file that Actions has made of it."""

    def __init__(self, github: Github, wanted: Wanted) -> None:
        self.github, self.wanted = github, wanted
        self.key = wanted.key(github.repository)
        self.workflow = f"actions/workflows/{quote(wanted.workflow, safe='')}"
        self.end = github.now() + wanted.time_limit_s

    def check_commit(self) -> None:
        """A commit that only this machine has, such as a revert, nobody else can build."""
        of = Github(
            self.github.api,
            self.wanted.commits,
            self.github.token,
            self.github.pause,
            self.github.now,
            self.github.wall,
        )
        answer = of.request("GET", f"commits/{self.wanted.commit}")
        if answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
            raise CannotBeBuilt(f"{self.wanted.commits} does not have it")
        if answer.status_code != HTTPStatus.OK:
            raise Trouble(f"{said_by(answer)} where {self.wanted.commits} is asked for a commit")

    def runs(self) -> list[dict[str, Any]]:
        """The runs of this build, newest first."""
        page = self.github.get(f"{self.workflow}/runs?event=workflow_dispatch&per_page=100")
        runs = page.get("workflow_runs", [])
        # A branch of the same repository may have another workflow under the same name.
        return [
            run
            for run in runs
            if self.key in str(run.get("display_title", ""))
            and run.get("head_branch") == self.wanted.ref
        ]

    def earlier_run(self, runs: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
        """The run of an earlier call, if it is at work or has made the build."""
        return next(
            (run for run in runs if run["status"] != "completed" or run["conclusion"] == "success"),
            None,
        )

    def start(self, known: set[int]) -> int:
        """Starts the workflow; the run's number. Errors: Trouble."""
        body: dict[str, Any] = {
            "ref": self.wanted.ref,
            "inputs": {"commit": self.wanted.commit, "request": self.key},
            "return_run_details": True,
        }
        try:
            answer = self.github.request("POST", f"{self.workflow}/dispatches", json=body)
            if answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
                del body["return_run_details"]  # an older server does not know it
                answer = self.github.request("POST", f"{self.workflow}/dispatches", json=body)
        except Unsure as error:
            say(f"{error}: the run may have been started")
            return self.number_of_new(known)
        if answer.status_code == HTTPStatus.OK:
            number = document_of(answer).get("workflow_run_id")
            if isinstance(number, int):
                return number
        elif answer.status_code != HTTPStatus.NO_CONTENT:
            raise Trouble(
                f"{said_by(answer)} where {self.wanted.workflow} of {self.github.repository} is "
                f"started on {self.wanted.ref}: is it there, with workflow_dispatch and the inputs "
                "commit and request?"
            )
        return self.number_of_new(known)

    def number_of_new(self, known: set[int]) -> int:
        for _ in range(APPEARS_WITHIN):
            for run in self.runs():
                if run["id"] not in known:
                    return int(run["id"])
            self.github.pause(LOOK_EVERY_S)
        raise Trouble(
            f"no run of {self.wanted.workflow} has appeared: does its run-name hold inputs.request?"
        )

    def follow(self, number: int) -> dict[str, Any]:
        """The run when it has ended. Errors: Trouble, NotOffered (it took too long)."""
        pause = float(LOOK_EVERY_S)
        while True:
            run = self.github.get(f"actions/runs/{number}")
            if run.get("status") == "completed":
                return dict(run)
            left = self.end - self.github.now()
            if left <= 0:
                self.cancel(number)
                raise NotOffered(
                    f"{run.get('html_url', number)} took longer than "
                    f"{self.wanted.time_limit_s:.0f} s and was cancelled"
                )
            self.github.pause(min(pause, left))
            pause = min(pause * 1.5, LOOK_EVERY_MAX_S)

    def cancel(self, number: int) -> None:
        try:
            self.github.request("POST", f"actions/runs/{number}/cancel")
        except Trouble as error:
            say(f"run {number} was not cancelled: {error}")

    def says_unbuildable(self, number: int) -> bool:
        """Whether the step ran that says so. A step that was skipped did not."""
        page = self.github.get(f"actions/runs/{number}/jobs?filter=latest&per_page=100")
        steps = [step for job in page.get("jobs", []) for step in job.get("steps", [])]
        return any(
            step.get("name") == UNBUILDABLE_STEP and step.get("conclusion") == "success"
            for step in steps
        )

    def artifact_of(self, number: int) -> dict[str, Any] | None:
        name = quote(self.wanted.artifact, safe="")
        page = self.github.get(f"actions/runs/{number}/artifacts?name={name}&per_page=100")
        found = [
            artifact
            for artifact in page.get("artifacts", [])
            if artifact.get("name") == self.wanted.artifact and not artifact.get("expired")
        ]
        return max(found, key=lambda artifact: artifact["id"], default=None)

    def judge(self, run: dict[str, Any]) -> None:
        """Errors: CannotBeBuilt (the workflow says so), NotOffered (else but a success)."""
        if run["conclusion"] == "success":
            return
        where = run.get("html_url", run["id"])
        if run["conclusion"] == "failure" and self.says_unbuildable(run["id"]):
            raise CannotBeBuilt(f'{where} says "{UNBUILDABLE_STEP}"')
        raise NotOffered(f"{where} ended with {run['conclusion']}")

    def bring(self, folder: Path) -> Made:
        """Errors: CannotBeBuilt, NotOffered, Damaged, Trouble."""
        self.check_commit()
        runs = self.runs()
        earlier = self.earlier_run(runs)
        made = self.made_by(earlier["id"], folder) if earlier else None
        if made:
            return made
        number = self.start({run["id"] for run in runs})
        made = self.made_by(number, folder)
        if not made:
            raise NotOffered(f"run {number} ended well and has no artifact {self.wanted.artifact}")
        return made

    def made_by(self, number: int, folder: Path) -> Made | None:
        """What the run has made when it has ended; None if it is gone."""
        run = self.follow(number)
        self.judge(run)
        return self.fetch(run, folder)

    def fetch(self, run: dict[str, Any], folder: Path) -> Made | None:
        """Downloads the run's artifact; None where it has none any more."""
        artifact = self.artifact_of(run["id"])
        if not artifact:
            return None
        size = int(artifact["size_in_bytes"])
        if size > UNPACKED_BYTES_MAX:
            raise Damaged(f"the artifact has {size} bytes, more than {UNPACKED_BYTES_MAX}")
        location = self.github.location_of(f"actions/artifacts/{artifact['id']}/zip")
        if location is None:
            return None
        digest = str(artifact.get("digest") or "").removeprefix("sha256:")
        hashes = hashes_in({"sha256": digest})
        target = folder / f"artifact-{int(artifact['id'])}.zip"
        try:
            # Without the token: the address is signed.
            download(Link(target.name, location, hashes, size), target)
        except Trouble as error:
            # No address with its signature comes into a log.
            raise type(error)(re.sub(r"(https?://[^\s?]+)\?\S*", r"\1", str(error))) from None
        if target.stat().st_size != size:
            target.unlink()
            raise Damaged(f"the artifact does not have the {size} bytes that GitHub states")
        return Made(target, bool(hashes), str(run.get("html_url", run["id"])))


def take_out(file: Path, is_hashed: bool, folder: Path) -> Path:
    """The one wheel or archive in an artifact. `is_hashed`: GitHub stated the artifact's SHA-256,
    which was right. Errors: Damaged, Trouble (no space)."""
    with damage_of(file), zipfile.ZipFile(file) as archive:
        check_members(archive)
        members = {
            member.filename: member
            for member in archive.infolist()
            if PurePosixPath(member.filename).suffix in (".whl", ".zip")
        }
        if len(members) != 1:
            raise Damaged(f"it holds {len(members)} wheels or archives instead of one")
        ((name, member),) = members.items()
        target = folder / PurePosixPath(name).name
        target.unlink(missing_ok=True)  # of a call that was killed
        check_space(archive, lambda path: target if str(path) == name else None, folder)
        copy_member(archive, member, target)
        check_hash(archive, name, target, is_hashed)
    return target


def check_hash(archive: zipfile.ZipFile, name: str, file: Path, is_hashed: bool) -> None:
    beside = f"{name}.sha256"
    if beside in archive.namelist():
        with archive.open(beside) as source:
            stated = source.read(HASH_BYTES_MAX)
        if own_hash(stated, file.name, beside) != sha256_of(file):
            raise Damaged(f"{file.name} does not have the hash that is stated beside it")
    elif not is_hashed:
        raise Damaged(f"neither GitHub nor the artifact states the SHA-256 of {file.name}")


def fill_from_actions(
    github: Github, wanted: Wanted, folder: Path, tree: Path, extent: Extent
) -> None:
    """Makes the tree of a commit. `folder`: for what is downloaded. Errors: CannotBeBuilt,
    NotOffered, Damaged, Trouble."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Build(github, wanted).bring(folder)
    file = take_out(made.file, made.is_hashed, folder)
    fill(file, None, tree, extent, is_archive=file.suffix.lower() != ".whl")
    made_from = (tree / "build-hash").read_text().strip()
    if made_from != wanted.commit:
        raise Damaged(f"{file.name} was made from commit {made_from}, not from {wanted.commit}")
    (tree / "made-by").write_text(f"{made.run}\nsha256 {sha256_of(made.file)}\n")
    say(f"made by {made.run}")
