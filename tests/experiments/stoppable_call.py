"""Calls a program so that a stop of this one stops it, too, in good order."""

import signal
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

INTERRUPTED = 130  # torchwatch's exit status, and a script's, after a stop
STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


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
    # A stop waits until there is a program to pass it on to.
    held = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    release = partial(signal.pthread_sigmask, signal.SIG_SETMASK, held)
    try:
        # There is one thread.
        child = subprocess.Popen(command, start_new_session=True, preexec_fn=release, **how)  # noqa: PLW1509
    except BaseException:
        release()
        raise
    with child:
        try:
            release()
            output, errors = child.communicate()
        except BaseException:
            child.terminate()
            child.communicate()
            raise
    return subprocess.CompletedProcess(command, child.returncode, output, errors)
