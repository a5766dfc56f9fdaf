"""Calls a program so that a stop of this one stops it, too, in good order."""

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

INTERRUPTED = 130  # torchwatch's exit status, and a script's, after a stop


def _stop(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def heed_signals() -> None:
    """From now on a KeyboardInterrupt comes of SIGTERM and SIGHUP as it does of SIGINT. Nohup's
    wish is kept."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _stop)


def call(command: Sequence[str | Path], **how: Any) -> subprocess.CompletedProcess[Any]:
    """As subprocess.run, which kills the program when this one is stopped: here it gets SIGTERM,
    and its end is awaited. Its session is its own, or a terminal would signal it, too."""
    with subprocess.Popen(command, start_new_session=True, **how) as child:
        try:
            output, errors = child.communicate()
        except BaseException:
            child.terminate()
            child.communicate()
            raise
    return subprocess.CompletedProcess(command, child.returncode, output, errors)
