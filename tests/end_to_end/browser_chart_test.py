"""The past of a series as a chart: its data, keys and address, and what is there without it."""

import re
import unittest
import urllib.parse
from typing import Any

import browser
from seeded import SeededTest
from service import ask

CHART = ".chart-box canvas"
DATA = """async url => {
  const { chart } = await import(url);
  const { graph, past } = chart();
  const rows = [];
  for (let row = 0; row < graph.numRows(); ++row) {
    rows.push([graph.getValue(row, 0), ...graph.getValue(row, 1)]);
  }
  return { rows, links: past.points.map(each => each.link), window: graph.xAxisRange(),
           annotations: graph.annotations().length };
}"""


def data_of(view: browser.View) -> Any:
    """What dygraphs shows: time, low, value and high of each point."""
    main = view.page.locator("script[type=module]").get_attribute("src")
    url = urllib.parse.urljoin(view.page.url, str(main)).replace("main.js", "chart.js")
    return view.page.evaluate(DATA, url)


class ChartOfThePast(SeededTest):
    OPTIONS = (
        *("--nightlies", "40", "--incidents", "12", "--with-samples", "2", "--workloads", "4"),
    )

    def path(self, query: str = "") -> str:
        """A series with an incident."""
        for incident in ask(f"{self.daemon.base}/api/v1/incidents")[1]["incidents"]:
            for effect in incident["effects"]:
                if effect["metric"] == "time":
                    words = ("workload", "configuration", "variant", "metric")
                    return "/series/" + "/".join(effect[word] for word in words) + query
        raise AssertionError("no incident is about a time")

    def test_the_chart_shows_what_its_table_says(self) -> None:
        with self.window(self.path()) as view:
            view.page.wait_for_selector(CHART)
            shown = data_of(view)
            table = view.page.evaluate("""() =>
              [...document.querySelectorAll('#past table tbody tr')]
                .filter(row => row.cells[1].dataset.value === 'point')
                .map(row => [Date.parse(row.cells[0].textContent),
                  ...[row.cells[3].dataset.value.split(' ')[0], row.cells[2].dataset.value,
                      row.cells[3].dataset.value.split(' ')[1]].map(Number)])""")
            self.assertGreater(len(table), 30)
            self.assertEqual(shown["rows"], table)
            self.assertGreater(shown["annotations"], 0)
            self.assertEqual(view.page.locator("#past .picture:visible").count(), 0)
            values = ask(f"{self.daemon.base}/api/v1{self.path()}?limit=200")[1]["values"]
            measured = {round(each["value"]) for each in values}
            near = [
                row for row in shown["rows"] if any(abs(row[2] / one - 1) < 0.2 for one in measured)
            ]
            self.assertEqual(len(near), len(shown["rows"]))

    def test_arrows_speak_point_by_point_and_two_pins_are_compared(self) -> None:
        with self.window(self.path()) as view:
            view.page.wait_for_selector(CHART)
            view.page.locator(".chart").focus()
            spoken = view.page.locator(".readout[aria-live=polite]")
            view.page.keyboard.press("Home")
            oldest = spoken.inner_text()
            view.page.keyboard.press("p")
            view.page.keyboard.press("ArrowRight")
            second = spoken.inner_text()
            self.assertNotEqual(oldest, second)
            self.assertRegex(second, r"^\d{4}-\d\d-\d\d .* runs?; \d{4}-\d\d-\d\d")
            view.page.keyboard.press("p")
            view.page.locator(".pinned a").click()
            view.page.wait_for_url("**/compare/**")
            older, newer = oldest.split()[0], second.split()[0]
            self.assertEqual(view.page.locator("h1").inner_text(), f"{newer} against {older}")

    def test_zoom_is_in_the_address_and_a_page_with_it_can_show_all_again(self) -> None:
        with self.window(self.path()) as view:
            view.page.wait_for_selector(CHART)
            view.page.locator(".chart").focus()
            view.page.keyboard.press("End")
            view.page.keyboard.press("+")
            view.page.wait_for_url("**from=*")
            address = view.page.url.removeprefix(self.daemon.base)
            all_rows = len(data_of(view)["rows"])
            view.open(address)
            view.page.wait_for_selector(CHART)
            again = data_of(view)
            self.assertEqual(len(again["rows"]), all_rows)
            shown = [row for row in again["rows"] if row[0] >= again["window"][0]]
            self.assertLess(len(shown), all_rows)
            view.page.get_by_role("button", name="All", exact=True).click()
            view.page.wait_for_url(lambda url: "from=" not in url)

    def test_the_zoomed_address_is_the_same_part_without_a_script(self) -> None:
        context = self.chromium.new_context(java_script_enabled=False)
        page = context.new_page()
        rows = "#past table tbody tr"
        page.goto(self.daemon.base + self.path())
        everything = page.locator(rows).count()
        days = page.locator(f"{rows} td:first-child").all_text_contents()
        page.goto(self.daemon.base + self.path(f"?from={days[len(days) // 2][:10]}"))
        self.assertLess(page.locator(rows).count(), everything)
        self.assertTrue(page.locator("#past svg.drawing").first.is_visible())
        context.close()

    def test_ratios_have_their_threshold(self) -> None:
        with self.window(self.path("?show=changes")) as view:
            view.page.wait_for_selector(CHART)
            head = view.page.locator("#past table th[data-value]")
            self.assertAlmostEqual(float(str(head.get_attribute("data-value"))), 1.07)
            labels = view.page.locator(".chart .dygraph-axis-label-y").all_inner_texts()
            self.assertTrue(all(re.fullmatch(r"[+-]?[\d.]+ %", each) for each in labels), labels)

    def test_the_chart_has_no_fault_in_the_dark_and_on_a_narrow_screen(self) -> None:
        for width, scheme in ((1280, "dark"), (320, "light"), (320, "dark")):
            with self.window(self.path(), width, scheme) as view:
                view.page.wait_for_selector(CHART)
                view.page.locator(".chart").focus()
                view.page.keyboard.press("ArrowLeft")

    def test_without_dygraphs_the_drawing_of_the_service_stays(self) -> None:
        context = self.chromium.new_context()
        page = context.new_page()
        page.route(
            "**/available.js",
            lambda route: route.fulfill(
                body="export const hasDygraphs = false;", content_type="text/javascript"
            ),
        )
        page.goto(self.daemon.base + self.path())
        page.wait_for_selector("#live")
        self.assertTrue(page.locator("#past svg.drawing").first.is_visible())
        self.assertEqual(page.locator(".chart-box").count(), 0)
        context.close()


if __name__ == "__main__":
    unittest.main()
