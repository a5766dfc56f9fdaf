"""What a reader finds with the mouse alone: from the last lines of deploy/quickstart to the reason
for a verdict in three clicks, and times by his own clock."""

import re
import unittest
from datetime import datetime, timedelta

import clicks
from command import CHECKOUT
from seeded import SeededTest

EXAMPLE = CHECKOUT / "torchwatch.example.toml"


class Clicks(SeededTest):
    # An incident with a culprit is open, and of every night the samples are kept.
    OPTIONS = (*("--nightlies", "10", "--incidents", "4", "--with-samples", "10"),)

    def test_the_quickstart_names_the_page_and_the_command_that_serves_it(self) -> None:
        settings = dict(re.findall(r"^#?(address|port) = (\S+)", EXAMPLE.read_text(), re.MULTILINE))
        self.assertEqual(clicks.address().hostname, settings["address"].strip('"'))
        self.assertEqual(clicks.address().port, int(settings["port"]))
        said, page = clicks.last_lines(), clicks.address().geturl()
        self.assertLess(said.index("torchwatch serve "), said.index(page))

    def test_three_clicks_lead_to_the_steps_of_the_search_for_a_culprit(self) -> None:
        with self.window(clicks.address().path) as view:
            clicks.to_the_steps_of_a_search(self, view.page)

    def test_three_clicks_lead_to_the_samples_of_a_verdict(self) -> None:
        with self.window(clicks.address().path) as view:
            clicks.to_the_samples_of_a_verdict(self, view.page)

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
