"""The past of a series as a chart: its data, keys and address, and what is there without it."""

import re
import sqlite3
import unittest
import urllib.parse
from pathlib import Path
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


SERIES = ("workload", "configuration", "variant", "metric")
POINTS = """() => [...document.querySelectorAll('#past table tbody tr')]
  .filter(row => row.cells[1].dataset.value === 'point')
  .map(row => ({ build: row.cells[1].textContent, link: row.cells[1].querySelector('a').href,
    value: row.cells[2].textContent, verdict: row.cells[4].textContent,
    runs: row.cells[5].textContent }))"""
BLANK = "\u00a0"  # between figure and unit
SCALES = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def words(value: float, like: str) -> str:
    """A number as a table should say it, in the form of what it says: to as many digits and in the
    same unit, "2.104 ms" or "+15.2 %"."""
    number, unit = like.split(BLANK)
    digits = len(number.partition(".")[2])
    if unit == "%":
        return f"{100 * (value - 1):+.{digits}f}{BLANK}%"
    return f"{value / SCALES[unit]:,.{digits}f}{BLANK}{unit}"


def script_of(view: browser.View) -> str:
    """Where the page has its chart from."""
    main = view.page.locator("script[type=module]").get_attribute("src")
    return urllib.parse.urljoin(view.page.url, str(main)).replace("main.js", "chart.js")


def data_of(view: browser.View) -> Any:
    """What dygraphs shows: time, low, value and high of each point."""
    return view.page.evaluate(DATA, script_of(view))


class ChartOfThePast(SeededTest):
    OPTIONS = (
        *("--nightlies", "40", "--incidents", "12", "--with-samples", "2", "--workloads", "4"),
    )

    @classmethod
    def prepare(cls, folder: Path) -> None:
        """A drift comparison whose verdicts are those of the newest nightly."""
        newest = "FROM comparison WHERE purpose = 'nightly' ORDER BY id DESC LIMIT 1"
        with sqlite3.connect(folder / "state" / "torchwatch.sqlite") as file:
            file.execute(
                "INSERT INTO comparison (purpose, candidate_id, baseline_id, repetition,"
                " nightlies_back, opens_incidents, state, plan_json, created_at, ended_at,"
                " confidence) SELECT 'drift', candidate_id, baseline_id, 0, 1, 1, 'reported',"
                f" plan_json, created_at, ended_at, confidence {newest}"
            )
            (drift,) = file.execute("SELECT max(id) FROM comparison").fetchone()
            columns = [row[1] for row in file.execute("PRAGMA table_info(verdict)")]
            copied = ", ".join(each for each in columns if each != "comparison_id")
            file.execute(
                f"INSERT INTO verdict (comparison_id, {copied}) SELECT ?, {copied}"  # noqa: S608 our own words
                f" FROM verdict WHERE comparison_id = (SELECT id {newest})",
                (drift,),
            )

    def path(self, query: str = "") -> str:
        """A series with an incident."""
        for incident in ask(f"{self.daemon.base}/api/v1/incidents")[1]["incidents"]:
            for effect in incident["effects"]:
                if effect["metric"] == "time":
                    return "/series/" + "/".join(effect[word] for word in SERIES) + query
        raise AssertionError("no incident is about a time")

    def test_the_chart_shows_what_its_table_says(self) -> None:
        with self.window(self.path()) as view:
            view.page.wait_for_selector(CHART)
            shown = data_of(view)
            table = view.page.evaluate("""() =>
              [...document.querySelectorAll('#past table tbody tr')]
                .filter(row => row.cells[1].dataset.value === 'point')
                .map(row => [Date.parse(`${row.cells[0].textContent.trim().replace(" ", "T")}Z`),
                  ...[row.cells[3].dataset.value.split(' ')[0], row.cells[2].dataset.value,
                      row.cells[3].dataset.value.split(' ')[1]].map(Number)])""")
            self.assertGreater(len(table), 30)
            self.assertEqual(shown["rows"], table)
            self.assertGreater(shown["annotations"], 0)
            self.assertEqual(view.page.locator("#past .picture:visible").count(), 0)

    def judged(self, link: str) -> tuple[str, Any]:
        """The candidate of a comparison, and its verdict on the series of the page, by the API."""
        path = "/api/v1" + link.removeprefix(self.daemon.base)
        comparison = ask(self.daemon.base + path)[1]
        series = dict(zip(SERIES, self.path().split("/")[2:], strict=True))
        verdicts = (each for each in comparison["verdicts"] if series.items() <= each.items())
        return comparison["candidate"]["name"], next(verdicts)

    def test_chart_and_table_say_of_each_build_what_the_api_says(self) -> None:
        for query, value, base in (
            ("", "candidate_value", "baseline_value"),
            ("?show=changes", "ratio", None),
        ):
            with self.window(self.path(query)) as view:
                view.page.wait_for_selector(CHART)
                shown, table = data_of(view), view.page.evaluate(POINTS)
            self.assertGreater(len(table), 30)
            self.assertEqual([each["link"] for each in table], shown["links"])
            for said, (_, *drawn) in zip(table, shown["rows"], strict=True):
                build, verdict = self.judged(said["link"])
                with self.subTest(build, shows=value):
                    low, high = (
                        end * (verdict[base] if base else 1) for end in verdict["interval"]
                    )
                    self.assertEqual(drawn, [low, verdict[value], high])
                    self.assertEqual(said["build"], build)
                    self.assertEqual(said["verdict"], verdict["verdict"])
                    self.assertEqual(said["runs"], str(verdict["runs"]))
                    self.assertEqual(said["value"], words(verdict[value], said["value"]))

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

    def test_a_logarithmic_axis_has_the_units_of_the_table_and_the_drift_reference(self) -> None:
        with self.window(self.path("?show=logarithmic")) as view:
            view.page.wait_for_selector(CHART)
            labels = view.page.locator(".chart .dygraph-axis-label-y").all_inner_texts()
            self.assertTrue(
                all(re.fullmatch(r"[\d.]+ (ns|µs|ms|s)", each) for each in labels), labels
            )
            rows = view.page.locator('#past table tbody td[data-value="drift"]')
            self.assertEqual(rows.count(), 1)
            self.assertIn("D: drift", view.page.locator(".chart-box .legend").inner_text())
            lines = view.page.evaluate(
                "async url => (await import(url)).chart().graph.getLabels()", script_of(view)
            )
            self.assertEqual(lines, ["time", "value", "drift"])

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


# Returns when the chart has more points than before, which a zoom has fetched.
REFINED = """async ([url, before]) => {
  const { chart } = await import(url);
  while (chart().past.points.length <= before) await new Promise(requestAnimationFrame);
}"""


class ChartOfALongPast(SeededTest):
    NIGHTLIES = 460  # more than a page shows
    OPTIONS = (
        *("--nightlies", str(NIGHTLIES), "--incidents", "6", "--with-samples", "2"),
        *("--workloads", "2"),
    )

    def path(self) -> str:
        series = ask(f"{self.daemon.base}/api/v1/series?metric=time&limit=1")[1]["series"][0]
        return str(series["url"]).removeprefix("/api/v1")

    def changed(self, view: browser.View) -> list[str]:
        """Builds of the page's table that regressed or improved."""
        rows = view.page.locator("#past figure tbody tr", has_text=re.compile("regressed|improved"))
        return [str(each) for each in rows.locator("td:nth-child(2)").all_text_contents()]

    def test_a_zoom_brings_the_points_that_the_page_left_out(self) -> None:
        with self.window(self.path()) as view:
            view.page.wait_for_selector(CHART)
            few = data_of(view)["rows"]
            table = "#past figure tbody td:nth-child(2)[data-value=point]"
            self.assertEqual(view.page.locator(table).count(), len(few))
            self.assertLess(len(few), self.NIGHTLIES - 1)
            said = view.page.locator("#past > p", has_text="Shown are")
            self.assertIn(f"of {self.NIGHTLIES - 1} points", said.inner_text())
            main = view.page.locator("script[type=module]").get_attribute("src")
            url = urllib.parse.urljoin(view.page.url, str(main)).replace("main.js", "chart.js")
            view.page.locator(".chart").focus()
            for key in ("End", "+", "+", "+"):
                view.page.keyboard.press(key)
            view.page.evaluate(REFINED, [url, len(few)])
            shown = data_of(view)
            address = view.page.url.removeprefix(self.daemon.base)
            self.assertIn("from=", address)
            times = [row[0] for row in shown["rows"]]
            self.assertEqual(times, sorted(set(times)))
            self.assertLessEqual({row[0] for row in few}, set(times))
            seen = [time for time in times if time >= shown["window"][0]]
            days = {time // 86_400_000 for time in seen}
            self.assertEqual(len(days), max(days) - min(days) + 1, "a day of the window is missing")

    def test_no_change_is_left_out_and_each_year_has_its_page(self) -> None:
        with self.window(self.path()) as view:
            changed = self.changed(view)
            self.assertTrue(changed)
            years = view.page.locator("#past > p a", has_text=re.compile(r"^20\d\d$"))
            addresses = [str(each.get_attribute("href")) for each in years.all()]
            self.assertGreater(len(addresses), 1)
            in_years: list[str] = []
            count = 0
            for address in reversed(addresses):
                view.open(urllib.parse.urljoin(self.path(), address))
                self.assertEqual(view.page.locator("#past > p", has_text="Shown are").count(), 0)
                rows = "#past figure tbody td:nth-child(2)[data-value=point]"
                count += view.page.locator(rows).count()
                in_years += self.changed(view)
            self.assertEqual(count, self.NIGHTLIES - 1)
            self.assertEqual(in_years, changed)


if __name__ == "__main__":
    unittest.main()
