"""The commits of the years: a bare repository with the branch main."""

import subprocess
from pathlib import Path

from plan import COMMITS_A_DAY, Plan, millis

AREAS = ("ATen", "autograd", "c10", "nn", "inductor", "docs", "CI", "quant")
DEEDS = ("Keep the layout of", "Check the sizes of", "Fold the loops of", "Document", "Test")
THINGS = ("mm", "conv2d", "layer_norm", "index_put", "the allocator", "softmax", "embedding_bag")
ASIDE = {"Document": "docs/source/page{}.rst", "Test": "test/test_file{}.py"}


def deed_of(number: int) -> str:
    return DEEDS[number // 3 % len(DEEDS)]


def subject(number: int) -> str:
    area, thing = AREAS[number % len(AREAS)], THINGS[number // 7 % len(THINGS)]
    return f"[{area}] {deed_of(number)} {thing} (#{90000 + number})"


def file_of(number: int, plan: Plan) -> str:
    """What a commit changes. A search probes every commit of its day, so that all of these can
    change the library."""
    is_searched = number // COMMITS_A_DAY in plan.by_nightly
    library = "aten/src/ATen/native/file{}.cpp"
    file = library if is_searched else ASIDE.get(deed_of(number), library)
    return file.format(number % 97)


def can_matter(nightly: int, plan: Plan) -> int:
    """How many commits between the nightly before and this one can change the library."""
    first = nightly * COMMITS_A_DAY
    files = [file_of(number, plan) for number in range(first, first + COMMITS_A_DAY)]
    return sum(file.startswith("aten/") for file in files)


def write(repository: Path, plan: Plan) -> list[list[str]]:
    """Returns the shas of each day, oldest first; the last of a day is its nightly's."""
    nightlies, stream = plan.nightlies, []
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
            f"M 100644 inline {file_of(number, plan)}\n"
            f"data {len(str(number))}\n{number}\n"
        )
    subprocess.run(["git", "init", "--quiet", "--bare", repository], check=True)
    git: list[str | Path] = ["git", "--git-dir", repository]
    subprocess.run([*git, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)
    subprocess.run([*git, "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
    log = [*git, "rev-list", "--reverse", "main"]
    shas = subprocess.run(log, check=True, capture_output=True, text=True).stdout.split()
    return [shas[i : i + COMMITS_A_DAY] for i in range(0, len(shas), COMMITS_A_DAY)]
