"""The script of the pages in a real browser: keys, tables, copying, light and dark, its size."""

import gzip
import re
import unittest
import urllib.parse
import urllib.request
from typing import Any

import browser
from command import CHECKOUT
from seeded import SeededTest

OWN_SCRIPT_MAX = 60_000
SCRIPT = CHECKOUT / "service/assets/script"
# What a drawing's paper and its title are filled with, as the browser has worked it out.
FILLS = """drawing => [drawing.querySelector('.paper'), drawing.querySelector('text')]
.map(part => getComputedStyle(part).fill)"""


def wait_for_copy(view: browser.View) -> None:
    """By a locator: a function to wait for is evaluated in the page, which its policy forbids."""
    view.page.locator("#said", has_text=re.compile("^Copied")).wait_for(state="attached")


def copied(view: browser.View) -> str:
    return str(view.page.evaluate("navigator.clipboard.readText()"))


def with_whole_addresses(markdown: str, base: str) -> str:
    """The same text with each link as the browser resolves it."""

    def whole(link: re.Match[str]) -> str:
        return f"(<{urllib.parse.urljoin(base, link[1].replace('&amp;', '&'))}>)"

    return re.sub(r"\(<([^>]*)>\)", whole, markdown)


def rows(view: browser.View, column: int) -> list[str]:
    """The words of a column of the page's first table, in their order."""
    cells = view.page.locator("main table").first.locator(f"tbody td:nth-child({column})")
    return [str(each) for each in cells.all_inner_texts()]


class Modules(SeededTest):
    """The modules without a page: what they compute."""

    OPTIONS = ("--nightlies", "2", "--incidents", "0", "--with-samples", "0", "--workloads", "2")

    def value(self, module: str, expression: str) -> Any:
        """What an expression makes of a module, m."""
        with self.window("/help") as view:
            main = view.page.locator("script[type=module]").get_attribute("src")
            url = urllib.parse.urljoin(view.page.url, str(main)).replace("main.js", module)
            return view.page.evaluate(
                f"async url => {{ const m = await import(url); return {expression}; }}", url
            )

    def test_cells_are_ordered_by_what_they_say(self) -> None:
        words = ["1 s", "900 µs", "1,200 ms", "", "unknown", "12 ns", "x3.50", "+14.4 %"]
        orders = self.value("order.js", f"{words}.map(each => m.orderOf(each))")
        self.assertEqual(orders, [1e9, 9e5, 1.2e9, None, None, 12, 250, 14.4])
        words = [
            "[-1.5, +2.0] %",
            "2 h 5 min",
            "3 days ago",
            "2026-11-20 03:04",
            "#12",
            "4,096 bytes",
        ]
        orders = self.value("order.js", f"{words}.map(each => m.orderOf(each))")
        self.assertEqual(orders, [-1.5, 7.5e12, 2.592e14, "2026-11-20 03:04", 12, 4096])
        self.assertEqual(self.value("order.js", "m.orderOf('41.2 ms', '41234567.5')"), 41234567.5)

    def test_what_is_empty_is_last_both_ways(self) -> None:
        for is_descending, expected in ((False, [1, 2, "a", None]), (True, ["a", 2, 1, None])):
            call = (
                f"['a', null, 2, 1].sort((a, b) => m.compare(a, b, {str(is_descending).lower()}))"
            )
            self.assertEqual(self.value("order.js", call), expected)

    def test_markdown_of_hostile_text_is_inert(self) -> None:
        text = "*a* [x](y) <b> `c` | @ada #12 & &lt; !"
        expected = "\\*a\\* \\[x\\](y) &lt;b\\> \\`c\\` \\| @\u200bada \\#12 \\& \\&lt; \\!"
        self.assertEqual(self.value("markdown.js", f"m.prose({text!r})"), expected)
        self.assertEqual(self.value("markdown.js", "m.code('a`b')"), "``a`b``")
        self.assertEqual(self.value("markdown.js", "m.code('`')"), "`` ` ``")

    def test_a_window_is_days_in_the_address_and_its_ends_are_left_out(self) -> None:
        day = 86_400_000
        all_days = f"[0, {40 * day}]"
        shown = self.value("address.js", f"m.windowOf('http://a/?from=1970-01-11', {all_days})")
        self.assertEqual(shown, [10 * day, 40 * day])
        given = self.value("address.js", f"m.parametersOf([{10 * day}, {40 * day}], {all_days})")
        self.assertEqual(given, {"from": "1970-01-11", "to": None})
        wrong = self.value(
            "address.js", f"m.windowOf('http://a/?from=x&to=1960-01-01', {all_days})"
        )
        self.assertEqual(wrong, [0, 40 * day])
        kept = self.value("address.js", "m.withParameters('http://a/?show=x&from=1', {from: null})")
        self.assertEqual(kept, "http://a/?show=x")

    def test_an_event_concerns_the_pages_that_show_its_item(self) -> None:
        cases = [
            ("comparisons/12", "comparison", "12", True),
            ("comparisons/12", "comparison", "13", False),
            ("comparisons/12", "incident", "13", True),
            ("", "message", "a", True),
            ("help", "comparison", "12", False),
            ("comparisons/12", "reset", "", True),
        ]
        for path, kind, item, expected in cases:
            event = f"{{kind: '{kind}', item: '{item}'}}"
            call = f"m.concerns('{path}', {event})"
            self.assertEqual(self.value("live.js", call), expected, call)

    def test_axes_speak_as_the_table_does(self) -> None:
        for value, sample, expected in (
            (41_200_000, "41.2 ms [41.1 ms, 41.4 ms]", "41.2 ms"),
            (3 * 1024**2, "3 MiB", "3 MiB"),
            (1.123, "+12.3 % [+11.0, +13.0] %", "+12.3 %"),
            (0, "12 ms", "0 ns"),
            (4096, "+4,096 bytes/iteration", "4,096"),
            (40_000_000, "4.0 %", "4 %"),
            (0, "0 %", "0 %"),
        ):
            call = f"m.axisText({value}, '{sample}')"
            self.assertEqual(self.value("twin.js", call), expected)


class Script(SeededTest):
    def newest(self) -> str:
        """The page of the newest nightly, which has verdicts of all kinds."""
        with self.window("/comparisons?purpose=nightly") as view:
            links = [each for each in view.links() if re.fullmatch(r"/comparisons/\d+", each)]
        return links[0]

    def series(self) -> str:
        with self.window("/models") as view:
            view.open(next(each for each in view.links() if each.startswith("/models/")))
            return next(each for each in view.links() if "/cpu-train/" in each)

    def test_the_own_script_is_small(self) -> None:
        own = sum(len(file.read_bytes()) for file in SCRIPT.glob("*.js"))
        self.assertLessEqual(own, OWN_SCRIPT_MAX)

    def test_the_script_is_kept_for_ever_and_is_the_same_with_and_without_gzip(self) -> None:
        with self.window("/help") as view:
            main = view.page.evaluate("document.querySelector('script[type=module]').src")
        plain = urllib.request.urlopen(main, timeout=60)
        asked = urllib.request.Request(main, headers={"Accept-Encoding": "gzip"})
        packed = urllib.request.urlopen(asked, timeout=60)
        self.assertEqual(packed.headers["Content-Encoding"], "gzip")
        self.assertIn("immutable", packed.headers["Cache-Control"])
        text = (SCRIPT / "main.js").read_bytes()
        self.assertEqual(plain.read(), text)
        self.assertEqual(gzip.decompress(packed.read()), text)

    def test_a_page_is_used_with_the_keys_alone(self) -> None:
        with self.window("/builds") as view:
            keys = view.page.keyboard
            for key in ("j", "j", "k"):
                keys.press(key)
            first = view.page.locator("main tbody tr").first
            self.assertTrue(first.evaluate("row => row === document.activeElement"))
            address = first.locator("a").first.evaluate("link => link.href")
            keys.press("Enter")
            view.page.wait_for_url(address)

    def test_two_chosen_rows_are_compared_the_older_one_first(self) -> None:
        with self.window("/builds?origin=nightly") as view:
            newer, older = rows(view, 2)[:2]
            for key in ("j", "x", "j", "x", "c"):
                view.page.keyboard.press(key)
            view.page.wait_for_url("**/compare/**")
            title = view.page.locator("h1").inner_text()
            self.assertEqual(title, f"{newer} against {older}")

    def test_the_keys_of_a_page_are_listed_and_can_be_turned_off(self) -> None:
        with self.window("/builds") as view:
            view.page.keyboard.press("?")
            dialog = view.page.locator("dialog")
            self.assertIn("Next row", dialog.inner_text())
            self.assertEqual(view.faults(), [])
            view.page.get_by_label("Single letters and signs work as keys").uncheck()
            view.page.keyboard.press("Escape")
            dialog.wait_for(state="detached")
            view.page.keyboard.press("j")
            self.assertNotEqual(view.page.evaluate("document.activeElement.tagName"), "TR")
            view.page.keyboard.press("Control+k")
            self.assertEqual(view.page.evaluate("document.activeElement.id"), "q")
            view.open("/builds")
            view.page.keyboard.press("?")
            self.assertEqual(dialog.count(), 0)

    def test_a_field_gets_its_letters_and_slash_leads_to_the_search(self) -> None:
        with self.window("/builds") as view:
            view.page.keyboard.press("/")
            view.page.keyboard.type("jxc?")
            self.assertEqual(view.page.locator("#q").input_value(), "jxc?")
            self.assertEqual(view.page.locator("dialog, [data-chosen]").count(), 0)

    def test_brackets_lead_to_the_nightly_before_and_after(self) -> None:
        newest = self.newest()
        with self.window(newest) as view:
            view.page.keyboard.press("[")
            view.page.wait_for_url(lambda url: not url.endswith(newest))
            view.page.keyboard.press("]")
            view.page.wait_for_url(self.daemon.base + newest)

    def test_a_table_is_sorted_in_place_and_says_so(self) -> None:
        with self.window("/builds") as view:
            names = rows(view, 2)
            heading = view.page.locator("main th", has_text="name")
            heading.locator("button").click()
            self.assertEqual(heading.get_attribute("aria-sort"), "ascending")
            self.assertEqual(rows(view, 2), sorted(names))
            heading.locator("button").click()
            self.assertEqual(heading.get_attribute("aria-sort"), "descending")
            self.assertEqual(rows(view, 2), sorted(names, reverse=True))

    def test_a_table_is_filtered_in_place(self) -> None:
        with self.window("/builds") as view:
            commit = rows(view, 6)[3]
            view.page.keyboard.press("f")
            view.page.keyboard.type(commit)
            shown = view.page.locator("main tbody tr:visible")
            self.assertEqual(shown.count(), 1)
            self.assertIn(" of ", view.page.locator(".filter [role=status]").inner_text())
            view.page.keyboard.press("Escape")
            self.assertGreater(shown.count(), 1)

    def test_how_a_table_is_sorted_and_filtered_is_in_the_address(self) -> None:
        with self.window("/builds") as view:
            plain = view.page.url
            heading = view.page.locator("main th", has_text="name")
            heading.locator("button").click()
            heading.locator("button").click()
            view.page.locator("[data-filter]").fill("2026-11-1")
            view.page.wait_for_url(lambda url: url == plain + "?by=-name&filter=2026-11-1")
            shown = view.page.locator("main tbody tr:visible td:nth-child(2)")
            names = shown.all_inner_texts()
            self.assertGreater(len(names), 1)
            self.assertEqual(names, sorted(names, reverse=True))
            self.assertEqual(view.open(view.page.url.removeprefix(self.daemon.base)), 200)
            self.assertEqual(view.page.locator("[data-filter]").input_value(), "2026-11-1")
            self.assertEqual(heading.get_attribute("aria-sort"), "descending")
            self.assertEqual(shown.all_inner_texts(), names)
            view.page.locator("[data-filter]").press("Escape")
            heading.locator("button").click()
            view.page.wait_for_url(lambda url: url == plain + "?by=name")

    def test_a_column_that_the_service_sorts_by_is_in_the_address_as_without_a_script(self) -> None:
        with self.window("/models?filter=bert") as view:
            heading = view.page.locator("main th", has_text="domain")
            heading.locator("a").click()
            view.page.wait_for_url(lambda url: url.endswith("/models?filter=bert&sort=domain"))
            heading.locator("a").click()
            address = self.daemon.base + "/models?filter=bert&sort=-domain"
            view.page.wait_for_url(lambda url: url == address)
            domains = view.page.locator("main tbody tr:visible td:nth-child(2)").all_inner_texts()
            self.assertEqual(domains, sorted(domains, reverse=True))
        context = self.chromium.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(address)
        everything = page.locator("main tbody td:nth-child(2)").all_inner_texts()
        self.assertEqual(everything, sorted(everything, reverse=True))
        self.assertGreater(len(everything), len(domains))
        context.close()

    def test_a_hostile_address_of_a_table_is_inert(self) -> None:
        hostile = "<img src=x onerror=alert(1)>"
        given = urllib.parse.urlencode({"filter": hostile, "by": hostile, "filter2": hostile})
        with self.window("/builds?" + given) as view:
            self.assertEqual(view.page.locator("[data-filter]").input_value(), hostile)
            self.assertEqual(view.page.locator("main img").count(), 0)

    def test_red_and_green_are_a_choice_that_stays(self) -> None:
        calm = "getComputedStyle(document.documentElement).getPropertyValue('--calm')"
        with self.window("/comparisons") as view:
            before = view.page.evaluate(calm)
            view.page.get_by_role("button", name="Colours: orange-blue").click()
            view.page.get_by_role("button", name="Colours: red-green").wait_for()
            chosen = view.page.evaluate(calm)
            self.assertNotEqual(chosen, before)
            view.open("/incidents")
            self.assertEqual(view.page.evaluate(calm), chosen)
            view.page.get_by_role("button", name="Colours: red-green").click()
            self.assertEqual(view.page.evaluate(calm), before)

    def test_a_printed_incident_is_black_on_white_without_what_can_be_pressed(self) -> None:
        with self.window("/incidents") as view:
            path = next(each for each in view.links() if re.fullmatch(r"/incidents/\d+", each))
            view.open(path)
            view.page.wait_for_selector("#live")
            drawing = view.page.locator("main svg.drawing:visible").first.element_handle()
            filled = {}
            for theme in ("light", "dark"):
                view.page.get_by_role("button", name="Theme: ").click()
                view.page.get_by_role("button", name=f"Theme: {theme}").wait_for()
                filled[theme] = drawing.evaluate(FILLS)
            self.assertTrue(set(filled["light"]).isdisjoint(filled["dark"]), filled)
            pressed = view.page.locator("button:visible, input:visible, nav:visible, form:visible")
            self.assertGreater(pressed.count(), 0)
            view.page.emulate_media(media="print")
            self.assertEqual(pressed.count(), 0)
            seen = view.page.evaluate("getComputedStyle(document.body).backgroundColor")
            self.assertEqual(seen, "rgb(255, 255, 255)")
            self.assertTrue(drawing.is_visible())
            self.assertEqual(drawing.evaluate(FILLS), filled["light"])
            view.page.emulate_media(media="screen")

    def test_a_copied_section_is_the_text_that_programs_get(self) -> None:
        path = self.newest()
        with self.window(path) as view:
            view.context.grant_permissions(["clipboard-read", "clipboard-write"])
            with urllib.request.urlopen(self.daemon.base + path + ".md", timeout=60) as answer:
                twin = answer.read().decode()
            for title in ("Builds, and how to repeat it",):
                section = view.page.locator(
                    "main section", has=view.page.get_by_role("heading", name=title)
                )
                section.first.locator("> button.copy").click()
                wait_for_copy(view)
                text = copied(view)
                self.assertTrue(text.startswith(f"## {title}"), text[:100])
                self.assertIn(text.strip(), with_whole_addresses(twin, view.page.url))
                view.page.evaluate("document.querySelector('#said').textContent = ''")

    def test_chosen_rows_are_copied_as_a_table(self) -> None:
        with self.window("/builds") as view:
            view.context.grant_permissions(["clipboard-read", "clipboard-write"])
            name = rows(view, 2)[0]
            for key in ("j", "x", "m"):
                view.page.keyboard.press(key)
            wait_for_copy(view)
            lines = copied(view).strip().splitlines()
            self.assertEqual(len(lines), 3)
            self.assertIn(f"[{name}](<{self.daemon.base}/builds/", lines[2])

    def test_the_table_of_a_page_is_downloaded(self) -> None:
        with self.window("/builds") as view:
            with view.page.expect_download() as download:
                view.page.keyboard.press("e")
            self.assertTrue(download.value.url.endswith("/builds.csv"))

    def test_light_or_dark_is_chosen_and_remembered(self) -> None:
        paper = "getComputedStyle(document.body).backgroundColor"
        with self.window("/builds") as view:
            light = view.page.evaluate(paper)
            view.page.get_by_role("button", name="Theme: auto").click()
            view.page.get_by_role("button", name="Theme: light").click()
            dark = view.page.evaluate(paper)
            self.assertNotEqual(light, dark)
            view.open("/help")
            self.assertEqual(view.page.evaluate(paper), dark)

    def test_arrows_walk_the_cells_of_a_heat_map_and_enter_opens_one(self) -> None:
        with self.window(self.newest()) as view:
            first = view.page.locator(".drawing-wide [role=gridcell]").first
            first.locator("a").focus()
            for key in ("ArrowRight", "ArrowDown", "ArrowLeft"):
                view.page.keyboard.press(key)
            focused = "document.activeElement.closest('[role=gridcell]')"
            row = view.page.locator(".drawing-wide [role=row]").nth(1)
            expected = row.locator("[role=gridcell]").first.get_attribute("aria-label")
            self.assertEqual(view.page.evaluate(f"{focused}.getAttribute('aria-label')"), expected)
            reached = ".drawing-wide [role=grid] [tabindex='0']"
            self.assertEqual(view.page.locator(reached).count(), 1)
            view.page.keyboard.press("Enter")
            view.page.wait_for_url("**/series/**")

    def test_without_a_script_a_page_says_the_same(self) -> None:
        context = self.chromium.new_context(java_script_enabled=False)
        page = context.new_page()
        for path in (self.newest(), self.series(), "/builds"):
            page.goto(self.daemon.base + path)
            self.assertTrue(page.locator("main table").first.count())
            self.assertEqual(page.locator("header button").count(), 1)
        context.close()


if __name__ == "__main__":
    unittest.main()
