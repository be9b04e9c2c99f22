"""The process beside a crawl that describes each answer and writes the crawl log.

Describing a page takes a fifth of the time that a fast crawl spends on all else. So the crawl only sends the answer
through a pipe, and this process, which knows nothing of Scrapy, describes it on another core. The process ends when
the pipe ends, however the crawl ended, after it has written all that came.

    crawl: record without text, body ──▶ pipe ──▶ describe ──▶ CrawlLogWriter

A message: two lengths, a JSON object of the first, and the body of the second. The first message says where to write,
what to hide and what to ignore. Records that could not be written are reported on standard output, a line each time:
how many more, and why.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import struct
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, TextIO

from scrapy_dust.crawl_log.hiding import Hider
from scrapy_dust.crawl_log.place_names import Naming
from scrapy_dust.crawl_log.writer import CrawlLogWriter

_LENGTHS = struct.Struct(">QQ")
_JSON = json.JSONEncoder(allow_nan=False)
#: So many bytes are read at a time, if they are there: a dozen pages, which are described together.
_TOGETHER = 1 << 16
#: Seconds between two complaints.
_PATIENCE = 1.0


class Body(NamedTuple):
    """The body of an answer, with what is needed to read it."""

    content: bytes
    content_type: str
    encoding: str | None  #: declared, not guessed


class Describer:
    """Completes the records of one log with the description of what each body shows."""

    def __init__(self, ignore: Sequence[str] | None = ()) -> None:
        self._ignore = ignore  #: CSS selectors of elements without units; None: no units
        self._naming = Naming()

    def record_of(self, record: Mapping[str, object], body: Body | None) -> dict[str, object]:
        """*record* with the description of *body*."""
        return self.records_of([(record, body)])[0]

    def records_of(
        self, answers: Sequence[tuple[Mapping[str, object], Body | None]]
    ) -> list[dict[str, object]]:
        """The result of `record_of` for each of several records, which together take less time."""
        answers = [(self._with_taken_packed(record), body) for record, body in answers]
        bodies = [(*body, str(record["url"])) for record, body in answers if body is not None]
        if not bodies:
            return [dict(record) for record, _ in answers]
        # Not loaded by a crawl whose records are made beside it.
        from scrapy_dust.crawl_log.records import fields_of  # noqa: PLC0415
        from scrapy_dust.page.sketch import describe_each  # noqa: PLC0415

        said = (fields_of(text, self._naming) for text in describe_each(bodies, self._ignore))
        return [dict(record) if body is None else {**record, **next(said)} for record, body in answers]

    def _with_taken_packed(self, record: Mapping[str, object]) -> Mapping[str, object]:
        """*record*, with the values that a callback took in the packed form of a log, if it has any."""
        if "taken" not in record and "items" not in record:
            return record
        from scrapy_dust.crawl_log.records import with_taken_packed  # noqa: PLC0415  As below.

        return with_taken_packed(record, self._naming)


def to_message(content: Mapping[str, object], body: Body | None = None) -> bytes:
    """A record and its body as bytes. Raises `TypeError` or `ValueError` for what JSON cannot hold."""
    how = None if body is None else (body.content_type, body.encoding)
    head = _JSON.encode({"content": content, "body": how}).encode("ascii")
    said = b"" if body is None else body.content
    return b"".join((_LENGTHS.pack(len(head), len(said)), head, said))


def messages(stream: BinaryIO) -> Iterator[list[tuple[dict[str, Any], Body | None]]]:
    """The messages that have come, many at a time. A last message that was cut off, because the crawl was
    killed, is left out.

    *stream* is one whose `read` gives what there is, and waits only where there is nothing.
    """
    came = bytearray()
    while chunk := stream.read(_TOGETHER):
        came += chunk
        with memoryview(came) as view:
            whole, read = _complete_messages(view)
        if whole:
            del came[:read]
            yield whole


def _complete_messages(came: memoryview) -> tuple[list[tuple[dict[str, Any], Body | None]], int]:
    """The complete messages in *came*, and the place where the last of them ends."""
    found: list[tuple[dict[str, Any], Body | None]] = []
    end = 0
    while len(came) >= (begin := end + _LENGTHS.size):
        of_head, of_body = _LENGTHS.unpack_from(came, end)
        if len(came) < begin + of_head + of_body:
            break
        end = begin + of_head + of_body
        message = json.loads(bytes(came[begin : begin + of_head]))
        body = Body(bytes(came[begin + of_head : end]), *message["body"]) if message["body"] else None
        found.append((message["content"], body))
    return found, end


#: Objects that are made until those that are no longer needed are looked for.
_GARBAGE = 50_000


class Complaints:
    """Counts the records that could not be written, and reports them at most once a second, and at the end."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._untold, self._why = 0, ""
        self._told_at = -_PATIENCE

    def add(self, error: Exception) -> None:
        """Count one more record, lost because of *error*."""
        self._untold, self._why = self._untold + 1, " ".join(repr(error).split())
        if time.monotonic() - self._told_at >= _PATIENCE:
            self.report()

    def report(self) -> None:
        """Report the records lost since the last report."""
        if self._untold:
            print(self._untold, self._why, file=self._out, flush=True)
            self._untold, self._told_at = 0, time.monotonic()


def main(stream: BinaryIO, out: TextIO) -> None:
    """Describe and write all records that come through *stream*. Complaints go to *out*."""
    incoming = messages(stream)
    begun = next(incoming, None)
    if begun is None:
        return
    (where, _), *rest = begun
    # Nothing here is a cycle, and what is remembered of pages is not to be looked through each time.
    gc.set_threshold(_GARBAGE)
    complaints = Complaints(out)
    hide = Hider(where["hide"], bytes.fromhex(where["key"])) if where["hide"] else None
    writer, describer = CrawlLogWriter(where["path"], hide), Describer(where["ignore"])
    for answers in chain([rest], incoming):
        _describe_and_write(answers, describer, writer, complaints)
    writer.close()
    complaints.report()


def _describe_and_write(
    answers: Sequence[tuple[Mapping[str, object], Body | None]],
    describer: Describer,
    writer: CrawlLogWriter,
    complaints: Complaints,
) -> None:
    """Describe the *answers* and write their records. An answer that cannot be described, or written, stops no other."""
    try:
        records = describer.records_of(answers)
    except Exception as error:  # noqa: BLE001  The others may be better, whatever was wrong with one.
        if len(answers) == 1:
            complaints.add(error)
            return
        for answer in answers:
            _describe_and_write([answer], describer, writer, complaints)
        return
    for record in records:
        try:
            writer.write(record)
        except Exception as error:  # noqa: BLE001  As above.
            complaints.add(error)


def give_way() -> None:
    """Lower the priority of this process where there are too few cores for it and the crawl."""
    if hasattr(os, "nice"):
        os.nice(5)
    if hasattr(os, "SCHED_BATCH"):
        with suppress(OSError):  # a sandbox may forbid it
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


if __name__ == "__main__":
    # Ctrl-C and a service manager's SIGTERM reach all processes of a group. The crawl is still getting the
    # answers that it has asked for; this one ends with it.
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, signal.SIG_IGN)
    give_way()
    # Unbuffered, so that nothing that is there waits for what is not.
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as incoming:
        main(incoming, sys.stdout)
