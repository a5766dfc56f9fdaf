"""Figures 3, 4 and 6: two settings of one build, by the verdicts of torchwatch's comparisons."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from paper_answers import Answer, Answers
from paper_drawing import Mark, ratios
from paper_published import Published
from paper_section import Section
from paper_steps import BACKENDS, GPU_STUDY, PAPER_STUDY, study_names
from release_changes import NO_VALUE, mean_change

Verdict = dict[str, Any]
Document = dict[str, Any]
# As the paper's Figures 3 and 4 have them.
METRICS = {
    "time": "time",
    "cpu_peak_resident": "CPU memory, resident peak",
    "device_peak_total": "GPU memory, peak",
}
MODES = {"cpu-train": "training", "cpu-infer": "inference"}


def with_ratio(verdicts: Iterable[Verdict], metric: str) -> list[Verdict]:
    """Those of a metric that ran under both settings."""
    return [
        verdict
        for verdict in verdicts
        if verdict["metric"] == metric and verdict["ratio"] and verdict["verdict"] not in NO_VALUE
    ]


def marks_of(verdicts: Iterable[Verdict]) -> list[Mark]:
    """The smallest ratio, which is the greatest gain, first."""
    return [
        Mark(
            f"{verdict['workload']} {verdict['configuration']}",
            verdict["ratio"],
            (verdict["interval"][0], verdict["interval"][1]) if verdict["interval"] else None,
        )
        for verdict in sorted(verdicts, key=lambda each: each["ratio"])
    ]


def counts(verdicts: Iterable[Verdict]) -> str:
    """How many series have which verdict, as "3 improved, 81 unchanged"."""
    words = Counter(verdict["verdict"] for verdict in verdicts)
    return ", ".join(f"{count} {word}" for word, count in words.most_common()) or "none"


def _interval_said(document: Document) -> str:
    return (
        f"Intervals of single series are of {100 * document['confidence']:g} %; that of a mean is "
        "by drawing workloads anew."
    )


def _draw(section: Section, name: str, title: str, verdicts: list[Verdict]) -> None:
    if not verdicts:
        return
    said = f"{len(verdicts)} series; left of 1 is faster"
    section.picture(name, ratios(title, said, "ratio of times", marks_of(verdicts)), title)


def _backend_rows(backend: str, document: Document) -> list[tuple[object, ...]]:
    configurations = sorted({verdict["configuration"] for verdict in document["verdicts"]})
    return [
        (backend, configuration, said, len(found), mean_change(found, document["confidence"]))
        for configuration in configurations
        for metric, said in METRICS.items()
        if (
            found := [
                verdict
                for verdict in with_ratio(document["verdicts"], metric)
                if verdict["configuration"] == configuration
            ]
        )
    ]


def _not_taken(backend: str, document: Document) -> str:
    """How many benchmarks ran under both, and why the others did not; empty where all did."""
    # In answers of before 2026-12 the sides of a study are baseline and candidate.
    alone = r"^runs with (A and not with B|the baseline and not with the candidate): "

    def benchmark(verdict: Verdict) -> tuple[str, str]:
        return verdict["workload"], verdict["configuration"]

    ran = {benchmark(each) for each in document["verdicts"] if each["verdict"] not in NO_VALUE}
    others = {
        benchmark(each): re.sub(alone, "", each["reason"] or each["verdict"])
        for each in document["verdicts"]
        if benchmark(each) not in ran
    }
    if not others:
        return ""
    # Reasons that differ in a number alone are one.
    kinds = Counter(re.sub(r" \(\d+\)", "", why) for why in others.values()).most_common()
    said = "; ".join(f"{why} ({count})" for why, count in kinds)
    count = len(ran) + len(others)
    return (
        f"{len(ran)} of {count} benchmarks ran in eager mode and under {backend}. Others: {said}."
    )


def _draw_backend(section: Section, backend: str, verdicts: list[Verdict]) -> None:
    for figure, mode, said in ((3, "train", "training"), (4, "infer", "inference")):
        of_mode = [each for each in verdicts if each["configuration"].endswith(mode)]
        _draw(section, f"figure-{figure}-{backend}.svg", f"{said} under {backend}", of_mode)


def figures_3_and_4(answers: Answers) -> Section:
    section = Section("Figures 3 and 4: a compiler beside eager")
    published = Published()
    section.say(
        "The paper compares TorchInductor with eager on an A100, by geometric means: "
        f"{published.text('backend.train.speedup')} times as fast in training and "
        f"{published.text('backend.infer.speedup')} in inference, CPU memory "
        f"{published.text('backend.cpu_memory')}, GPU memory "
        f"{published.text('backend.gpu_memory')}. Its bars of single workloads could not be had as "
        "numbers."
    )
    whole = {name: answer for name in BACKENDS if (answer := answers.whole(f"backend-{name}"))}
    rows = [row for name, kept in whole.items() for row in _backend_rows(name, kept.document)]
    if rows:
        section.table(("backend", "configuration", "what", "series", "change from eager"), rows)
        section.say(_interval_said(next(iter(whole.values())).document))
    for name, answer in whole.items():
        if said := _not_taken(name, answer.document):
            section.say(said)
        _draw_backend(section, name, with_ratio(answer.document["verdicts"], "time"))
    for name in BACKENDS:
        if name not in whole:
            section.note_missing(f"backend {name}", answers.series(f"backend-{name}"))
    if len(whole) < len(BACKENDS):
        section.say(
            "A build of torchwatch that has the backend fills this section by the same command: "
            "what is missing is asked again at each call."
        )
    section.say(published.sources())
    return section


def _pair_row(name: str, pair: dict[str, Any]) -> tuple[object, ...]:
    document = pair["comparison"]
    times = [verdict for verdict in document["verdicts"] if verdict["metric"] == "time"]
    return (
        name,
        f"{pair['between']} to {pair['and']}",
        pair["benchmarks"],
        mean_change(times, document["confidence"]),
        counts(times),
        document["runs"],
    )


def study_rows(answers: list[tuple[str, Answer]]) -> list[tuple[object, ...]]:
    """A row for each pair of settings that was measured, of all studies."""
    return [_pair_row(name, pair) for name, answer in answers for pair in answer.document["pairs"]]


def _paper_optimisations(section: Section, published: Published) -> None:
    here = {
        "gradients zeroed all at once": f"dropped instead of zeroed: study `{PAPER_STUDY}`, below",
        "a square root taken once, hf_Reformer": "an attention in Python: study `python`, below",
        "no offloading to the host": f"in Python, on a GPU: study `{GPU_STUDY}`, below",
    }
    paper = ("-", published.text("optimised.rsqrt"), published.text("optimised.offloading"))
    section.table(
        ("optimisation of section 4.1", "paper", "here"),
        ((name, gain, said) for (name, said), gain in zip(here.items(), paper, strict=True)),
    )


def figure_6(answers: Answers) -> Section:
    section, published = Section("Figure 6 and section 4.1: what optimisations bring"), Published()
    section.say(
        f"With the paper's optimisations together {published.text('optimised.train')} in training, "
        f"the greatest gain {published.text('optimised.train_most')}; in inference "
        f"{published.text('optimised.infer')}. Its bars of single workloads could not be had as "
        "numbers."
    )
    _paper_optimisations(section, published)
    whole = [(name, answer) for name in study_names() if (answer := answers.whole(f"study-{name}"))]
    if whole:
        head = ("study", "settings", "benchmarks", "time, B to A", "series by verdict", "runs")
        section.table(head, study_rows(whole))
        section.say(_interval_said(whole[0][1].document["pairs"][0]["comparison"]))
    for name, answer in whole:
        if name == PAPER_STUDY:
            verdicts = answer.document["pairs"][0]["comparison"]["verdicts"]
            title = "Gradients dropped instead of zeroed"
            _draw(section, "figure-6.svg", title, with_ratio(verdicts, "time"))
    missing = [name for name in study_names() if not answers.whole(f"study-{name}")]
    if missing:
        reasons = [answer for name in missing for answer in answers.series(f"study-{name}")]
        section.note_missing(f"studies {', '.join(missing)}", reasons)
    section.say(published.sources())
    return section
