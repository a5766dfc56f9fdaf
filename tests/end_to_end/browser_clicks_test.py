"""What a reader finds with the mouse alone: from the last lines of deploy/quickstart to the reason
for a verdict in three clicks, and times by his own clock."""

import re
import unittest
import urllib.parse
from datetime import datetime, timedelta
from typing import Any

import browser
from command import CHECKOUT
from seeded import SeededTest

QUICKSTART = CHECKOUT / "deploy/quickstart"
EXAMPLE = CHECKOUT / "torchwatch.example.toml"


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


class Clicks(SeededTest):
    # An incident with a culprit is open, and of every night the samples are kept.
    OPTIONS = (*("--nightlies", "10", "--incidents", "4", "--with-samples", "10"),)

    def test_the_quickstart_names_the_page_and_the_command_that_serves_it(self) -> None:
        settings = dict(re.findall(r"^#?(address|port) = (\S+)", EXAMPLE.read_text(), re.MULTILINE))
        self.assertEqual(address().hostname, settings["address"].strip('"'))
        self.assertEqual(address().port, int(settings["port"]))
        self.assertLess(
            last_lines().index("torchwatch serve "), last_lines().index(address().geturl())
        )

    def first_page(self, view: browser.View) -> Any:
        """The page at that address, of this test's daemon."""
        self.assertEqual(view.open(address().path), 200)
        return view.page

    def test_three_clicks_lead_to_the_steps_of_the_search_for_a_culprit(self) -> None:
        with self.window("/") as view:
            page = self.first_page(view)
            named = page.locator("section", has_text="Open incidents").locator(
                "tbody tr", has_text="sure"
            )
            follow(page, named.first.locator('a[href*="incidents/"]').last, r"/incidents/\d+$")
            self.assertIn("sure", page.locator("main").inner_text())
            # Why it is a regression: every sample of both builds, without another click.
            self.assertGreater(page.locator("figure svg.drawing:visible").count(), 0)
            follow(page, page.locator('main a[href*="bisections/"]').first, r"/bisections/\d+$")
            steps = page.locator('main tbody a[href*="step="]')
            self.assertGreater(steps.count(), 2)
            self.assertGreater(page.locator("figure svg.drawing:visible").count(), 0)
            follow(page, steps.first, r"/bisections/\d+\?step=1$")
            self.assertRegex(page.locator("main").inner_text(), r"Step 1 of \d+")

    def test_three_clicks_lead_to_the_samples_of_a_verdict(self) -> None:
        with self.window("/") as view:
            page = self.first_page(view)
            regressed = page.locator(".strip li", has=page.locator(".state.regressed"))
            follow(page, regressed.last.locator("a"), r"/comparisons/\d+$")
            changed = page.locator("section", has_text="Regressed (").locator("tbody a").first
            follow(page, changed, r"/series/[^/]+/[^/]+/[^/]+/[a-z_]+$")
            self.assertGreater(page.locator("#samples figure svg.drawing:visible").count(), 0)
            page.locator("summary", has_text="newest").click()
            raw = page.locator('a[href$="/samples"]').first
            self.assertRegex(str(raw.get_attribute("href")), r"api/v1/runs/\d+/samples$")

    def test_a_time_is_said_by_the_readers_clock_where_the_mouse_is_on_it(self) -> None:
        context = self.chromium.new_context(timezone_id="Asia/Tokyo", locale="en-GB")
        page = context.new_page()
        page.goto(self.daemon.base + "/comparisons")
        page.wait_for_selector("#live")
        time = page.locator("main time").first
        utc = datetime.fromisoformat(str(time.get_attribute("datetime")))
        self.assertEqual(time.inner_text(), f"{utc:%Y-%m-%d %H:%M}")
        self.assertIsNone(time.get_attribute("title"))
        time.hover()
        local = utc + timedelta(hours=9)
        self.assertEqual(time.get_attribute("title"), f"{local:%d/%m/%Y, %H:%M:%S} GMT+9")
        context.close()


if __name__ == "__main__":
    unittest.main()
