#!/usr/bin/env python3
"""Says which tests, or parts of them, were left out and why, a line for each reason; nothing if
there were none.

    tests/skipped.py RESULTS

RESULTS is what `ctest --output-junit` wrote. A test gives its reason in a line that begins with
"skipped: ", or as Python's unittest prints it. One that passed may have left parts out.
"""

import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

# Its line stands last, where nobody overlooks it.
BROWSER = "Chromium is missing"


def reasons_in(test: ET.Element) -> list[str]:
    """The reasons that a test printed, in their order."""
    output = test.findtext("system-out") or ""
    found = re.findall(r"^skipped: (.+)$", output, re.MULTILINE)
    return found or re.findall(r"\.\.\. skipped ['\"](.+)['\"]$", output, re.MULTILINE)


def reason_of(test: ET.Element) -> str:
    found = reasons_in(test)
    return found[-1] if found else f"see the output of {test.get('name')}"


def line_of(reason: str, count: int, part: str = "") -> str:
    kind = "browser test" if reason.startswith(BROWSER) else "test"
    return f"SKIPPED: {part}{count} {kind}{'s' if count > 1 else ''}: {reason}"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tests = list(ET.parse(Path(sys.argv[1])).getroot().iter("testcase"))  # noqa: S314 (by ctest)
    whole = [test for test in tests if test.find("skipped") is not None]
    in_part = [test for test in tests if test.get("status") == "run" and test not in whole]
    parts = Counter(reason for test in in_part for reason in sorted(set(reasons_in(test))))
    for reason, count in parts.items():
        print(line_of(reason, count, "parts of "))
    counts = Counter(reason_of(test) for test in whole)
    for reason, count in sorted(counts.items(), key=lambda item: item[0].startswith(BROWSER)):
        print(line_of(reason, count))


if __name__ == "__main__":
    main()
