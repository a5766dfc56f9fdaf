"""A daemon of its own on a database of two years, and what it costs."""

import math
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import machine_lock
from requests_under_load import answers_well

MAKE = Path(__file__).resolve().parents[2] / "support" / "two_years" / "make.py"
HOST = "127.0.0.1"
# Until a daemon answers: it may have to bring a database of 600 MB to its own version first.
PATIENCE_SECONDS = 900
TOKEN = "tw_a-token-of-this-experiment-0123456789"  # noqa: S105 its own daemon's


@dataclass
class Served:
    folder: Path
    process: int
    port: int


def make(program: Path, folder: Path, *options: str, bytes_max: float = math.inf) -> None:
    """Makes the database, unless an earlier call did. Raises where it is larger than that."""
    ready = folder / "ready"
    if ready.exists():
        return
    begun = time.monotonic()
    subprocess.run([sys.executable, MAKE, program, folder, *options], check=True)
    size = (folder / "state" / "torchwatch.sqlite").stat().st_size
    took = time.monotonic() - begun
    print(f"made {folder}: {size / 1e6:.0f} MB in {took:.0f} s", file=sys.stderr)
    if size > bytes_max:
        raise RuntimeError(f"{folder}: {size:,} bytes, more than {bytes_max:,.0f}")
    ready.write_text("")


def free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


def configure(folder: Path, port: int, keys: str) -> Path:
    """Adds to the generator's configuration what a daemon beside others needs."""
    token = folder / "token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    made = (folder / "torchwatch.toml").read_text().partition("[web]")[0]
    if "[github]" in keys:
        made = made.replace('[github]\ncommits = "pytorch/pytorch"\n', "")
    (folder / "torchwatch.toml").write_text(
        f'{made}[web]\nport = {port}\ntoken_file = "token"\n'
        f'[executor]\nmachine_lock = "{folder.name}-{port}"\n[log]\nlevel = "warning"\n' + keys
    )
    return folder / "torchwatch.toml"


def wait_until_it_answers(daemon: subprocess.Popen[bytes], port: int, log: Path) -> None:
    # What answers 503 until the database is open makes way for the daemon.
    until = time.monotonic() + PATIENCE_SECONDS
    while not answers_well(port):
        if daemon.poll() is not None:
            sys.exit(f"{Path(sys.argv[0]).name}: the daemon ended, see {log}")
        if time.monotonic() > until:
            sys.exit(f"{Path(sys.argv[0]).name}: the daemon does not answer, see {log}")
        time.sleep(0.1)


@contextmanager
def daemon_of(program: Path, folder: Path, keys: str = "") -> Iterator[Served]:
    """The daemon, with further keys of its configuration. It serves and does no work: from its
    start on somebody else holds the machine lock."""
    port = free_port()
    configuration = configure(folder, port, keys)
    log = folder / "daemon.log"
    with machine_lock.held(f"{folder.name}-{port}"):
        with log.open("w") as written:
            daemon = subprocess.Popen([program, "serve", "--config", configuration], stderr=written)
        try:
            wait_until_it_answers(daemon, port, log)
            yield Served(folder, daemon.pid, port)
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()


def memory_mb(process: int) -> dict[str, float]:
    """All that counts as the process's, its own part of that, and the most that it had."""
    status = Path(f"/proc/{process}/status").read_text()
    found = dict(re.findall(r"^(VmRSS|RssAnon|VmHWM):\s+(\d+) kB", status, re.MULTILINE))
    names = {"all": "VmRSS", "own": "RssAnon", "peak": "VmHWM"}
    return {name: int(found[key]) * 1024 / 1e6 for name, key in names.items()}
