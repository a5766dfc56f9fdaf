"""PyTorch's nightlies in five steps: the second to the fifth, from an empty folder. The first is
that of `deploy: install`."""

import json
import os
import re
import tomllib
import unittest
from typing import Any

from command import CHECKOUT, CommandTest
from git_call import git
from service import Daemon, ask, wait_for
from wheel_index import Index, torch_members

# The example that the third step names.
EXAMPLE = re.compile(r'```toml\n(\[channel\]\nkind = "wheel-index"\n.*?)```', re.DOTALL)


class FiveSteps(CommandTest):
    def example(self) -> str:
        text = (CHECKOUT / "docs" / "operating.md").read_text()
        (found,) = EXAMPLE.findall(text)
        return found

    def set_key(self, table: str, key: str, value: str) -> None:
        """Takes the # from a key's line and gives it a value."""
        before, header, behind = self.configuration.read_text().partition(f"\n[{table}]\n")
        own, next_header, rest = behind.partition("\n[")
        own, count = re.subn(rf"(?m)^#?{key} = .*$", lambda _: f"{key} = {value}", own)
        self.assertEqual(count, 1, f"[{table}] {key}")
        self.configuration.write_text(before + header + own + next_header + rest)

    def apply_example(self) -> None:
        for table, keys in tomllib.loads(self.example()).items():
            for key in keys:
                (value,) = re.findall(rf"(?m)^{key} = (.*)$", self.example())
                self.set_key(table, key, value)

    def test_the_document_says_what_is_done_here(self) -> None:
        text = (CHECKOUT / "docs" / "operating.md").read_text()
        steps = text.partition("## PyTorch's nightlies in five steps")[2].partition("\n## ")[0]
        third = " ".join(steps.partition("\n3. ")[2].partition("\n4. ")[0].split())
        self.assertRegex(third, "Give its keys the values .*: take the `#` away from `kind`")

    def test_the_example_is_taken_key_by_key(self) -> None:
        self.expect(0, "init")
        self.apply_example()
        items = self.json_of(0, "config")["items"]
        given = {(item["table"], item["name"]): item for item in items if item["origin"] == "file"}
        wanted = {
            (table, key): f'"{value}"'
            for table, keys in tomllib.loads(self.example()).items()
            for key, value in keys.items()
        }
        self.assertEqual({name: item["value"] for name, item in given.items()}, wanted)

    def test_with_an_index_at_hand_the_check_finds_it(self) -> None:
        index = Index()
        self.addCleanup(index.close)
        index.add("torch", "2.15.0.dev20260817+cpu", torch_members(needed=("libc10.so",)))
        self.expect(0, "init")
        self.apply_example()
        self.set_key("channel", "index", f'"{index.url}"')
        # What this machine lacks otherwise may be an error as well.
        done = self.run_command("check", "--json")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        items = json.loads(done.stdout)["items"]
        found = {item["what"]: item for item in items}
        self.assertEqual(found["[channel] index"]["severity"], "good", found["[channel] index"])
        self.assertEqual(
            found["[channel] index"]["found"],
            "it lists 1 build, the newest 2.15.0.dev20260817+cpu",
        )
        self.assertIn("not been cloned yet", found["[source] repository"]["found"])

    def test_the_daemon_fetches_the_nightlies_and_clones_the_repository(self) -> None:
        index = Index()
        self.addCleanup(index.close)
        shas = self.repository(3)
        for day, sha in zip((15, 16, 17), shas, strict=True):
            version = f"2.15.0.dev202608{day}+cpu"
            index.add("torch", version, torch_members(version, ("libc10.so",), sha))
        self.expect(0, "init")
        self.apply_example()
        self.set_key("channel", "index", f'"{index.url}"')
        self.set_key("source", "repository", f'"file://{self.folder}/pytorch"')
        self.set_key("web", "port", "0")
        self.set_key("executor", "machine_lock", f'"torchwatch-test-{os.getpid()}"')
        daemon = Daemon(self.folder, dict(os.environ))
        self.addCleanup(daemon.stop)

        def ready() -> list[dict[str, Any]] | None:
            builds = ask(f"{daemon.base}/api/v1/builds")[1]["builds"]
            found = [build for build in builds if build["state"] == "ready"]
            return found if len(found) == 2 else None

        found = {build["name"]: build["trunk_commit"] for build in wait_for(ready)}
        # The example says since when.
        pairs = zip((16, 17), shas[1:], strict=True)
        expected = {f"2.15.0.dev202608{day}+cpu": sha for day, sha in pairs}
        self.assertEqual(found, expected)
        clone = self.folder / "state" / "source.git"
        self.assertEqual(git(clone, "rev-parse", "main"), shas[-1])


if __name__ == "__main__":
    unittest.main()
