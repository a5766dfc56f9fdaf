"""The lock that services of a machine share, so that one of them measures at a time."""

import errno
import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

DEFAULT = "torchwatch"  # [executor] machine_lock, if it is not set
LOOK_AGAIN_SECONDS = 1


def _socket(name: str) -> socket.socket | None:
    """An abstract socket, which is gone with its process; nothing while another one listens."""
    holding = socket.socket(socket.AF_UNIX)
    try:
        holding.bind(f"\0torchwatch-machine-{name}")
        holding.listen()
    except OSError as error:
        holding.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise
    return holding


def _file(path: str) -> int | None:
    """The descriptor of a locked file, which says who holds it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o660)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    os.ftruncate(file, 0)
    os.write(file, f"{os.getpid()}\n".encode())
    return file


@contextmanager
def held(name: str | None) -> Iterator[None]:
    """Waits until no service with the lock of that name, or of the default one, measures; none of
    them does before this ends."""
    wanted, is_said = name or DEFAULT, False
    take = _file if wanted.startswith("/") else _socket
    while (lock := take(wanted)) is None:
        if not is_said:
            print(f"waiting: the machine lock {wanted} is held", file=sys.stderr, flush=True)
        is_said = True
        time.sleep(LOOK_AGAIN_SECONDS)
    try:
        yield
    finally:
        lock.close() if isinstance(lock, socket.socket) else os.close(lock)
