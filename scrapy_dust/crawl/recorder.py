"""Hands records to the process that describes pages and writes the crawl log, or does both in the crawl's own
process.

The process starts with the first record, and again if it died. Records are handed over in batches, since waking a
process for each record costs a crawl more than making the record; the crawl's middleware sees that none waits long.
The crawl waits for the process only when the process is a megabyte behind. A process that reads nothing for
`PATIENCE` seconds is ended, and another one started.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from scrapy_dust.crawl_log.hiding import Hider
from scrapy_dust.crawl_log.recording import Body, Describer, to_message
from scrapy_dust.crawl_log.writer import CrawlLogWriter

#: The most seconds to wait for a process that does not read, and for one to finish.
PATIENCE = 10.0
_LAST_PATIENCE = 60.0
#: After so many deaths, each within a minute of the start, the process is not started again.
_DEATHS = 5
_A_LIFE = 60.0
_PIPE = 1 << 20
#: The bytes that are handed over at a time, at most every `FLUSH_SECONDS`.
_BATCH = 1 << 17
FLUSH_SECONDS = 0.25


class RecorderHere:
    """Describes pages and writes records in the crawl's own process."""

    def __init__(self, path: Path, hide: Hider | None, ignore: Sequence[str] | None) -> None:
        self._writer = CrawlLogWriter(path, hide)
        self._describer = Describer(ignore)

    def add(self, record: Mapping[str, object], body: Body | None) -> None:
        """Write *record* with a description of *body*. Raises `OSError`, or JSON's error for a record that it cannot hold."""
        self._writer.write(self._describer.record_of(record, body))

    def flush(self) -> None:
        """Do nothing: no record waits here."""

    def complaint(self) -> tuple[int, str] | None:
        """How many records were lost since the last call, and why; None if none was."""
        return None

    def close(self) -> None:
        """Close the log."""
        self._writer.close()


class RecorderBeside:
    """Lets another process describe pages and write records. Unix only, since other systems cannot wait for pipes."""

    def __init__(self, path: Path, hide: Hider | None, ignore: Sequence[str] | None) -> None:
        # What is wrong with the folder shows at once, and here.
        CrawlLogWriter(path).close()
        names, key = ([], b"") if hide is None else (list(hide.names), hide.key)
        told = None if ignore is None else list(ignore)
        self._where = to_message({"path": str(path), "hide": names, "key": key.hex(), "ignore": told})
        self._deaths = 0
        self._waiting: list[bytes] = []
        self._room = _BATCH
        self._heard = b""
        self._process = self._start_process()

    def add(self, record: Mapping[str, object], body: Body | None) -> None:
        """Queue *record* and *body* for the process. Raises JSON's error for a record that it cannot hold, and errors of `flush`."""
        message = to_message(record, body)
        if self._deaths >= _DEATHS:
            raise OSError("the process that writes the crawl log ends as often as it is started")
        self._waiting.append(message)
        self._room -= len(message)
        if self._room <= 0:
            self.flush()

    def flush(self) -> None:
        """Hand over the queued records. Raises `OSError` if the process was found dead; another one is started then."""
        if not self._waiting:
            return
        batch = b"".join(self._waiting)
        self._waiting, self._room = [], _BATCH
        try:
            self._send(batch)
        except OSError as error:
            self._restart()
            self._send(batch)
            why = f"the process that writes it ended ({error}), with what it had not written"
            raise OSError(why) from None

    def complaint(self) -> tuple[int, str] | None:
        """How many records the process has lost since the last call, and why; None if none was."""
        assert self._process.stdout is not None
        # When it has ended, all that it said was heard.
        with suppress(BlockingIOError, ValueError):
            self._heard += os.read(self._process.stdout.fileno(), 1 << 16)
        return self._parse_complaints()

    def close(self) -> None:
        """Wait until all records are written. Raises `OSError` if that takes too long, and errors of `flush`."""
        try:
            self.flush()
        finally:
            self._finish()

    def _finish(self) -> None:
        try:
            rest, _ = self._process.communicate(timeout=_LAST_PATIENCE)
            self._heard += rest
        except subprocess.TimeoutExpired:
            self._kill()
            raise OSError(f"its process did not finish in {_LAST_PATIENCE:g} s and was ended") from None

    def _parse_complaints(self) -> tuple[int, str] | None:
        """The number of lost records that the process has reported, and the last reason; None if none is lost."""
        *lines, self._heard = self._heard.split(b"\n")
        told = [line.decode("utf-8", "replace").partition(" ") for line in lines]
        return (sum(int(count) for count, _, _ in told), told[-1][2]) if told else None

    def _start_process(self) -> subprocess.Popen[bytes]:
        # Makes glibc keep free memory: each page takes and frees as much as the one before.
        process = start_beside("scrapy_dust.crawl_log.recording", MALLOC_TOP_PAD_=str(4 << 20))
        assert process.stdin is not None
        _widen(process.stdin.fileno())
        self._process, self._began = process, time.monotonic()
        self._send(self._where)
        return process

    def _restart(self) -> None:
        """Start the process again. Raises `OSError` if it has died too often."""
        self._kill()
        self._deaths += 1
        if self._deaths > _DEATHS:
            raise OSError(
                f"the process that writes the crawl log ended {_DEATHS} times; nothing more is recorded"
            )
        self._process = self._start_process()

    def _kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _send(self, message: bytes) -> None:
        """Write *message* to the process. Wait while the pipe is full."""
        assert self._process.stdin is not None
        pipe, left = self._process.stdin.fileno(), memoryview(message)
        while left:
            try:
                left = left[os.write(pipe, left) :]
            except BlockingIOError:
                _wait_for_room(pipe)


def start_beside(module: str, **environment: str) -> subprocess.Popen[bytes]:
    """A process that runs *module*, with pipes to and from it that never block. *environment*: variables to add."""
    known = os.environ | {
        # What this process can import, whoever put it on the path.
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        # Pages are small; threads of numpy's would only take memory.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    process = subprocess.Popen(  # noqa: S603  One of our own modules.
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=known | environment,
    )
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        os.set_blocking(pipe.fileno(), False)
    return process


def _wait_for_room(pipe: int) -> None:
    poll = select.poll()
    poll.register(pipe, select.POLLOUT)
    if not poll.poll(PATIENCE * 1000):
        raise TimeoutError(f"it did not read for {PATIENCE:g} s")


def _widen(pipe: int) -> None:
    """Enlarge *pipe*, so that a large page does not make the crawl wait. Other systems than Linux cannot."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl  # noqa: PLC0415

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


Recorder = RecorderHere | RecorderBeside


def recorder(path: Path, hide: Hider | None, *, ignore: Sequence[str] | None = (), beside: bool) -> Recorder:
    """A recorder that writes to *path*: in a process *beside* the crawl, or here. *ignore*: as in `Describer`."""
    possible = os.name == "posix" and bool(sys.executable)
    if beside and possible:
        # Where no process may be started, the crawl describes its pages itself. What else is wrong shows again.
        with suppress(OSError):
            return RecorderBeside(path, hide, ignore)
    return RecorderHere(path, hide, ignore)
