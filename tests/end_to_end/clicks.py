"""What a reader does with the mouse alone: three clicks from the page that the last lines of
deploy/quickstart name to the reason for a verdict."""

import re
import urllib.parse
from typing import Any
from unittest import TestCase

from command import CHECKOUT

QUICKSTART = CHECKOUT / "deploy/quickstart"


def last_lines() -> str:
    """What the quickstart prints when it is done."""
    return QUICKSTART.read_text().partition("Where to look next:")[2]


def address() -> urllib.parse.ParseResult:
    """The page that it names."""
    found = re.search(r"http://\S+", last_lines())
    if not found:
        raise AssertionError(f"{QUICKSTART} names no page")
    return urllib.parse.urlparse(found[0])


def follow(page: Any, link: Any, target: str) -> None:
    """One click, which must lead there."""
    link.click()
    page.wait_for_url(re.compile(target))


def to_the_steps_of_a_search(test: TestCase, page: Any) -> None:
    """From the first page by an open incident with a culprit."""
    named = page.locator("section", has_text="Open incidents").locator("tbody tr", has_text="sure")
    follow(page, named.first.locator('a[href*="incidents/"]').last, r"/incidents/\d+$")
    test.assertIn("sure", page.locator("main").inner_text())
    # Why it is a regression: every sample of both builds, without another click.
    test.assertGreater(page.locator("figure svg.drawing:visible").count(), 0)
    follow(page, page.locator('main a[href*="bisections/"]').first, r"/bisections/\d+$")
    steps = page.locator('main tbody a[href*="step="]')
    test.assertGreater(steps.count(), 2)
    test.assertGreater(page.locator("figure svg.drawing:visible").count(), 0)
    follow(page, steps.first, r"/bisections/\d+\?step=1$")
    test.assertRegex(page.locator("main").inner_text(), r"Step 1 of \d+")


def to_the_samples_of_a_verdict(test: TestCase, page: Any) -> None:
    """From the first page by the newest nightly that regressed."""
    regressed = page.locator(".strip li", has=page.locator(".state.regressed"))
    follow(page, regressed.last.locator("a"), r"/comparisons/\d+$")
    changed = page.locator("section", has_text="Regressed (").locator("tbody a").first
    follow(page, changed, r"/series/[^/]+/[^/]+/[^/]+/[a-z_]+$")
    test.assertGreater(page.locator("#samples figure svg.drawing:visible").count(), 0)
    page.locator("summary", has_text="newest").click()
    raw = page.locator('a[href$="/samples"]').first
    test.assertRegex(str(raw.get_attribute("href")), r"api/v1/runs/\d+/samples$")
