"""Keeps the answers of validation on disk, so that a run that was stopped goes on without fetching again.

The journal is a file beside the verdicts, JSON lines, one for each answer in the order they came; each line is handed
to the operating system at once. It has digests and hashes of pages, and no bodies. An answer is forgotten after
`KEPT_DAYS`. A line that a crash has cut short is skipped, and so is a file of another version: losing it costs
fetches and nothing else.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from scrapy_dust.crawl_log.locks import is_same_file, lock_alone
from scrapy_dust.judge.answers import Fetched
from scrapy_dust.page import SKETCH_VERSION, UNITS_VERSION
from scrapy_dust.page.compare import Answer
from scrapy_dust.page.units import MAX_UNITS, pack, unpack
from scrapy_dust.rule_book.shards import Shard
from scrapy_dust.visits.pages import PackedUnits

VERSION = [3, SKETCH_VERSION, UNITS_VERSION]
KEPT_DAYS = 7

#: An answer, and the browser that made the page of it.
_Answer = tuple[Fetched, str | None]
#: How answers were described: by which version, and without which elements.
_Version = Sequence[int | str]


def probes_path(verdicts: Path, shard: Shard | None = None) -> Path:
    """The path of the journal, beside the *verdicts*. Each *shard* has its own, since a journal has one writer."""
    path = verdicts.with_name("probes.jsonl")
    return path if shard is None else Path(shard.path_of_part(path))


class ProbeJournal:
    """The journal of answers, by URL. Each answer of an earlier run is given out once, in the order they came."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        now: float = 0.0,
        writing: bool = True,
        ignore: Sequence[str] = (),
    ) -> None:
        """The journal in the file *path*; without a path nothing is remembered. If another run is writing the file,
        this run only reads it.

        *ignore*: CSS selectors of elements that do not count. Answers that were saved with other selectors are not
        used.
        """
        self._path = path if writing else None
        self._version: _Version = [*VERSION, *ignore]
        self._descriptor: int | None = None
        self._answers: dict[tuple[str, str | None], deque[Fetched]] = {}
        self._kept: list[_Answer] | None = None  # what to write anew, where much is forgotten
        if path is None:
            return
        known = list(_read_answers(path, self._version))
        recent = [answer for answer in known if answer[0].at >= now - KEPT_DAYS * 86_400]
        self._kept = recent if 2 * len(recent) < len(known) else None
        for page, renderer in recent:
            self._answers.setdefault((page.url, renderer), deque()).append(page)

    def __len__(self) -> int:
        """How many answers of earlier runs are left."""
        return sum(map(len, self._answers.values()))

    def take(self, url: str, renderer: str | None = None, *, since: float = 0.0) -> Fetched | None:
        """The next answer of *url* that came no earlier than *since*; None if the site must be asked."""
        answers = self._answers.get((url, renderer))
        while answers:
            page = answers.popleft()
            if page.at >= since:
                return page
        return None

    def add(self, page: Fetched, renderer: str | None = None) -> None:
        """Save an answer that has just come. After a failure to write, no more is saved."""
        if self._path is None:
            return
        try:
            if self._descriptor is None:
                self._descriptor = self._open_file(self._path)
            if self._descriptor is not None:
                _write_all(self._descriptor, _answer_line(self._version, page, renderer))
        except OSError:
            self.close()
        if self._descriptor is None:
            self._path = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open_file(self, path: Path) -> int | None:
        """The descriptor of the file at *path*, ready to be appended to; None if another run is writing it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        if not lock_alone(descriptor) or not is_same_file(path, descriptor):
            os.close(descriptor)
            return None
        if self._kept is not None:
            _rewrite_file(path, self._version, self._kept)
            os.close(descriptor)
            self._kept = None
            return self._open_file(path)
        # After what a crash has cut short, a line begins anew.
        size = os.fstat(descriptor).st_size
        os.lseek(descriptor, max(0, size - 1), os.SEEK_SET)
        if size and os.read(descriptor, 1) != b"\n":
            _write_all(descriptor, b"\n")
        return descriptor


def _rewrite_file(path: Path, version: _Version, answers: Iterable[_Answer]) -> None:
    """Replace the file at *path* by one with *answers* alone."""
    part = path.with_name(f"{path.name}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        _write_all(descriptor, b"".join(_answer_line(version, *answer) for answer in answers))
    finally:
        os.close(descriptor)
    part.replace(path)


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def _answer_line(version: _Version, page: Fetched, renderer: str | None) -> bytes:
    """The line of the file for one answer: *page*, and the *renderer* that made it."""
    said: list[object] = [page.url, page.final_url, page.status, page.text_digest, list(page.sketch or ())]
    said += [sorted(page.marks), round(page.at, 3), renderer, _page_to_json(page.shown)]
    return json.dumps([version, *said]).encode("ascii", "backslashreplace") + b"\n"


def _page_to_json(shown: Answer | None) -> list[object] | None:
    """The units of a page as JSON has them; None for an answer without a page."""
    if shown is None:
        return None
    packed = pack(shown.units, MAX_UNITS)
    units = [packed.content.hex(), packed.total, packed.whole]
    return [shown.url, shown.canonical, *units, dict(shown.names), dict(shown.links)]


def _read_answers(path: Path, version: _Version) -> Iterator[_Answer]:
    """The answers in the file, as far as they can be read."""
    try:
        with path.open("rb") as file:
            for line in file:
                with suppress(ValueError, RecursionError, TypeError):
                    yield _parse_answer(json.loads(line), version)
    except OSError:
        return


def _parse_answer(row: object, version: _Version) -> _Answer:
    """The answer in *row*. Raises `ValueError` or `TypeError` for anything that `_answer_line` does not write."""
    if not isinstance(row, list) or len(row) != 10 or row[0] != version:
        raise ValueError("no answer")
    _, url, final_url, status, digest, sketch, marks, at, renderer, shown = row
    texts = (url, final_url, digest, renderer or "")
    if not all(isinstance(text, str) for text in texts) or not isinstance(status, int | None):
        raise ValueError("no answer")
    page = Fetched(
        url=url,
        final_url=final_url,
        status=status,
        shown=_page_from_json(shown),
        text_digest=digest,
        sketch=tuple(map(int, sketch)) or None,
        marks=frozenset(map(str, marks)),
        at=float(at),
    )
    return page, renderer


def _page_from_json(row: object) -> Answer | None:
    """The units that `_page_to_json` wrote. Raises `ValueError` for anything else."""
    if row is None:
        return None
    if not isinstance(row, list) or len(row) != 7 or not isinstance(row[0], str):
        raise ValueError("no page")
    url, canonical, units, total, whole, names, links = row
    if not isinstance(canonical, str | None) or not isinstance(total, int):
        raise ValueError("no page")
    return Answer(
        url,
        unpack(PackedUnits(bytes.fromhex(units), total, bool(whole))),
        {int(place): str(name) for place, name in dict(names).items()},
        canonical,
        links={int(value): str(link) for value, link in dict(links).items()},
    )
