"""What the browser tests share: a daemon on a database of many nightlies, and a browser."""

import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import browser
from command import CHECKOUT, TORCHWATCH, torchwatch, write_secret
from service import TOKEN, Daemon

MAKE = CHECKOUT / "tests/support/two_years/make.py"
sys.path.insert(0, str(MAKE.parent))
VARIABLES = {"PATH": "/usr/bin:/bin"}


class SeededTest(unittest.TestCase):
    """Tests of one daemon in one browser; each test has windows of its own."""

    OPTIONS: ClassVar[tuple[str, ...]] = (
        *("--nightlies", "30", "--incidents", "12", "--with-samples", "2"),
    )
    CONFIGURATION: ClassVar[str] = ""
    held: ClassVar[ExitStack | None] = None
    folder: ClassVar[Path]
    daemon: ClassVar[Daemon]
    chromium: ClassVar[Any]

    def setUp(self) -> None:
        browser.require(self)
        if self.held is None:
            self.begin()

    @classmethod
    def prepare(cls, folder: Path) -> None:
        """What a test adds to the database before the daemon opens it."""

    @classmethod
    def begin(cls) -> None:
        cls.held = ExitStack()
        cls.addClassCleanup(cls.held.close)
        cls.folder = Path(cls.held.enter_context(tempfile.TemporaryDirectory()))
        subprocess.run([sys.executable, MAKE, TORCHWATCH, cls.folder, *cls.OPTIONS], check=True)
        cls.prepare(cls.folder)
        write_secret(cls.folder / "token", TOKEN)
        own = (
            f'[executor]\nmachine_lock = "torchwatch-test-{os.getpid()}"\n'
            f'[web]\nport = 0\ntoken_file = "token"\nrequests_per_second = 1000\n'
        )
        file = cls.folder / "torchwatch.toml"
        file.write_text(file.read_text() + own + cls.CONFIGURATION)
        cls.start_daemon()
        cls.held.callback(lambda: cls.daemon.stop())  # noqa: PLW0108 a test may have started another
        cls.chromium = cls.held.enter_context(browser.started())

    @classmethod
    def start_daemon(cls) -> None:
        cls.daemon = Daemon(cls.folder, VARIABLES | {"HOME": str(cls.folder)})

    @classmethod
    def restart_daemon(cls, meanwhile: Callable[[], object]) -> None:
        """Stops the daemon, does that, and starts it again at the same address."""
        cls.daemon.stop()
        meanwhile()
        file = cls.folder / "torchwatch.toml"
        port = cls.daemon.base.rpartition(":")[2]
        file.write_text(file.read_text().replace("port = 0", f"port = {port}"))
        cls.start_daemon()

    @contextmanager
    def window(self, path: str, width: int = 1280, scheme: str = "light") -> Iterator[browser.View]:
        """A window on a page, which must be without faults when the test is done with it."""
        view = browser.View(self.chromium, self.daemon.base, width, scheme)
        try:
            self.assertEqual(view.open(path), 200)
            yield view
            self.assertEqual(view.faults(), [])
        finally:
            view.close()

    def run_command(self, *arguments: str) -> str:
        done = torchwatch(self.folder / "torchwatch.toml", *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout
