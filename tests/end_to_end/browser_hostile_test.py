"""Names that look like HTML, in a real browser: wherever the script shows them anew they stay
text."""

import re
import sqlite3
import unittest
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import browser
from git_call import git
from seeded import SeededTest
from service import ask

HOSTILE = "<img src=x onerror=alert(1)>"
WORKLOAD = "alexnet"  # that is called so
HOSTILE_PATH = urllib.parse.quote(HOSTILE, safe="")
LIVE = "#live[data-state=live]"
CHART = ".chart-box canvas"
# What hostile text would have made; the handles of dygraphs are images, too.
MADE = "img:not(.dygraph-rangesel-zoomhandle), [onerror]"


def rename(file: sqlite3.Connection) -> None:
    """Builds but for the oldest, a workload, a kernel, and what incidents are called."""
    file.execute("UPDATE build SET name = ? || id WHERE origin = 'nightly' AND id > 1", (HOSTILE,))
    file.execute("UPDATE benchmark SET workload = ? WHERE workload = ?", (HOSTILE, WORKLOAD))
    file.execute("UPDATE incident SET title = ? || title", (HOSTILE,))
    file.execute(
        "UPDATE machine SET facts = replace(facts, 'kernel: ', 'kernel: ' || ?)", (HOSTILE,)
    )


def blame(file: sqlite3.Connection, repository: Path) -> None:
    """Has each search find a commit of a hostile subject in the place of that which it found."""
    found = file.execute(
        "SELECT id, json_extract(result_json, '$.culprits[0].commits[0]') FROM bisection"
    ).fetchall()
    for number, sha in found:
        subject = f"{HOSTILE} in commit {number}"
        made = git(repository, "commit-tree", f"{sha}^{{tree}}", "-p", f"{sha}^", "-m", subject)
        for table, column, key in (
            ("bisection", "result_json", "id"),
            ("bisection_event", "body_json", "bisection_id"),
        ):
            file.execute(
                f"UPDATE {table} SET {column} = replace({column}, ?, ?) WHERE {key} = ?",  # noqa: S608 our own words
                (sha, made, number),
            )


class HostileNames(SeededTest):
    OPTIONS = (
        *("--nightlies", "30", "--incidents", "12", "--with-samples", "2", "--workloads", "4"),
    )

    @classmethod
    def prepare(cls, folder: Path) -> None:
        with sqlite3.connect(folder / "state" / "torchwatch.sqlite") as file:
            rename(file)
            blame(file, folder / "pytorch.git")
        file.close()

    @contextmanager
    def window(self, path: str, width: int = 1280, scheme: str = "light") -> Iterator[browser.View]:
        """A window on a page on which nothing is made of hostile text, from its first moment on."""
        with super().window("/help", width, scheme) as view:
            asked: list[str] = []

            def hear(dialog: Any) -> None:
                asked.append(dialog.message)
                dialog.dismiss()

            view.page.on("dialog", hear)
            self.assertEqual(view.open(path), 200)
            view.page.wait_for_selector("#live")
            yield view
            self.assertEqual(view.page.locator(MADE).count(), 0)
            self.assertEqual(asked, [])

    def series(self) -> str:
        """The hostile workload's that an incident is about, so that its chart has a letter."""
        for incident in ask(f"{self.daemon.base}/api/v1/incidents")[1]["incidents"]:
            for effect in incident["effects"]:
                if effect["workload"] == HOSTILE and effect["metric"] == "time":
                    return f"/series/{HOSTILE_PATH}/{effect['configuration']}/default/time"
        raise AssertionError("no incident is about the hostile workload")

    def newest(self, path: str, members: str) -> str:
        return str(ask(f"{self.daemon.base}/api/v1/{path}")[1][members][0]["id"])

    def test_a_chart_says_points_letters_and_pins_as_text(self) -> None:
        with self.window(self.series()) as view:
            view.page.wait_for_selector(CHART)
            view.page.locator(".chart").focus()
            spoken = view.page.locator(".readout strong")
            said = []
            for key in ("End", "ArrowLeft"):
                view.page.keyboard.press(key)
                view.page.keyboard.press("p")
                said.append(spoken.inner_text())
            newer, older = said
            self.assertTrue(older.startswith(HOSTILE) and newer.startswith(HOSTILE), said)
            letters = view.page.locator(".chart .annotation")
            titles = [str(each.get_attribute("title")) for each in letters.all()]
            self.assertTrue(any(HOSTILE in each for each in titles), titles)
            pinned = view.page.locator(".pinned a")
            self.assertEqual(pinned.inner_text(), f"compare {newer} with {older}")
            view.page.keyboard.press("+")
            view.page.wait_for_url("**from=*")
            self.assertEqual(view.page.locator(MADE).count(), 0)
            pinned.click()
            view.page.wait_for_url("**/compare/**")
            self.assertEqual(view.page.locator("h1").inner_text(), f"{newer} against {older}")

    def test_a_grid_names_its_cells_by_text(self) -> None:
        newest = self.newest("comparisons?purpose=nightly&limit=1", "comparisons")
        with self.window(f"/comparisons/{newest}") as view:
            cells = view.page.locator(".drawing-wide [role=gridcell]")
            hostile = cells.and_(view.page.locator(f'[aria-label*="{HOSTILE}"]')).first
            self.assertIn(HOSTILE, str(hostile.get_attribute("aria-label")))
            hostile.locator("a").focus()
            view.page.keyboard.press("Enter")
            view.page.wait_for_url("**/series/**")
            self.assertTrue(view.page.locator("h1").inner_text().startswith(HOSTILE))

    def test_what_comes_live_is_put_in_as_text(self) -> None:
        number = self.newest("incidents?limit=1", "incidents")
        with self.window(f"/incidents/{number}") as view:
            view.page.wait_for_selector(LIVE)
            for word in ("close", "reopen"):
                reason = f"{HOSTILE} {word}"
                self.run_command("incident", word, number, "--by", HOSTILE, "--reason", reason)
                view.page.locator("main dl.changed", has_text=reason).wait_for()
                self.assertEqual(view.page.locator(MADE).count(), 0)
            self.assertTrue(view.page.locator("h1").inner_text().startswith(HOSTILE))

    def test_tables_are_sorted_filtered_chosen_and_copied_as_text(self) -> None:
        with self.window("/builds?origin=nightly") as view:
            view.context.grant_permissions(["clipboard-read", "clipboard-write"])
            view.page.locator("main th", has_text="name").locator("button").click()
            view.page.locator("[data-filter]").fill(f"{HOSTILE}2")
            view.page.locator("[data-filter]").blur()
            for key in ("j", "x", "m"):
                view.page.keyboard.press(key)
            view.page.locator("#said", has_text=re.compile("^Copied")).wait_for(state="attached")
            copied = str(view.page.evaluate("navigator.clipboard.readText()"))
            self.assertIn("&lt;img src=x", copied)
            self.assertNotIn("<img", copied)

    def test_a_culprit_of_a_hostile_subject_is_shown_as_text(self) -> None:
        found = ask(f"{self.daemon.base}/api/v1/bisections?limit=1")[1]["bisections"][0]
        subject = f"{HOSTILE} in commit {found['id']}"
        for path in (f"/bisections/{found['id']}", f"/incidents/{found['incident']}"):
            with self.window(path) as view:
                self.assertIn(subject, view.page.inner_text("main"))

    def test_each_page_shows_hostile_names_as_text(self) -> None:
        for path in (
            *("/", "/comparisons", "/incidents", "/builds", "/machines/2", "/models", "/series"),
            *(f"/models/{HOSTILE_PATH}", f"/search?q={HOSTILE_PATH}", "/bisections", "/gpu"),
        ):
            with self.subTest(path), self.window(path, 320, "dark") as view:
                self.assertIn(HOSTILE, view.page.locator("main").text_content() or "")


if __name__ == "__main__":
    unittest.main()
