"""One daemon through a bad week on real LibTorch builds: every day something goes wrong that must
stay one item's own, with good nightlies between. One story, in the order in which it happens; in
the end every good nightly has its verdict, and every incident its one issue.

Whatever is typed here is a documented command, and whatever is asked for a documented request.

What goes wrong, and where its owner reads of it while it lasts. /healthz has nothing to tell of an
item that is refused: that is its end, and the lists have it with its reason.

| fault | test | told by |
|---|---|---|
| the tracker refuses the token, also over a restart; strangers squat on keys | 01 | outbox |
| a name is mistyped in a command | 03 | the command's error; nothing is stored |
| a name is mistyped in the configuration | 03 | comparison, until it is corrected |
| a `compare` is interrupted, and its build goes away | 04 | list of comparisons |
| a nightly is removed, is changed, cannot be read | 05 | lists of comparisons and builds |
| a nightly's headers do not compile | 05 | build, for three tries; then the list of builds |
| a damaged wheel, an end that does not build | 06 | list of requests |
| requests that name folders or foreign revisions | 06 | the answer 422; nothing is stored |
| the folder of a comparison that was asked for goes away | 07 | list of requests |
| a run is killed, as when memory runs out | 08 | list of runs: it is measured again |
| 60 slow clients, wrong tokens, a client that reads too much | 08 | 401 and 429 to their senders |
| no file can be opened, so no client accepted | 09 | web |
| the disk is full | 10 | disk |
| the daemon is killed while it measures | 11 | `status` while it is away, then list of runs |
| the disk of the nightlies is not mounted | 11 | channel |
| the database is deleted, or an older copy takes its place | 12, 13 | exit status 3 and the log |
| a bad disk changes stored samples | 14 | database |
| the build before an incident is removed | 15 | list of comparisons |

Errors of accept(2) other than for files, and a system without threads, cannot be made from outside:
the tests of `service/http` make them. The unit's environment without HOME is this daemon's, too."""

import shutil
import signal
import socket
import unittest
from contextlib import ExitStack
from pathlib import Path

from bad_week import WORKLOAD, Week, health_over, problem_of
from service import make_own, wait_for, write_tokens

MOST_RESERVE_BYTES = 1 << 40


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
        self.until_told("outbox", "401")
        self.assertEqual({m["state"] for m in self.items("outbox", "list")}, {"pending"})
        self.restart()
        self.until_told("outbox", "401")

    def test_02_a_renewed_token_delivers_every_issue_once(self) -> None:
        write_tokens(self.folder)
        self.until(lambda: not self.items("outbox", "list"))
        self.until_over("outbox")
        self.until_healthy()
        self.assert_issues()

    def test_03_typing_errors_are_refused_or_wait_and_block_nothing(self) -> None:
        before = self.items("comparison", "list"), self.items("request", "list")
        typo = self.expect(2, "compare", "2026-06-16", "2026-06-17", "--workload", "tts_anglar")
        self.assertIn(WORKLOAD, typo)
        after = self.items("comparison", "list"), self.items("request", "list")
        self.assertEqual(after, before)
        self.restart(suite='workloads = ["tts_anglar"]')
        self.publish_good("2026-06-18")
        told = self.until_told("comparison", "tts_anglar")
        waiting = self.until(lambda: self.comparison_of("2026-06-18"))
        self.assertEqual(told["item"], str(waiting["id"]))
        self.restart()
        self.until_reported("2026-06-18")
        self.until_over("comparison")

    def test_04_an_interrupted_compare_whose_build_goes_away_does_not_come_back(self) -> None:
        self.stop_daemon()
        interrupted = self.folder / "interrupted"
        self.make_nightly("interrupted").rename(interrupted)
        comparing = self.begin("compare", "2026-06-16", str(interrupted))
        wait_for(lambda: self.comparisons_of(str(interrupted)))
        comparing.send_signal(signal.SIGINT)
        self.assertEqual(comparing.wait(), 130)
        shutil.rmtree(interrupted)
        self.start_daemon()
        self.publish_good("2026-06-18-2")
        self.until_reported("2026-06-18-2")
        left = self.until(lambda: self.ended(self.comparisons_of(str(interrupted))))
        self.assertTrue(all(row["reason"] for row in left), left)
        self.assertEqual(self.sources_told(), set())

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
        self.assertEqual(self.until_told("build", "2026-06-22")["item"], "2026-06-22")
        self.until_reported("2026-06-24")
        self.until_reported("2026-06-21")  # what lies there now is another build
        for nightly in ("2026-06-20", "2026-06-21", "2026-06-22"):
            self.until_ended(nightly)
            rows = [r for r in self.comparisons_of(nightly) if r["state"] == "refused"]
            self.assertTrue(rows and all(row["reason"] for row in rows), rows)
        self.until_reported("2026-06-19")
        self.until_over("build")
        builds = {build["name"]: build for build in self.items("build", "list")}
        for nightly in ("2026-06-20", "2026-06-22"):
            self.assertTrue(builds[nightly]["unusable"], builds[nightly])
        self.assertEqual(builds["2026-06-23"]["state"], "rejected", builds["2026-06-23"])
        self.assertTrue(builds["2026-06-23"]["reason"], builds["2026-06-23"])

    def test_06_requests_that_cannot_be_done_end_alone(self) -> None:
        self.offer_damaged_release("9.9.9")
        first, last = self.harmless()[0], self.harmless()[-1]
        for path, body in (
            ("/api/v1/nightlies", {"candidate": "9.9.9", "baseline": "2026-06-16"}),
            ("/api/v1/bisections", {"good": first, "bad": last}),
        ):
            answer = self.answer_to(path, body)
            self.assertIn(answer["state"], ("refused", "failed"), answer)
            listed = next(r for r in self.items("request", "list") if r["id"] == answer["id"])
            self.assertTrue(listed["result"]["error"], listed)
        before = self.items("request", "list")
        for path, body in (
            ("/api/v1/nightlies", {"candidate": str(self.folder), "baseline": "2026-06-16"}),
            ("/api/v1/bisections", {"suspect": "refs/pull/2/head"}),
        ):
            self.assertEqual(self.post(path, body)[0], 422, body)
        self.expect(2, "compare", "2026-06-16", "2026-06-71")
        self.expect(2, "bisect", "deadbeef", first)
        self.assertEqual(self.items("request", "list"), before)
        self.until_over("request")
        self.until_healthy()
        self.assertEqual(self.metric('torchwatch_requests{state="pending"}'), 0)

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
        self.assertTrue(last["result"]["error"], last)
        self.assertEqual(self.sources_told(), set())

    def test_08_slow_clients_wrong_tokens_and_killed_runs_disturb_nobody(self) -> None:
        self.publish_good("2026-06-26")
        failed = self.until(self.runs_failed_by_a_kill)
        self.assertTrue(all(run["reason"] for run in failed), failed)
        host, port = self.daemon.base.removeprefix("http://").split(":")
        with ExitStack() as slow:
            for _ in range(60):
                client = slow.enter_context(socket.create_connection((host, int(port))))
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127")
            for _ in range(20):
                self.assertIn(self.post("/api/v1/nightlies", {}, "wrong")[0], (401, 429))
            self.assertEqual(self.post("/api/v1/nightlies", {})[0], 202)
            self.assertEqual(self.get("/healthz")[0], 200)
        self.until_refused_for_reading_too_often()
        self.assertEqual(self.post("/api/v1/nightlies", {})[0], 202)
        self.assertEqual(self.get("/healthz")[0], 200)
        self.assertEqual(self.sources_told(), set())
        self.until_reported("2026-06-26")
        self.until_healthy()

    def test_09_a_daemon_that_may_open_no_file_says_so_and_serves_again(self) -> None:
        host, port = self.daemon.base.removeprefix("http://").split(":")
        with self.few_descriptors() as early, ExitStack() as many:
            for _ in range(12):
                many.enter_context(socket.create_connection((host, int(port))))
            told = self.until(lambda: problem_of(health_over(early), "web"))
            self.assertIsNone(told["item"], told)
        self.until_over("web")
        self.until_healthy()
        self.publish_good("2026-06-26-2")
        self.until_reported("2026-06-26-2")

    def test_10_on_a_full_disk_nothing_is_begun(self) -> None:
        if shutil.disk_usage(self.folder).free > MOST_RESERVE_BYTES:
            self.skipTest("this disk has more space than any reserve")
        self.restart(disk_reserve="1TiB")
        self.publish_good("2026-06-26-3")
        told = self.until_told("disk", "disk_reserve")
        self.assertIsNone(told["item"], told)
        self.assertIsNone(self.comparison_of("2026-06-26-3"))
        self.restart()
        self.until_reported("2026-06-26-3")
        self.until_over("disk")

    def test_11_a_killed_daemon_and_an_unmounted_disk_cost_nothing_but_time(self) -> None:
        self.publish_good("2026-06-26-4")
        measured = self.until(self.measured_comparison)
        self.daemon.process.kill()
        self.daemon.process.wait()
        self.expect(3, "status", "--exit-status")
        self.start_daemon()
        self.until(lambda: self.broken_off(measured))
        self.until_reported("2026-06-26-4")
        self.until_over("comparison")
        nightlies, elsewhere = self.folder / "nightlies", self.folder / "not-mounted"
        nightlies.rename(elsewhere)
        told = self.until_told("channel", "nightlies")
        self.assertIsNone(told["item"], told)
        elsewhere.rename(nightlies)
        self.until_over("channel")
        self.until_healthy()

    def test_12_a_deleted_database_stops_the_daemon_and_a_backup_brings_it_back(self) -> None:
        backup = self.back_up("2026-06-27")
        for path in (self.folder / "state").glob("torchwatch.sqlite*"):
            path.unlink()
        self.expect_stopped_by_its_database()
        self.restore(backup)
        self.publish("2026-06-27")
        self.until_reported("2026-06-27")

    def test_13_so_does_an_older_copy_in_its_place(self) -> None:
        backup = self.back_up("2026-06-28")
        older = self.folder / "older.sqlite"
        shutil.copy(backup, older)
        older.replace(self.folder / "state/torchwatch.sqlite")
        self.expect_stopped_by_its_database()
        self.restore(backup)
        self.publish("2026-06-28")
        self.until_reported("2026-06-28")

    def test_14_damaged_rows_are_found_and_a_backup_brings_them_back(self) -> None:
        backup = self.back_up("2026-06-29")
        self.stop_daemon()
        self.damage_samples()
        self.start_daemon()
        self.until_told("database", "samples_match_their_digest")
        self.expect(3, "database", "check")
        self.stop_daemon()
        self.restore(backup)
        self.until_healthy()
        self.expect(0, "database", "check")
        self.publish("2026-06-29")
        self.until_reported("2026-06-29")

    def back_up(self, next_nightly: str) -> Path:
        """Makes a backup while there is nothing to do, and the nightly that comes after it."""
        self.make_nightly(next_nightly)
        self.good_nightlies.append(next_nightly)
        self.until_healthy()
        backup = self.folder / f"backup-{next_nightly}.sqlite"
        self.expect(0, "database", "backup", str(backup))
        return backup

    def expect_stopped_by_its_database(self) -> None:
        self.assertEqual(self.daemon.process.wait(), 3, self.daemon.said())
        self.assertIn("torchwatch.sqlite was deleted or replaced", self.daemon.said())

    def restore(self, backup: Path) -> None:
        self.expect(0, "database", "restore", str(backup))
        self.start_daemon()

    def test_15_an_incident_whose_good_build_is_gone_is_kept_and_its_retest_ends(self) -> None:
        self.until_healthy()
        shutil.rmtree(self.folder / "nightlies/2026-06-16")
        incident = next(i for i in self.items("incident", "list") if i["state"] != "closed")
        known = {row["id"] for row in self.rechecks()}
        self.expect(0, "incident", "retest", str(incident["id"]))
        new = self.until(lambda: self.ended([r for r in self.rechecks() if r["id"] not in known]))
        self.assertEqual([row["state"] for row in new], ["refused"], new)
        self.assertTrue(new[0]["reason"], new)
        self.assertEqual(self.sources_told(), set())
        self.publish_good("2026-06-30")
        self.until_reported("2026-06-30")

    def test_16_nothing_was_lost(self) -> None:
        for nightly in self.good_nightlies:
            self.until_reported(nightly)
        self.assert_issues()
        self.decide_and_decide_again()
        self.assertEqual(self.github.ask("violations"), [])
        self.until_healthy()
        self.assertEqual(self.metric("torchwatch_healthy"), 1)
        self.stop_daemon()

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
