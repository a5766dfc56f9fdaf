"""Pages that are open while things change: replaced in place, paused, one stream for all tabs."""

import re
import shutil
import unittest
from collections.abc import Callable
from typing import Any

from seeded import SeededTest
from service import ask

LIVE = "#live[data-state=live]"
MARK = "document.querySelector('h1').mark = 'kept'"
STATE = "main dl div:has(dt:text-is('state')) dd"
HIDE = """state => {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


class Live(SeededTest):
    OPTIONS = (
        *("--nightlies", "14", "--incidents", "8", "--with-samples", "1", "--workloads", "6"),
    )

    def incident(self, state: str) -> int:
        found = ask(f"{self.daemon.base}/api/v1/incidents?state={state}")[1]["incidents"]
        if not found and state == "closed":
            opened = self.incident("open")
            self.decide("close", opened)
            return opened
        return int(found[0]["id"])

    def decide(self, word: str, incident: int) -> None:
        """Does as a person does at a terminal."""
        self.run_command(
            "incident", word, str(incident), "--by", "Ada", "--reason", f"{word} by a test"
        )

    def streams(self, pages: list[Any]) -> list[Any]:
        """The event streams of these pages that are open, of those that they open from now on."""
        opened: list[Any] = []

        def see(request: Any) -> None:
            if request.url.partition("?")[0].endswith("/events"):
                opened.append(request)

        def leave(request: Any) -> None:
            if request in opened:
                opened.remove(request)

        for page in pages:
            page.on("request", see)
            page.on("requestfinished", leave)
            page.on("requestfailed", leave)
        return opened

    def wait_until(self, page: Any, holds: Callable[[], bool]) -> None:
        """A tab may open a stream where another is slow to say that it has one; not for long."""
        while not holds():
            page.wait_for_timeout(50)

    def test_a_change_is_shown_in_place_and_the_page_is_not_loaded_again(self) -> None:
        incident = self.incident("closed")
        with self.window(f"/incidents/{incident}") as view:
            view.page.wait_for_selector(LIVE)
            view.page.evaluate(MARK)
            view.page.locator("main details summary").first.click()
            self.decide("reopen", incident)
            view.page.locator("main dl", has_text="open").wait_for()
            view.page.locator("#said", has_text=f"incident {incident}: open").wait_for()
            self.assertEqual(view.page.evaluate("document.querySelector('h1').mark"), "kept")
            self.assertTrue(view.page.locator("main details").first.evaluate("each => each.open"))
            self.decide("close", incident)
            view.page.locator("main .changed", has_text="closed").first.wait_for()

    def test_a_table_stays_sorted_and_filtered_when_it_changes(self) -> None:
        incident = self.incident("closed")
        with self.window("/incidents") as view:
            view.page.wait_for_selector(LIVE)
            view.page.locator("main th button", has_text="id").click()
            view.page.locator("[data-filter]").fill("T")
            ids = view.page.locator("main tbody tr:visible td:first-child").all_inner_texts()
            self.decide("reopen", incident)
            row = view.page.locator(
                "main tbody tr", has=view.page.locator("td", has_text=re.compile(f"^{incident}$"))
            )
            row.locator(".state.open").wait_for(state="attached")
            self.assertEqual(
                view.page.locator("main tbody tr:visible td:first-child").all_inner_texts(), ids
            )
            self.assertEqual(view.page.locator("[data-filter]").input_value(), "T")
            self.decide("close", incident)

    def test_a_paused_page_stays_as_it_is_and_catches_up(self) -> None:
        incident = self.incident("closed")
        with self.window(f"/incidents/{incident}") as view:
            view.page.wait_for_selector(LIVE)
            view.page.get_by_role("button", name="Pause").click()
            view.page.wait_for_selector("#live[data-state=off]")
            opened = self.streams([view.page])
            before = view.page.locator("main").inner_html()
            state = view.page.locator(STATE)
            self.assertRegex(state.inner_text(), "^closed")
            self.decide("reopen", incident)
            with self.window(f"/incidents/{incident}") as other:
                self.assertRegex(other.page.locator(STATE).inner_text(), "^open")
                other.page.wait_for_selector(LIVE)
            self.assertRegex(state.inner_text(), "^closed")
            self.assertEqual(view.page.locator("main").inner_html(), before)
            self.assertEqual(opened, [])
            view.page.get_by_role("button", name="Pause").click()
            state.filter(has_text=re.compile("^open")).wait_for()
            view.page.wait_for_selector(LIVE)
            self.wait_until(view.page, lambda: len(opened) == 1)
            self.decide("close", incident)

    def test_a_page_that_is_paused_while_it_is_read_again_does_not_change_any_more(self) -> None:
        incident = self.incident("closed")
        with self.window(f"/incidents/{incident}") as view:
            view.page.wait_for_selector(LIVE)
            view.page.route(f"**/incidents/{incident}", lambda route: None)
            with view.page.expect_request(f"**/incidents/{incident}") as read_again:
                self.decide("reopen", incident)
            given_up = view.page.expect_event(
                "requestfailed", lambda request: request == read_again.value
            )
            with given_up:
                view.page.get_by_role("button", name="Pause").click()
            view.page.unroute_all()
            self.assertRegex(view.page.locator(STATE).inner_text(), "^closed")
            self.decide("close", incident)

    def test_two_tabs_share_one_stream_and_the_second_takes_over(self) -> None:
        incident = self.incident("closed")
        with self.window(f"/incidents/{incident}") as first:
            first.page.wait_for_selector(LIVE)
            second = first.context.new_page()
            opened = self.streams([first.page, second])
            second.goto(f"{self.daemon.base}/incidents/{incident}")
            second.wait_for_selector(LIVE)
            self.wait_until(second, lambda: opened == [])
            self.decide("reopen", incident)
            for page in (first.page, second):
                page.locator("#said", has_text=f"incident {incident}: open").wait_for()
            first.page.evaluate(HIDE, "hidden")
            first.page.wait_for_selector("#live[data-state=off]", state="attached")
            self.decide("close", incident)
            second.locator("#said", has_text=f"incident {incident}: closed").wait_for()
            self.wait_until(second, lambda: len(opened) == 1)
            self.assertIn("after=", opened[0].url)
            first.page.evaluate(HIDE, "visible")
            first.page.wait_for_selector(LIVE)
            first.page.locator("main dl", has_text="closed").wait_for()
            self.wait_until(second, lambda: len(opened) == 1)

    def test_a_stream_that_missed_too_much_has_the_page_read_again(self) -> None:
        incident = self.incident("closed")
        database = self.folder / "state" / "torchwatch.sqlite"
        kept = self.folder / "kept.sqlite"
        self.restart_daemon(lambda: shutil.copy(database, kept))
        with self.window(f"/incidents/{incident}") as view:
            view.page.wait_for_selector(LIVE)
            view.page.evaluate(MARK)
            state = view.page.locator(STATE)
            self.assertEqual(state.inner_text()[: len("closed")], "closed")
            # Each gives the stream a number that the restored database has not given yet.
            for word, shown in (("reopen", "open"), ("close", "closed"), ("reopen", "open")):
                self.decide(word, incident)
                state.filter(has_text=re.compile(f"^{shown}")).wait_for()
            self.restart_daemon(lambda: shutil.copy(kept, database))
            state.filter(has_text=re.compile("^closed")).wait_for()
            view.page.wait_for_selector(LIVE)
            self.assertEqual(view.page.evaluate("document.querySelector('h1').mark"), "kept")
            # The browser says that nobody was there to be asked.
            view.said[:] = [each for each in view.said if "net::ERR_" not in each]


if __name__ == "__main__":
    unittest.main()
