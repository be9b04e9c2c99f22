"""Locks that show whether a log is being written. A lock of the operating system ends with its process.

Writers share the lock; a process that wants to replace the log must hold the lock alone. Where a file system has no
locks, every log counts as being written: it is read, and otherwise left alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    #: Locks of Windows forbid others to touch what is locked; no log is so long.
    _FAR_AWAY = 2**62

    def lock_together(descriptor: int) -> None:
        """Lock an open file together with other writers, until *descriptor* is closed."""
        os.lseek(descriptor, _FAR_AWAY, os.SEEK_SET)
        with suppress(OSError):
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_END)

    def lock_alone(descriptor: int) -> bool:
        """Lock an open file alone, until *descriptor* is closed. False where another process has locked it."""
        os.lseek(descriptor, _FAR_AWAY, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def lock_together(descriptor: int) -> None:
        """Lock an open file together with other writers, until *descriptor* is closed."""
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)

    def lock_alone(descriptor: int) -> bool:
        """Lock an open file alone, until *descriptor* is closed. False where another process has locked it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


@contextmanager
def lock_of_log(log: Path) -> Iterator[bool]:
    """A block in which no other process can write *log*. Yields False where a writer has it already."""
    try:
        descriptor = os.open(log, os.O_RDWR)
    except OSError:
        yield False
        return
    try:
        yield lock_alone(descriptor) and is_same_file(log, descriptor)
    finally:
        os.close(descriptor)


def is_same_file(path: Path, descriptor: int) -> bool:
    """Whether *path* still names the file that is open as *descriptor*."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
