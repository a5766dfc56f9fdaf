#!/usr/bin/env python3
"""Makes a day of commits of PyTorch's own source, builds it, and lets torchwatch search it.

    source_day.py [STAGE]... [--seed N] [--folder FOLDER] [--torchwatch PROGRAM]

Stages, in this order, without STAGE all of them; each can be stopped and resumes where it was:

  source     installs what the build needs and makes base.git: PyTorch 2.6.0 as Debian packages it
  check      configures it and gives each changed file to the compiler for its syntax
  day        makes the day: its repository, and the truth, which no service may see
  nightlies  builds the day's first and last commit; the very first build takes hours
  compare    lets `torchwatch nightly` compare the nightlies and search for the commits
  plain      the same searches by git bisect, with the median of five runs
  effects    measures what the planted commits do, each beside its parent, without the service
  table      prints what came out as Markdown, and writes result.json
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path[:0] = [
    str(CHECKOUT / "deploy" / "demonstration"),
    str(CHECKOUT / "tests" / "experiments"),
    str(CHECKOUT / "tests" / "experiments" / "planted_days"),
]

import day_folder  # noqa: E402
import machine_lock  # noqa: E402
import plain_bisection  # noqa: E402
import planted  # noqa: E402
import repository  # noqa: E402
import source_builds  # noqa: E402
import source_check  # noqa: E402
import source_costs  # noqa: E402
import source_effects  # noqa: E402
import source_plan  # noqa: E402
import source_result  # noqa: E402
import source_service  # noqa: E402
import source_table  # noqa: E402
import source_tree  # noqa: E402
import stoppable_call  # noqa: E402
import true_effect  # noqa: E402
from kept_rows import KeptRows  # noqa: E402
from nightly_call import ComparisonFailed  # noqa: E402


class Day:
    """One day's folders, and what the stages need of them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.root: Path = options.folder
        self.folder = self.root / f"day-{options.seed}"
        self.work = self.root / "work"  # of the recipe; for all days, so that ccache finds files
        self.kits = self.folder / "state" / "builds" / "kits"

    @property
    def truth(self) -> dict[str, Any]:
        return json.loads((self.folder / "truth.json").read_text())

    def purpose(self, stage: str) -> str:
        """For whom a build is: it stands with what the build took."""
        return f"{self.folder.name} {stage}"

    def environment(self, stage: str) -> dict[str, str]:
        self.work.mkdir(parents=True, exist_ok=True)
        clone = self.folder / "pytorch.git"
        variables = source_builds.environment(self.work, clone, self.root / "ccache")
        return {**variables, "TORCHWATCH_BUILD_FOR": self.purpose(stage)}

    def tree_of(self, commit: str) -> Path | None:
        """A commit's build, made if need be; nothing where it does not compile."""
        tree = self.folder / "trees" / commit
        unbuildable = tree.with_name(f"{commit}.unbuildable")
        if unbuildable.exists():
            return None
        variables = self.environment("trees")
        status = source_builds.build(commit, tree, self.options.jobs, variables)
        if status == source_builds.UNBUILDABLE:
            unbuildable.touch()
            return None
        if status != 0:
            raise source_builds.BuildFailed(f"{commit}: the recipe ended with {status}")
        return tree

    def whole_tree_of(self, commit: str) -> Path:
        tree = self.tree_of(commit)
        if not tree:
            raise source_builds.BuildFailed(f"{commit} does not compile")
        return tree

    def source(self) -> None:
        source_tree.make(self.root)

    def check(self) -> None:
        for line in source_check.check(self.root, self.root / "base.git"):
            print(line, flush=True)

    def day(self) -> None:
        known = source_plan.make(self.folder, self.root / "base.git", self.options.seed)
        print(f"{self.folder}/pytorch.git: {len(known['commits'])} commits")

    def nightlies(self) -> None:
        variables = self.environment("nightlies")
        source_builds.nightlies(self.folder, self.truth, self.options.jobs, variables)

    def compare(self) -> None:
        options = self.options
        settings = source_service.write_configuration(
            self.folder, options.jobs, self.work, options.machine_lock
        )
        variables = self.environment("compare")
        source_service.compare(self.folder, options.torchwatch, settings, variables)

    def plain(self) -> None:
        truth, bare = self.truth, self.folder / "pytorch.git"
        first, last = truth["nightlies"]
        kept = KeptRows(self.folder / "plain.jsonl")
        rows = []
        with self._measuring() as scratch:
            for culprit in planted.CULPRITS.values():
                program = true_effect.runner_of(self.kits, culprit.workloads[0])
                runner = true_effect.Runner(program, scratch)
                judge = plain_bisection.Measured(culprit, runner, self.tree_of, kept)
                ends = [
                    judge.value(each["commit"], self.folder / "nightlies" / each["date"])
                    for each in (first, last)
                ]
                judge.limit = sum(value for value in ends if value is not None) / 2
                found = plain_bisection.search(scratch, bare, first["trunk"], last["trunk"], judge)
                rows.append(plain_bisection.row(truth, culprit, found, kept))
        (self.folder / "plain.json").write_text(json.dumps(rows, indent=1) + "\n")

    def effects(self) -> None:
        kept = KeptRows(self.folder / "effects.jsonl")
        with self._measuring() as scratch:
            source_effects.measure(
                self.truth,
                self.kits,
                self.whole_tree_of,
                self.options.pairs,
                scratch,
                kept,
            )

    @contextmanager
    def _measuring(self) -> Iterator[Path]:
        """A folder for scratch on the day's disk, while no service measures."""
        with (
            machine_lock.held(self.options.machine_lock),
            tempfile.TemporaryDirectory(dir=self.folder) as scratch,
        ):
            yield Path(scratch)

    def result(self) -> dict[str, Any]:
        """Everything that is kept of the day; a stage that was not carried out is empty."""
        truth, rows = self.truth, source_builds.rows(self.work)
        found, plain = self._kept("found.json"), self._kept("plain.json") or []
        builds = source_costs.builds_of_searches(truth, rows, self.purpose("compare"))
        folders = {
            "source": self.root / "base.git",
            "ccache": self.root / "ccache",
            "recipe's work": self.work,
            "nightlies": self.folder / "nightlies",
            "the service's state": self.folder / "state",
        }
        return {
            "seed": truth["seed"],
            "commits": len(truth["commits"]),
            "unbuildable": len(truth["unbuildable"]),
            "first_build": source_costs.first_build(rows),
            "later_builds": source_costs.later_builds(truth, rows),
            "disk_bytes": {name: source_costs.bytes_in(each) for name, each in folders.items()},
            "service": source_result.of_service(truth, found, builds) if found else None,
            "plain": source_result.of_plain(rows, plain),
            "all_plain": source_result.all_plain(rows, plain),
            "effects": KeptRows(self.folder / "effects.jsonl").rows,
        }

    def _kept(self, name: str) -> Any:
        file = self.folder / name
        return json.loads(file.read_text()) if file.exists() else None

    def table(self) -> None:
        result = self.result()
        (self.folder / "result.json").write_text(json.dumps(result, indent=1) + "\n")
        print("\n".join(source_table.table(result)))


STAGES = {
    "source": Day.source,
    "check": Day.check,
    "day": Day.day,
    "nightlies": Day.nightlies,
    "compare": Day.compare,
    "plain": Day.plain,
    "effects": Day.effects,
    "table": Day.table,
}


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stage", nargs="*", metavar="STAGE", help=f"of {', '.join(STAGES)}")
    parser.add_argument("--seed", type=int, default=1, help="the order of the commits (default 1)")
    parser.add_argument(
        "--folder",
        type=Path,
        default=CHECKOUT / "build" / "source-day",
        help="where everything is kept (default: build/source-day)",
    )
    parser.add_argument(
        "--torchwatch", type=Path, default=CHECKOUT / "build/user/service/cli/torchwatch"
    )
    parser.add_argument("--jobs", type=int, default=2, help="compilers at once (default 2)")
    parser.add_argument("--pairs", type=int, default=40, help="of an effect (default 40)")
    parser.add_argument(
        "--machine-lock",
        help="let only one service or stage with this lock measure at a time (default: torchwatch)",
    )
    options = parser.parse_args()
    unknown = set(options.stage) - set(STAGES)
    if unknown:
        parser.error(f"invalid stage {', '.join(sorted(unknown))}: must be of {', '.join(STAGES)}")
    for path in ("folder", "torchwatch"):
        setattr(options, path, getattr(options, path).absolute())
    return options


def main() -> None:
    options = parse_options()
    stoppable_call.heed_signals()
    day = Day(options)
    try:
        for name, stage in STAGES.items():
            if not options.stage or name in options.stage:
                stage(day)
    except (
        ComparisonFailed,
        day_folder.OtherDay,
        repository.GitFailed,
        source_builds.BuildFailed,
        source_check.CheckFailed,
        source_tree.SourceFailed,
        true_effect.MeasurementFailed,
        subprocess.SubprocessError,
        OSError,
    ) as error:
        sys.exit(f"source_day.py: {error}")
    except KeyboardInterrupt:
        sys.exit(stoppable_call.INTERRUPTED)


if __name__ == "__main__":
    main()
