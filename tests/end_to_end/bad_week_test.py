"""One daemon through a bad week on real LibTorch builds: every day something goes wrong that must
stay one item's own, with good nightlies between. One story, in the order in which it happens; in
the end every good nightly has its verdict, and every incident its one issue.

Whatever is typed here is a documented command, and whatever is asked for a documented request."""

import os
import shutil
import signal
import socket
import unittest
from contextlib import ExitStack
from pathlib import Path

from bad_week import GITHUB_TOKEN, WORKLOAD, Week, health_over, problem_of
from service import make_own


class BadWeek(Week):
    def test_01_a_regression_is_found_while_the_tracker_refuses_the_token(self) -> None:
        self.publish("2026-06-16")
        self.until_ended("2026-06-16")
        self.publish("2026-06-17")
        self.good_nightlies.append("2026-06-17")
        self.until_reported("2026-06-17")
        incidents = self.items("incident", "list")
        self.assertTrue(incidents)
        for incident in incidents:
            # Keys are public before the issues are: somebody squats on them.
            self.github.ask(
                f"plant <!-- torchwatch-key: open-{incident['key']}-{incident['id']} -->"
            )
        self.until_health_tells("outbox")
        self.assertEqual({m["state"] for m in self.items("outbox", "list")}, {"pending"})

    def test_02_a_renewed_token_delivers_every_issue_once(self) -> None:
        (self.folder / "github-token").write_text(GITHUB_TOKEN + "\n")
        self.until(lambda: not self.items("outbox", "list"))
        self.until_healthy()
        self.assert_issues()

    def test_03_typing_errors_are_refused_or_wait_and_block_nothing(self) -> None:
        typo = self.expect(2, "compare", "2026-06-16", "2026-06-17", "--workload", "tts_anglar")
        self.assertIn(WORKLOAD, typo)
        self.restart(suite='workloads = ["tts_anglar"]')
        self.publish_good("2026-06-18")
        self.until_health_tells("comparison")
        self.restart()
        self.until_reported("2026-06-18")

    def test_04_an_interrupted_compare_whose_build_goes_away_does_not_come_back(self) -> None:
        self.assertEqual(self.daemon.stop(), 0, self.daemon.said())
        interrupted = self.folder / "interrupted"
        self.make_nightly("interrupted").rename(interrupted)
        comparing = self.begin("compare", "2026-06-16", str(interrupted))
        self.wait_for(lambda: self.comparisons_of(str(interrupted)))
        comparing.send_signal(signal.SIGINT)
        self.assertEqual(comparing.wait(), 130)
        shutil.rmtree(interrupted)
        self.start_daemon()
        self.publish_good("2026-06-18-2")
        self.until_reported("2026-06-18-2")
        left = self.until(lambda: self.ended(self.comparisons_of(str(interrupted))))
        self.assertTrue(all(row["reason"] for row in left), left)

    def test_05_broken_nightlies_end_alone(self) -> None:
        self.publish_good("2026-06-19")
        removed, changed, broken = (self.make_nightly(f"2026-06-2{n}") for n in (0, 1, 2))
        with make_own(broken, "include/c10/macros/Macros.h").open("a") as header:
            header.write("\n#error this nightly does not compile\n")
        for tree in (removed, changed, broken):
            self.publish(tree.name)
        self.publish_unreadable("2026-06-23")
        self.until(lambda: self.comparison_of("2026-06-22"))
        shutil.rmtree(self.folder / "nightlies/2026-06-20")
        with (self.folder / "nightlies/2026-06-21/lib/libtorch.so").open("ab") as library:
            library.write(b"flipped")
        self.publish_good("2026-06-24")
        self.until_reported("2026-06-24")
        self.until_reported("2026-06-21")  # what lies there now is another build
        for nightly in ("2026-06-20", "2026-06-21", "2026-06-22"):
            self.until_ended(nightly)
            rows = [r for r in self.comparisons_of(nightly) if r["state"] == "refused"]
            self.assertTrue(rows and all(row["reason"] for row in rows), rows)
        self.until_reported("2026-06-19")
        unreadable = next(b for b in self.items("build", "list") if b["name"] == "2026-06-23")
        self.assertEqual(unreadable["state"], "rejected", unreadable)
        self.assertTrue(unreadable["reason"], unreadable)

    def test_06_requests_that_cannot_be_done_end_alone(self) -> None:
        self.offer_damaged_release("9.9.9")
        harmless = [c["sha"] for c in self.truth["commits"] if c["kind"] == "harmless"]
        for path, body in (
            ("/api/v1/nightlies", {"candidate": "9.9.9", "baseline": "2026-06-16"}),
            ("/api/v1/bisections", {"good": harmless[0], "bad": harmless[-1]}),
        ):
            answer = self.answer_to(path, body)
            self.assertIn(answer["state"], ("refused", "failed"), answer)
        for path, body in (
            ("/api/v1/nightlies", {"candidate": str(self.folder), "baseline": "2026-06-16"}),
            ("/api/v1/bisections", {"suspect": "refs/pull/2/head"}),
        ):
            self.assertEqual(self.post(path, body)[0], 422, body)
        self.expect(2, "compare", "2026-06-16", "2026-06-71")
        self.expect(2, "bisect", "deadbeef", harmless[0])
        self.until_healthy()

    def test_07_a_comparison_whose_folder_goes_away_ends_alone(self) -> None:
        mine = self.folder / "mine"
        self.make_nightly("mine").rename(mine)
        self.publish_good("2026-06-25")
        self.until(lambda: self.comparison_of("2026-06-25"))
        self.expect(0, "nightly", "--baseline", "2026-06-24", "--candidate", str(mine))
        shutil.rmtree(mine)
        self.until_reported("2026-06-25")
        last = self.until(self.newest_answered_request)
        self.assertEqual(last["state"], "refused", last)

    def test_08_slow_clients_wrong_tokens_and_killed_runs_disturb_nobody(self) -> None:
        self.publish_good("2026-06-26")
        victim = self.until(lambda: next(iter(self.daemon.children()), None))
        os.kill(victim, signal.SIGKILL)
        host, port = self.daemon.base.removeprefix("http://").split(":")
        with ExitStack() as slow:
            for _ in range(60):
                client = slow.enter_context(socket.create_connection((host, int(port))))
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127")
            for _ in range(20):
                self.assertIn(self.post("/api/v1/nightlies", {}, "wrong")[0], (401, 429))
            self.assertEqual(self.post("/api/v1/nightlies", {})[0], 202)
            self.assertIn(self.get("/healthz")[0], (200, 503))
        self.until_reported("2026-06-26")
        self.until_healthy()

    def test_09_a_daemon_that_may_open_no_file_says_so_and_serves_again(self) -> None:
        host, port = self.daemon.base.removeprefix("http://").split(":")
        with self.few_descriptors() as early, ExitStack() as many:
            for _ in range(12):
                many.enter_context(socket.create_connection((host, int(port))))
            self.until(lambda: problem_of(health_over(early), "web"))
        self.until_healthy()
        self.publish_good("2026-06-26-2")
        self.until_reported("2026-06-26-2")

    def test_10_a_killed_daemon_and_an_unmounted_disk_cost_nothing_but_time(self) -> None:
        self.publish_good("2026-06-26-3")
        self.until(self.daemon.children)
        self.daemon.process.kill()
        self.daemon.process.wait()
        self.start_daemon()
        self.until_reported("2026-06-26-3")
        nightlies, elsewhere = self.folder / "nightlies", self.folder / "not-mounted"
        nightlies.rename(elsewhere)
        self.until_health_tells("channel")
        elsewhere.rename(nightlies)
        self.until_healthy()

    def test_11_a_deleted_database_stops_the_daemon_and_a_backup_brings_it_back(self) -> None:
        backup = self.back_up("2026-06-27")
        for path in (self.folder / "state").glob("torchwatch.sqlite*"):
            path.unlink()
        self.expect_restored(backup)
        self.publish("2026-06-27")
        self.until_reported("2026-06-27")

    def test_12_so_does_an_older_copy_in_its_place(self) -> None:
        backup = self.back_up("2026-06-28")
        older = self.folder / "older.sqlite"
        shutil.copy(backup, older)
        older.replace(self.folder / "state/torchwatch.sqlite")
        self.expect_restored(backup)
        self.publish("2026-06-28")
        self.until_reported("2026-06-28")

    def back_up(self, next_nightly: str) -> Path:
        """Makes a backup while there is nothing to do, and the nightly that comes after it."""
        self.make_nightly(next_nightly)
        self.good_nightlies.append(next_nightly)
        self.until_healthy()
        backup = self.folder / f"backup-{next_nightly}.sqlite"
        self.expect(0, "database", "backup", str(backup))
        return backup

    def expect_restored(self, backup: Path) -> None:
        self.assertEqual(self.daemon.process.wait(), 3, self.daemon.said())
        self.expect(0, "database", "restore", str(backup))
        self.start_daemon()

    def test_13_nothing_was_lost(self) -> None:
        for nightly in self.good_nightlies:
            self.until_reported(nightly)
        self.assert_issues()
        self.decide_and_decide_again()
        self.assertEqual(self.github.ask("violations"), [])
        self.until_healthy()
        self.assertEqual(self.daemon.stop(), 0)

    def decide_and_decide_again(self) -> None:
        """What a person decides reaches the issue."""
        incident = self.items("incident", "list")[0]
        verbs = ["reopen", "close"] if incident["state"] == "closed" else ["close", "reopen"]
        for verb in verbs:
            self.expect(0, "incident", verb, str(incident["id"]), "--reason", "the week is over")
            self.until(lambda: not self.items("outbox", "list"))
            self.assert_issues()

    def assert_issues(self) -> None:
        """Every incident has one issue of its own, which bears its title and is open as it is."""
        issues = {issue["number"]: issue for issue in self.github.ask("issues")}
        incidents = self.items("incident", "list")
        numbers = [incident["issue_number"] for incident in incidents]
        self.assertEqual(len(set(numbers)), len(incidents), incidents)
        for incident in incidents:
            issue = issues[incident["issue_number"]]
            self.assertEqual(issue["title"], incident["title"])
            state = "closed" if incident["state"] == "closed" else "open"
            self.assertEqual(issue["state"], state, incident)


if __name__ == "__main__":
    unittest.main()
