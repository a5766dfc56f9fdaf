"""The questions, drawings and published figures of paper.py, each by itself."""

import json
import socket
import sys
import tempfile
import threading
import tomllib
import unittest
import xml.etree.ElementTree as ET
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(CHECKOUT / "tests" / "experiments" / "paper"))

import paper  # noqa: E402  # puts its neighbours' folders on the path
import paper_program  # noqa: E402
import paper_steps  # noqa: E402
from paper_drawing import Bar, Mark, bars, ratios  # noqa: E402
from paper_planted import tables_4_and_5  # noqa: E402
from paper_published import NOT_HAD, Published, sources  # noqa: E402
from paper_service import stored_shares  # noqa: E402
from paper_shares import builds_of, reasons_in, shares_in  # noqa: E402


class Portions(unittest.TestCase):
    def test_every_workload_is_in_one_portion(self) -> None:
        names = tuple(f"w{number}" for number in range(2 * paper_steps.PORTION + 1))
        steps = paper_steps.steps_of("times", paper_steps.Subject("b", "small", names), False)
        asked = [
            part.removeprefix("--workload=")
            for step in steps
            for part in step.arguments
            if part.startswith("--workload=")
        ]
        self.assertEqual(asked, list(names))
        self.assertEqual([step.name for step in steps], ["times-1", "times-2", "times-3"])

    def test_each_stage_but_the_two_that_measure_nothing_has_steps(self) -> None:
        subject = paper_steps.Subject("b", "small", ("vgg16",))
        without = [s for s in paper_steps.STAGES if not paper_steps.steps_of(s, subject, True)]
        self.assertEqual(without, ["suite", "machines"])

    def test_the_shipped_studies_are_all_asked_the_papers_first(self) -> None:
        files = {file.stem for file in paper_steps.STUDIES.glob("*.toml")}
        self.assertEqual(set(paper_steps.study_names()), files)
        self.assertEqual(paper_steps.study_names()[0], "gradients")

    def test_a_build_is_known_by_its_name_or_folder_or_is_the_newest(self) -> None:
        builds = [
            {"id": 1, "name": "2.13.0", "folder": "/a"},
            {"id": 2, "name": "b", "folder": str(CHECKOUT / "b")},
            {"id": 3, "name": "c", "folder": "/c"},
        ]
        for build, number in (("2.13.0", 1), ("b", 2), ("/c", 3), ("unknown", 3)):
            self.assertEqual(paper_steps.number_of_build(builds, build), number)
        self.assertIsNone(paper_steps.number_of_build([], "b"))

    def test_the_options_have_the_stages(self) -> None:
        options = paper.parse(["torchwatch", "folder", "--stage=times", "--stage=shares"])
        self.assertEqual(options.stage, ["times", "shares"])


class Choices(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def test_studies_of_workloads_in_python_find_them_in_the_suite(self) -> None:
        (self.folder / "torchwatch.toml").write_text("[suite]\npreset = 'small'\n")
        program = paper_program.Program(Path("torchwatch"), self.folder, 0)
        for name in paper_steps.study_names():
            step = paper_steps.study(name, "b")
            suite = tomllib.loads(program.configuration_of(step).read_text())["suite"]
            known = {each["name"] for each in suite.get("external", [])}
            study = tomllib.loads((paper_steps.STUDIES / f"{name}.toml").read_text())
            asked = {each for pair in study["pair"] for each in pair.get("workloads", [])}
            self.assertEqual(bool(known), name in paper_steps.CHOICES_STUDIES)
            if known:
                self.assertLessEqual(asked, known)
            for external in suite.get("external", []):
                paths = [*external["command"][:2], *external["readable"]]
                self.assertTrue(all(Path(path).is_absolute() for path in paths), external)


class Drawings(unittest.TestCase):
    def numbers(self, svg: str, tag: str, name: str) -> list[float]:
        tree = ET.fromstring(svg)  # noqa: S314
        return [
            float(each.attrib[name])
            for each in tree.iter(f"{{http://www.w3.org/2000/svg}}{tag}")
            if each.attrib.get("class") in ("active", "copy", "idle", "value", "interval")
        ]

    def test_a_bars_parts_have_the_width_of_their_shares(self) -> None:
        svg = bars("A title", "what it says", [Bar("a & b", (0.5, 0.25, 0.25))])
        active, copy, idle = self.numbers(svg, "rect", "width")[3:]
        self.assertAlmostEqual(active, 2 * copy, delta=0.2)
        self.assertAlmostEqual(copy, idle, delta=0.2)
        self.assertIn("a &amp; b", svg)

    def test_a_gain_lies_left_of_a_loss_and_both_inside(self) -> None:
        marks = [Mark("gain", 0.1, (0.05, 0.2)), Mark("loss", 12.6, None)]
        svg = ratios("A title", "what it says", "ratio", marks)
        gain, loss = self.numbers(svg, "circle", "cx")
        ends = self.numbers(svg, "line", "x1") + self.numbers(svg, "line", "x2")
        self.assertLess(gain, loss)
        self.assertTrue(all(0 < x < 720 for x in (gain, loss, *ends)))


class PublishedFigures(unittest.TestCase):
    def test_a_figure_names_where_it_was_read(self) -> None:
        published = Published()
        self.assertEqual(published.sources(), "")
        self.assertEqual(published.text("coverage"), "2.3")
        self.assertEqual(published.sources(), "Read in: the paper's own text.")

    def test_what_is_read_in_somebody_elses_notes_is_called_second_hand(self) -> None:
        published = Published()
        published.text("backend.train.speedup")
        self.assertIn("(second hand)", published.sources())

    def test_what_could_not_be_had_is_a_dash_without_a_source(self) -> None:
        published = Published()
        self.assertEqual(published.text("speech.train.active"), NOT_HAD)
        self.assertEqual(published.sources(), "")

    def test_each_source_has_a_link(self) -> None:
        self.assertTrue(all(each.url.startswith("https://") for each in sources()))


def profile(workload: str, mode: str, *times: int) -> dict[str, Any]:
    parts = dict(zip(("active_ns", "copy_ns", "idle_ns"), times, strict=True))
    return {"workload": workload, "configuration": f"cuda-{mode}", "variant": "default"} | parts


class Service(BaseHTTPRequestHandler):
    """Has a profile of vgg16 in each mode, and none of dlrm's training."""

    def do_GET(self) -> None:
        mode = self.path.removeprefix("/api/v1/breakdown?mode=")
        without = {"workload": "dlrm", "configuration": "cuda-train", "reason": "no CUPTI"}
        document = {
            "build": {"id": 4, "name": "2.13.0+cu130"},
            "profiles": [profile("vgg16", mode, 6, 1, 3)],
            "without": [without] if mode == "train" else [],
        }
        self.send_response(200 if mode in ("train", "infer") else 404)
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class StoredShares(unittest.TestCase):
    def test_a_services_profiles_are_read_of_both_modes(self) -> None:
        with HTTPServer(("127.0.0.1", 0), Service) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            answer = stored_shares(f"http://127.0.0.1:{server.server_port}/")
            server.shutdown()
        self.assertTrue(answer.is_whole)
        shares = [(each.workload, each.mode, each.parts) for each in shares_in([answer])]
        parts = (0.6, 0.1, 0.3)
        self.assertEqual(shares, [("vgg16", "train", parts), ("vgg16", "infer", parts)])
        self.assertEqual(reasons_in([answer]), ["no CUPTI"])
        self.assertEqual(builds_of([answer]), "2.13.0+cu130")

    def test_a_service_that_does_not_answer_is_said(self) -> None:
        with socket.socket() as silent:  # bound, so that nobody else answers there
            silent.bind(("127.0.0.1", 0))
            port = silent.getsockname()[1]
            answer = stored_shares(f"http://127.0.0.1:{port}")
        self.assertFalse(answer.is_whole)
        self.assertIn(f"no shares from http://127.0.0.1:{port}", answer.reason)

    def test_a_workload_that_was_profiled_twice_counts_once(self) -> None:
        with HTTPServer(("127.0.0.1", 0), Service) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            answer = stored_shares(f"http://127.0.0.1:{server.server_port}")
            server.shutdown()
        self.assertEqual(len(shares_in([answer, answer])), 2)


class Planted(unittest.TestCase):
    def test_kept_comparisons_are_shown_and_none_is_said(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            empty = tables_4_and_5(folder).text()
            self.assertIn("No comparison of planted days", empty)
            self.assertIn("| 71904 | redundant bound checks | +14.9 % (dlrm) |", empty)
            kept = folder / "71904-planted-1" / "comparison-1"
            kept.mkdir(parents=True)
            row = {
                "pr": 71904,
                "is_planted": True,
                "is_right": True,
                "number": 1,
                "outcome": "right",
                "commits": 34,
                "native": 18,
                "builds": 5,
                "runs": 98,
                "minutes": 3.0,
                "series": 36,
                "inconclusive": 0,
                "incidents": [],
            }
            (kept / "row.json").write_text(json.dumps(row))
            self.assertIn(
                "|71904|redundant bound checks|34, 18|1 of 1|", tables_4_and_5(folder).text()
            )


if __name__ == "__main__":
    unittest.main()
