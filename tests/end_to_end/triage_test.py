"""A whole triage in a real browser by keyboard alone: sign in, decide, sign out. What is served
while the daemon cannot work."""

import http.client
import socket
import sqlite3
import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import browser
from command import CHECKOUT, TORCHWATCH, CommandTest
from service import Daemon

# Comparisons that nobody works on while the tests look at them.
WAITING = """
INSERT INTO comparison (purpose, candidate_id, baseline_id, repetition, opens_incidents, state,
                        plan_json, reason, created_at)
SELECT 'requested', candidate_id, baseline_id, 0, 0, 'discovered', '', '', created_at
FROM comparison WHERE baseline_id IS NOT NULL ORDER BY id DESC LIMIT 2;
INSERT INTO setback (kind, item, tries, setbacks, since, not_before, error)
SELECT 'comparison', id, 0, 1, :now, :now + 1500000, 'the disk is full'
FROM comparison WHERE state = 'discovered';
"""
MAKE = CHECKOUT / "tests/support/two_years/make.py"
TABS_MAX = 400
SCOPES = "triage,measure"


class Keyboard:
    """A page that is worked with by keys alone."""

    def __init__(self, view: browser.View) -> None:
        self.page = view.page
        self.said = view.said

    def to(self, selector: str) -> None:
        """Presses Tab until what the selector names has the focus."""
        for _ in range(TABS_MAX):
            if self.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no way by Tab to {selector} on {self.page.url}")

    def press(self, selector: str) -> int:
        """Goes there and presses Enter; the status of the page that comes."""
        self.to(selector)
        self.said.clear()
        with self.page.expect_navigation() as navigation:
            self.page.keyboard.press("Enter")
        return int(navigation.value.status)

    def type(self, selector: str, text: str) -> None:
        self.to(selector)
        self.page.keyboard.type(text)

    def status(self) -> str:
        """What the page confirms."""
        found = self.page.query_selector("[role=status]")
        return str(found.inner_text()) if found else ""


class Triage(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        browser.require(self)
        made = ["--nightlies", "10", "--incidents", "4", "--with-samples", "1"]
        subprocess.run([sys.executable, MAKE, TORCHWATCH, self.folder, *made], check=True)
        self.configure(self.configuration.read_text() + "[web]\nport = 0\n")
        self.waiting = self.store_waiting()
        self.daemon = Daemon(self.folder, {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
        self.addCleanup(self.daemon.stop)
        printed = self.expect(0, "token", "create", "ada", "--scopes", SCOPES).stdout
        self.token = next(word for word in printed.split() if word.startswith("tw_"))

    def store_waiting(self) -> list[str]:
        """The paths of comparisons that wait."""
        database = sqlite3.connect(self.folder / self.database())
        with database:
            for statement in WAITING.split(";")[:-1]:
                database.execute(statement, {"now": int(time.time() * 1000)})
        rows = database.execute("SELECT id FROM comparison WHERE state = 'discovered'").fetchall()
        database.close()
        return [f"/comparisons/{row[0]}" for row in rows]

    def open_incident(self) -> str:
        """The path of an open incident."""
        with sqlite3.connect(self.folder / self.database()) as database:
            row = database.execute(
                "SELECT id FROM incident WHERE state = 'open' ORDER BY id DESC"
            ).fetchone()
        self.assertIsNotNone(row, "no incident is open")
        return f"/incidents/{row[0]}"

    def database(self) -> str:
        return next(str(path.relative_to(self.folder)) for path in self.folder.rglob("*.sqlite"))

    def faults_of(self, view: browser.View) -> list[str]:
        # Chromium says of each page with an error's status that it could not be loaded.
        view.said[:] = [each for each in view.said if "Failed to load resource" not in each]
        return view.faults()

    def triage(self, view: browser.View, path: str) -> list[str]:
        keys, faults = Keyboard(view), []
        view.open(path)
        self.assertEqual(keys.press("header .account a"), 200)
        faults += self.faults_of(view)
        keys.type("#token", "tw_wrong")
        self.assertEqual(keys.press(".act button"), 401)
        faults += self.faults_of(view)
        keys.type("#token", self.token)
        self.assertEqual(keys.press(".act button"), 200)
        self.assertTrue(view.page.url.endswith(path), view.page.url)
        faults += self.faults_of(view)
        view.page.wait_for_selector("#live")
        view.page.keyboard.press("a")
        self.assertEqual(view.page.evaluate("document.activeElement.id"), "reason")
        keys.type("#reason", "I look at it")
        self.assertEqual(keys.press("button[formaction$=acknowledge]"), 200)
        self.assertEqual(keys.status(), "It is acknowledged.")
        faults += self.faults_of(view)
        self.assertEqual(keys.press("button[formaction$=accept]"), 400)
        faults += self.faults_of(view)
        keys.type("#reason", "the price of a fix")
        self.assertEqual(keys.press("button[formaction$=accept]"), 200)
        self.assertEqual(keys.status(), "It is accepted.")
        self.assertIn("the price of a fix", view.page.inner_text("main"))
        self.assertEqual(keys.press("button[formaction$=reopen]"), 200)
        self.assertEqual(keys.press("button[formaction$=close]"), 200)
        self.assertEqual(keys.status(), "It is closed.")
        faults += self.faults_of(view)
        self.assertEqual(keys.press("button[formaction$=reopen]"), 200)
        self.assertEqual(keys.press("button[formaction$=retest]"), 200)
        self.assertEqual(keys.status(), "It is measured again.")
        faults += self.faults_of(view)
        view.open(self.waiting.pop())
        self.assertEqual(keys.press("button[formaction$=cancel]"), 200)
        self.assertEqual(keys.status(), "It is cancelled.")
        self.assertIn("cancelled", view.page.inner_text("main dl"))
        return faults + self.faults_of(view)

    def test_a_whole_triage_by_keyboard_alone(self) -> None:
        path, faults = self.open_incident(), []
        with browser.started() as chromium:
            for width, scheme in ((1280, "light"), (320, "dark")):
                view = browser.View(chromium, self.daemon.base, width, scheme)
                faults += self.triage(view, path)
                cookie = view.context.cookies()[0]
                self.assertTrue(cookie["httpOnly"])
                self.assertEqual(cookie["sameSite"], "Strict")
                self.assertNotIn(self.token, str(cookie))
                for page in ("/outbox", "/sign-in"):
                    view.open(page)
                    faults += self.faults_of(view)
                view.open(path)
                self.assertEqual(Keyboard(view).press("form.account button"), 200)
                self.assertIn("You are signed out.", view.page.inner_text("main"))
                view.context.add_cookies([cookie])
                view.open(path)
                self.assertEqual(view.page.query_selector_all("form.act"), [])
                view.close()
        self.assertEqual(faults, [], "\n".join(faults))


# A database of the version before this program's, with an incident.
MIGRATIONS = CHECKOUT / "storage/database/migrations"
APPLICATION = 0x74770001
OLDER = """
INSERT INTO build (id, origin, name, state) VALUES (1, 'nightly', 'a', 'discovered');
INSERT INTO comparison (id, purpose, candidate_id, repetition, opens_incidents, state, created_at,
                        ended_at)
VALUES (1, 'nightly', 1, 0, 1, 'reported', 1, 2);
INSERT INTO incident (id, comparison_id, key, kind, state, title, opened_at)
VALUES (7, 1, 'a', 'regression', 'open', 'Slower than before', 1);
"""


class NotYet(CommandTest):
    """What is answered by a daemon that cannot work."""

    def configured_port(self) -> int:
        """A free port, at which a service of an empty folder of nightlies is to listen."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        self.configure(
            f'[storage]\npath = "torchwatch.sqlite"\n[channel]\nkind = "directory"\n'
            f'path = "nightlies"\n[web]\nport = {port}\n'
        )
        (self.folder / "nightlies").mkdir()
        return port

    def started(self) -> "subprocess.Popen[str]":
        daemon = subprocess.Popen(
            [TORCHWATCH, "serve", "--config", self.configuration],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(daemon.kill)
        return daemon

    def made_older(self) -> tuple[sqlite3.Connection, Path]:
        """An older database, and the copy that is made of it before it is migrated."""
        path = self.folder / "torchwatch.sqlite"
        *before, _ = sorted(MIGRATIONS.glob("*.sql"))
        database = sqlite3.connect(path, isolation_level=None)
        self.addCleanup(database.close)
        for migration in before:
            database.executescript(migration.read_text())
        database.executescript(OLDER)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {len(before)}")
        database.execute("PRAGMA journal_mode = WAL")
        return database, path.with_name(f"{path.name}.v{len(before)}.backup")

    def wait_until(self, holds: Callable[[], bool], daemon: "subprocess.Popen[str]") -> None:
        while not holds():
            self.assertIsNone(daemon.poll(), "the daemon ended")
            time.sleep(0.05)

    def answer(self, port: int, path: str) -> int:
        """The status of an answer; 0 while nobody listens."""
        with suppress(OSError):
            return self.ask(port, path)[0]
        return 0

    def ask(self, port: int, path: str) -> tuple[int, str, str]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path, headers={"Accept": "text/html"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, str(answer.getheader("Content-Type")), text

    def test_who_asks_while_the_database_is_migrated_learns_to_wait_and_then_gets_the_page(
        self,
    ) -> None:
        port = self.configured_port()
        database, copy = self.made_older()
        database.execute("BEGIN IMMEDIATE")  # the migration waits for it, some seconds
        daemon = self.started()
        self.wait_until(lambda: copy.exists() and self.answer(port, "/healthz") > 0, daemon)
        status, kind, text = self.ask(port, "/incidents/7")
        self.assertEqual((status, kind), (503, "text/html; charset=utf-8"))
        self.assertIn("brought to this program&#39;s version", text)
        self.assertNotIn("Slower than before", text)
        self.assertEqual(self.ask(port, "/healthz")[:2], (503, "application/problem+json"))
        database.execute("ROLLBACK")
        self.wait_until(lambda: self.answer(port, "/") == 200, daemon)
        status, _, text = self.ask(port, "/incidents/7")
        self.assertEqual(status, 200)
        self.assertIn("Slower than before", text)
        daemon.terminate()
        self.assertEqual(daemon.wait(), 0, daemon.stderr.read())  # type: ignore[union-attr]
        daemon.stderr.close()  # type: ignore[union-attr]

    def test_a_newer_programs_database_is_said_to_who_asks(self) -> None:
        port = self.configured_port()
        self.run_command("nightly")
        database = sqlite3.connect(self.folder / "torchwatch.sqlite")
        database.execute("PRAGMA user_version = 9999")
        database.close()
        daemon = self.started()
        said: list[str] = []
        while not any("until this is stopped" in line for line in said):
            line = daemon.stderr.readline()  # type: ignore[union-attr]
            self.assertTrue(line, said)
            said.append(line)
        self.assertIn("9999", "".join(said))
        status, kind, text = self.ask(port, "/incidents/7")
        self.assertEqual((status, kind), (503, "text/html; charset=utf-8"))
        self.assertIn("a newer torchwatch has written the database", text)
        self.assertNotIn(str(self.folder), text)
        status, kind, text = self.ask(port, "/healthz")
        self.assertEqual((status, kind), (503, "application/problem+json"))
        daemon.terminate()
        self.assertEqual(daemon.wait(), 3)
        daemon.stderr.close()  # type: ignore[union-attr]


if __name__ == "__main__":
    unittest.main()
