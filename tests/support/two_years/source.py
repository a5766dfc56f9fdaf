"""The commits of the years: a bare repository with the branch main."""

import subprocess
from datetime import date
from pathlib import Path

from plan import COMMITS_A_DAY, millis

AREAS = ("ATen", "autograd", "c10", "nn", "inductor", "docs", "CI", "quant")
DEEDS = ("Keep the layout of", "Check the sizes of", "Fold the loops of", "Document", "Test")
THINGS = ("mm", "conv2d", "layer_norm", "index_put", "the allocator", "softmax", "embedding_bag")


def subject(number: int) -> str:
    area, deed, thing = (
        AREAS[number % len(AREAS)],
        DEEDS[number // 3 % len(DEEDS)],
        THINGS[number // 7 % len(THINGS)],
    )
    return f"[{area}] {deed} {thing} (#{90000 + number})"


def write(repository: Path, nightlies: list[date]) -> list[list[str]]:
    """Returns the shas of each day, oldest first; the last of a day is its nightly's."""
    stream = []
    for number in range(len(nightlies) * COMMITS_A_DAY):
        day, place = divmod(number, COMMITS_A_DAY)
        second = millis(nightlies[day]) // 1000 - (COMMITS_A_DAY - place) * 3600
        message = subject(number) + "\n"
        stream.append(
            f"commit refs/heads/main\nmark :{number + 1}\n"
            f"author Author {number % 40:02d} <author{number % 40:02d}@example.invalid>"
            f" {second} +0000\n"
            f"committer Merge Bot <merge-bot@example.invalid> {second} +0000\n"
            f"data {len(message.encode())}\n{message}"
            f"M 100644 inline aten/src/ATen/native/file{number % 97}.cpp\n"
            f"data {len(str(number))}\n{number}\n"
        )
    subprocess.run(["git", "init", "--quiet", "--bare", repository], check=True)
    git: list[str | Path] = ["git", "--git-dir", repository]
    subprocess.run([*git, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)
    subprocess.run([*git, "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
    log = [*git, "rev-list", "--reverse", "main"]
    shas = subprocess.run(log, check=True, capture_output=True, text=True).stdout.split()
    return [shas[i : i + COMMITS_A_DAY] for i in range(0, len(shas), COMMITS_A_DAY)]
