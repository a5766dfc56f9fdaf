"""Traces of runs: what leads to one, and that Perfetto gets it from window to window."""

import unittest
import urllib.request
from pathlib import Path

from seeded import SeededTest
from service import TOKEN, ask

# Answers as ui.perfetto.dev does, and says in its title how many bytes it was handed.
PERFETTO = """<!doctype html><title>waits</title><script>
  addEventListener("message", ({ data, source }) => {
    if (data === "PING") source.postMessage("PONG", "*");
    if (data.perfetto) document.title = `has ${data.perfetto.buffer.byteLength}`;
  });
</script>"""


class TracesInABrowser(SeededTest):
    OPTIONS = (
        *("--nightlies", "10", "--incidents", "2", "--with-samples", "2", "--workloads", "2"),
    )

    @classmethod
    def prepare(cls, folder: Path) -> None:
        import profiles  # seeded.py says where it lies

        profiles.write(folder)

    def test_the_page_of_an_incident_leads_to_a_trace_and_perfetto_gets_all_of_it(self) -> None:
        newest = ask(f"{self.daemon.base}/api/v1/incidents?limit=1")[1]["incidents"][0]
        with self.window(f"/incidents/{newest['id']}") as view:
            view.page.locator("#traces tbody a").first.click()
            view.page.wait_for_url("**/traces/*")
            view.context.route(
                "https://ui.perfetto.dev/**",
                lambda route: route.fulfill(body=PERFETTO, content_type="text/html"),
            )
            view.page.wait_for_selector("#live")
            with view.context.expect_page() as opened:
                view.page.get_by_text("Open in Perfetto").click()
            opened.value.wait_for_function("document.title !== 'waits'")
            request = urllib.request.Request(
                f"{view.page.url}/trace.json.gz", headers={"Authorization": f"Bearer {TOKEN}"}
            )
            with urllib.request.urlopen(request) as answer:
                self.assertEqual(opened.value.title(), f"has {len(answer.read())}")


if __name__ == "__main__":
    unittest.main()
