"""Table 1, what the suite consists of, and section 2.3, how much of PyTorch it reaches."""

from collections import defaultdict
from typing import Any

from paper_answers import Answers
from paper_published import Published
from paper_section import Section

Workload = dict[str, Any]


def by_task(workloads: list[Workload]) -> dict[tuple[str, str], list[Workload]]:
    """In the order in which the suite has domains and tasks."""
    grouped: dict[tuple[str, str], list[Workload]] = defaultdict(list)
    for workload in workloads:
        grouped[workload["domain"], workload["task"]].append(workload)
    return grouped


def table_1(answers: Answers) -> Section:
    section, published = Section("Table 1: the suite"), Published()
    answer = answers.whole("suite")
    if not answer:
        section.note_missing("the suite", answers.series("suite"))
        return section
    workloads = answer.document["items"]
    domains = {workload["domain"] for workload in workloads}
    section.say(
        f"The paper has {published.text('workloads')} workloads in {published.text('domains')} "
        f"domains; this suite has {len(workloads)} in {len(domains)}. Batch sizes are "
        "TorchBench's; a dash: the original does not do that."
    )
    section.table(
        ("domain", "task", "workloads"),
        ((domain, task, len(group)) for (domain, task), group in by_task(workloads).items()),
    )
    section.table(
        ("workload", "task", "batch of training", "of inference"),
        (
            (each["name"], each["task"], each["train_batch"] or "-", each["eval_batch"] or "-")
            for each in workloads
        ),
    )
    section.say(published.sources())
    return section


def coverage(answers: Answers) -> Section:
    section, published = Section("Section 2.3: operators reached"), Published()
    ours = answers.whole("coverage")
    section.say(
        f"The paper's suite reaches {published.text('coverage')} times as much of PyTorch's API as "
        "MLPerf's. Here operators of ATen are counted, in one iteration of each workload, and five "
        "networks of the suite stand for MLPerf's: the two ratios are not of the same thing."
    )
    if ours:
        document = ours.document
        rows = [("all", len(document["workloads"]), document["operators"])]
        for domain, operators in sorted(document["operators_by_domain"].items()):
            count = sum(workload["domain"] == domain for workload in document["workloads"])
            rows.append((domain, count, operators))
        section.table(("domain", "workloads", "operators"), rows)
        section.say(
            f"The five networks reach {document['operators_of_mlperf_networks']}: the suite "
            f"reaches {document['ratio_to_mlperf_networks']:.2f} times as many."
        )
    else:
        section.note_missing("operators reached", answers.series("coverage"))
    section.say(published.sources())
    return section
