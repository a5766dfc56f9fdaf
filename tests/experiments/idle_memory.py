#!/usr/bin/env python3
"""Measures the memory of a daemon that waits, with a long history of commits beside it.

    idle_memory.py TORCHWATCH [--commits N] [--nightlies N] [--polls N] [--json]

TORCHWATCH is the program. Makes a repository of N commits on one branch, packed, with messages of
1,300 bytes as PyTorch's are, and a channel of nightlies that name commits spread over it; their
libraries are stand-ins, so that their comparisons end without a run. Lets the daemon look at both
until it has polled that often, and prints the memory that is its own and all that counts as its
(VmRSS) as /proc states them, in MB of 1,000,000 bytes.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

MESSAGE = "what was changed and why, at the length that such texts have. " * 21


def history(commits: int) -> Iterator[bytes]:
    """Yields a stream for git fast-import."""
    for number in range(commits):
        text = f"commit {number}\n\n{MESSAGE}".encode()
        yield b"commit refs/heads/main\n"
        yield f"committer A Developer <dev@example.org> {1_600_000_000 + number} +0000\n".encode()
        yield b"data %d\n%s\n" % (len(text), text)
        yield b"M 644 inline file\ndata 8\n%08d\n" % number


def make_repository(folder: Path, commits: int) -> list[str]:
    """Makes the repository; returns its commits, oldest first."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", folder], check=True)
    git = ["git", "-C", str(folder)]
    stream = b"".join(history(commits))
    subprocess.run([*git, "fast-import", "--quiet"], input=stream, check=True)
    subprocess.run([*git, "gc", "--quiet"], check=True)
    listed = subprocess.run(
        [*git, "rev-list", "--first-parent", "--reverse", "main"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return listed.stdout.split()


def any_library() -> Path:
    """Finds a shared library of this machine's kind: one that this process has loaded."""
    found = re.search(r"(/\S+/libc\.so\S*)", Path("/proc/self/maps").read_text())
    if found is None:
        sys.exit("idle_memory.py: no shared C library is loaded; use a dynamically linked Python")
    return Path(found.group(1))


def make_nightly(folder: Path, commit: str) -> None:
    (folder / "lib").mkdir(parents=True)
    (folder / "include").mkdir()
    for name in ("libtorch.so", "libtorch_cpu.so", "libc10.so"):
        shutil.copy(any_library(), folder / "lib" / name)
    (folder / "build-version").write_text("2.13.0\n")
    (folder / "build-hash").write_text(commit + "\n")


def make_service(folder: Path, commits: int, nightlies: int) -> Path:
    """Makes repository, channel and configuration; returns the configuration's path."""
    shas = make_repository(folder / "source.git", commits)
    for number in range(nightlies):
        sha = shas[(number + 1) * len(shas) // nightlies - 1]
        make_nightly(folder / "nightlies" / f"nightly-{number:03}", sha)
    configuration = folder / "torchwatch.toml"
    configuration.write_text(
        '[channel]\npoll = "1s"\n[source]\nrepository = "source.git"\n'
        f'[web]\nport = 0\n[executor]\nmachine_lock = "{folder.name}"\n'
    )
    return configuration


def memory_of(pid: int) -> dict[str, float]:
    status = Path(f"/proc/{pid}/status").read_text()
    names = {"own": "RssAnon", "all": "VmRSS", "peak": "VmHWM"}
    return {
        key: int(re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE).group(1)) * 1024 / 1e6  # type: ignore[union-attr]
        for key, name in names.items()
    }


def measure(program: str, configuration: Path, polls: int) -> dict[str, float]:
    """Lets a daemon run for that many seconds, in each of which it polls."""
    command = [program, "serve", "--config", str(configuration)]
    log = configuration.with_suffix(".log")
    with log.open("w") as errors, subprocess.Popen(command, stderr=errors) as daemon:
        try:
            time.sleep(polls)
            if daemon.poll() is not None:
                sys.exit(f"idle_memory.py: the daemon ended: {log.read_text()}")
            return memory_of(daemon.pid)
        finally:
            daemon.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("torchwatch")
    parser.add_argument("--commits", type=int, default=80_000)
    parser.add_argument("--nightlies", type=int, default=3)
    parser.add_argument("--polls", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        configuration = make_service(Path(folder), options.commits, options.nightlies)
        memory = measure(options.torchwatch, configuration, options.polls)
    if options.json:
        print(json.dumps({"commits": options.commits, "memory_mb": memory}))
    else:
        print(
            f"own {memory['own']:.1f} MB, all {memory['all']:.1f} MB, peak {memory['peak']:.1f} MB"
        )


if __name__ == "__main__":
    main()
