"""Table 3 and Figure 5: machines, and one build on two of them."""

from typing import Any

from paper_answers import Answer, Answers
from paper_drawing import Mark, ratios
from paper_published import Published
from paper_section import Section

PEAKS = ("FP32", "TF32", "FP32 matrix", "FP64", "FP64 matrix")


def table_3(answers: Answers) -> Section:
    section, published = Section("Table 3: the machines"), Published()
    section.say("What the paper compares, in TFLOPS that the makers state:")
    section.table(
        ("GPU", *PEAKS),
        (
            (name, *(published.text(f"{key}.{peak}") for peak in PEAKS))
            for name, key in (("NVIDIA A100", "a100"), ("AMD MI210", "mi210"))
        ),
    )
    answer = answers.whole("machines")
    machines = answer.document["items"] if answer else []
    if machines:
        section.say("What was measured on here:")
        section.table(("machine", "processor", "cores", "GPU", "runs"), map(_machine_row, machines))
    else:
        section.note_missing("anything on a machine", answers.series("machines"))
    section.say(published.sources())
    return section


def _machine_row(machine: dict[str, Any]) -> tuple[object, ...]:
    return (
        machine["id"],
        machine["processor"] or "unknown",
        machine["cores"] or "unknown",
        machine["gpu"] or "none",
        machine["runs"],
    )


def _mean_said(mean: dict[str, Any] | None) -> str:
    if mean is None:
        return "Nothing ran on both."
    interval = mean["interval"]
    ends = (
        f" [{interval[0]:.3f}, {interval[1]:.3f}], 95 %" if interval else ", too few runs for one"
    )
    return f"The geometric mean of B's time over A's is {mean['ratio']:.3f}{ends}."


def _timed(answers: Answers) -> int:
    """How many benchmarks the stage `times` has measured."""
    figures = [
        figure
        for answer in answers.series("times")
        for figure in answer.document.get("figures", [])
    ]
    return sum(figure["status"] == "ok" and figure["metric"] == "time" for figure in figures)


def _pair(section: Section, answer: Answer) -> None:
    document = answer.document
    benchmarks = sorted(document["benchmarks"], key=lambda each: each["ratio"])
    names = f"A: {document['a']['name']}; B: {document['b']['name']}"
    section.say(
        f"{names}. {len(benchmarks)} benchmarks ran on both, {len(document['only_a'])} on A alone, "
        f"{len(document['only_b'])} on B alone. {_mean_said(document['geometric_mean'])}"
    )
    if not benchmarks:
        return
    marks = [
        Mark(
            f"{each['workload']} {each['configuration']}",
            each["ratio"],
            (each["interval"][0], each["interval"][1]) if each["interval"] else None,
        )
        for each in benchmarks
    ]
    title = f"Build {document['build']['name']} on two machines"
    svg = ratios(title, f"{names}; left of 1 is faster on B", "B's time over A's", marks)
    section.picture(f"figure-5-{answer.name}.svg", svg, title)


def figure_5(answers: Answers) -> Section:
    section, published = Section("Figure 5: one build on two machines"), Published()
    section.say(
        "The paper divides times of the A100 and of the MI210. Of its ratios the two ends could be "
        f"had: {published.text('machines.a100_most')}, and "
        f"{published.text('machines.mi210_most')}."
    )
    pairs = answers.series("pair")
    whole = [answer for answer in pairs if answer.is_whole]
    for answer in whole:
        _pair(section, answer)
    if not whole:
        section.note_missing("times on two machines", pairs)
        section.say(
            f"Times of {_timed(answers)} benchmarks were measured here. "
            "A ratio takes a database with times of two classes of machines (`docs/cluster.md`); "
            "with one of them there is nothing to divide."
        )
    section.say(published.sources())
    return section
