"""Figures 1 and 2 and Table 2: how a GPU spends the time of each workload."""

from collections import defaultdict
from dataclasses import dataclass

from paper_answers import Answer, Answers
from paper_drawing import SHARE_NAMES, Bar, bars
from paper_published import Published
from paper_section import Section, mean_percent, percent

MODES = {"train": "training", "infer": "inference"}
KEYS = ("active", "copy", "idle")
NO_GPU = (
    "**Needs a GPU, and `torchwatch check` finds none on this machine.** On one that has, the same "
    "command with a CUDA build fills this section."
)


@dataclass(frozen=True)
class Shares:
    workload: str
    mode: str
    parts: tuple[float, float, float]  # of SHARE_NAMES; their sum is 1


def shares_in(answers: list[Answer]) -> list[Shares]:
    """Those of the breakdowns that were measured, the first of each workload and mode; a run
    without one has none."""
    found: dict[tuple[str, str], Shares] = {}
    for answer in answers:
        for row in answer.document.get("observed", []):
            times = [row["active_ns"], row["copy_ns"], row["idle_ns"]]
            if None in times or not sum(times):
                continue
            active, copy, idle = (time / sum(times) for time in times)
            mode = row["configuration"].removeprefix("cuda-")
            key = (row["workload"], mode)
            found.setdefault(key, Shares(*key, (active, copy, idle)))
    return list(found.values())


def reasons_in(answers: list[Answer]) -> list[str]:
    """Why benchmarks have no shares, each reason once."""
    rows = [row for answer in answers for row in answer.document.get("observed", [])]
    return sorted({row["reason"] for row in rows if row["active_ns"] is None and row["reason"]})


def builds_of(answers: list[Answer]) -> str:
    """Names of the builds that the shares are of, each once."""
    return ", ".join(sorted({name for answer in answers if (name := answer.document.get("build"))}))


def _domains(answers: Answers) -> dict[str, str]:
    suite = answers.whole("suite")
    items = suite.document["items"] if suite else []
    return {workload["name"]: workload["domain"] for workload in items}


def _figure(section: Section, mode: str, shares: list[Shares]) -> None:
    ordered = sorted(shares, key=lambda each: each.parts[0], reverse=True)
    said = f"A GPU's time in {MODES[mode]}, {len(ordered)} workloads, the most active first"
    title = f"Active, data movement and idle, {MODES[mode]}"
    rows = [Bar(each.workload, each.parts) for each in ordered]
    section.picture(f"figure-{1 if mode == 'train' else 2}.svg", bars(title, said, rows), said)
    section.table(
        ("workload", *SHARE_NAMES), ((each.workload, *map(percent, each.parts)) for each in ordered)
    )


def _missing(section: Section, kept: list[Answer], has_gpu: bool) -> None:
    if not has_gpu:
        section.say(NO_GPU)
        return
    section.note_missing("shares of the GPU's time", kept)
    section.say("; ".join(reasons_in(kept)))


def figures_1_and_2(answers: Answers, has_gpu: bool) -> Section:
    section, published = Section("Figures 1 and 2: a GPU's time, workload by workload"), Published()
    section.say(
        "Of the paper's bars two could be had as numbers: "
        f"vgg16 is active {published.text('vgg16.active')} of the time, and DALLE2_pytorch's "
        f"inference (pig2 there, most likely) moves data for "
        f"{published.text('DALLE2_pytorch.infer.copy')}."
    )
    kept = answers.series("shares")
    shares = shares_in(kept)
    for mode in MODES:
        of_mode = [each for each in shares if each.mode == mode]
        if of_mode:
            _figure(section, mode, of_mode)
    if shares:
        section.say(f"Shares here are of build {builds_of(kept)}.")
    else:
        _missing(section, kept, has_gpu)
    section.say(published.sources())
    return section


def _table_rows(
    grouped: dict[tuple[str, str], list[Shares]], domains: list[str], published: Published
) -> list[list[object]]:
    rows: list[list[object]] = []
    for domain in [*domains, "all"]:
        for mode, said in MODES.items():
            of = grouped[domain, mode]
            row: list[object] = [domain, said, len(of)]
            for number, key in enumerate(KEYS):
                row.append(published.text(f"{domain}.{mode}.{key}"))
                row.append(mean_percent([each.parts[number] for each in of]))
            rows.append(row)
    return rows


def table_2(answers: Answers, has_gpu: bool) -> Section:
    """Means over workloads, as the paper has them, each beside ours."""
    section, published = Section("Table 2: a GPU's time by domain"), Published()
    domain_of = _domains(answers)
    grouped: dict[tuple[str, str], list[Shares]] = defaultdict(list)
    shares = shares_in(answers.series("shares"))
    for each in shares:
        grouped[domain_of.get(each.workload, "other"), each.mode].append(each)
        grouped["all", each.mode].append(each)
    section.say(
        "Means over workloads. A dash: not measured here, or not to be had of the paper's. The "
        "paper's GPU is an A100, its PyTorch the nightly of 2023-01-02."
    )
    head = ["domain", "mode", "workloads here"]
    head += [cell for name in SHARE_NAMES for cell in (f"{name}, paper", "here")]
    section.table(head, _table_rows(grouped, sorted(set(domain_of.values())), published))
    if not shares and not has_gpu:
        section.say(NO_GPU)
    section.say(published.sources())
    return section
