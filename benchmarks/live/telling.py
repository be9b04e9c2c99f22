"""The tables of the live benchmark, and what lies behind each figure that should be zero."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.live.comparing import Level
from benchmarks.live.measuring import Book, Lost, Row


def read(line: str) -> Row:
    """A row that ``--json`` printed."""
    said = json.loads(line)
    books = {letter: _book(book) for letter, book in said.pop("books").items()}
    return Row(**said, books=books)


def _book(said: dict[str, Any]) -> Book:
    lost, mixed = ([Lost(**one) for one in said.pop(name)] for name in ("lost", "mixed"))
    return Book(**said, lost=lost, mixed=mixed)


def tables(rows: Sequence[Row]) -> str:
    return "\n".join([*_crawls(rows), "", *_suppressed(rows), "", *_details(rows)])


def _table(titles: Sequence[str], lines: Sequence[Sequence[object]]) -> Iterator[str]:
    cells = [titles, *([str(cell) for cell in line] for line in lines)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(titles))]
    for number, line in enumerate(cells):
        first, *others = (
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield f"| {' | '.join([first, *others])} |"
        if not number:
            yield (
                "|"
                + "|".join("-" * (width + 1) + (":" if n else "-") for n, width in enumerate(widths))
                + "|"
            )


def _crawls(rows: Sequence[Row]) -> Iterator[str]:
    letters = list(dict.fromkeys(letter for row in rows for letter in row.requests))
    yield "Requests → different contents"
    lines = [
        [
            row.name,
            *(
                f"{row.requests[one]} → {row.contents[one]}" if one in row.requests else "–"
                for one in letters
            ),
        ]
        for row in rows
    ]
    yield from _table(["site", *letters], lines)
    timed = sorted({letter for row in rows for letter in row.cpu})
    yield ""
    yield "Validation fetches of C, and seconds of CPU"
    fetches = ["no end" if row.fetches is None else row.fetches for row in rows]
    lines = [
        [row.name, fetched, *(row.cpu.get(one, "–") for one in timed)]
        for row, fetched in zip(rows, fetches, strict=True)
    ]
    yield from _table(["site", "fetches", *timed], lines)


def _suppressed(rows: Sequence[Row]) -> Iterator[str]:
    yield "What rules suppressed, fetched and compared in full"
    titles = ["site", "crawl", "rules", "suppressed", *Level, "canaries", "classes", "MIXED", "by links"]
    lines = [
        [
            row.name,
            letter,
            len(book.rules),
            book.suppressed,
            *(book.levels.get(level, 0) for level in Level),
            row.canaries.get(letter, 0),
            book.classes,
            sum(one.level == Level.LOST for one in book.mixed),
            sum(one.level != Level.LOST for one in book.mixed),
        ]
        for row in rows
        for letter, book in row.books.items()
    ]
    yield from _table(titles, lines)


def _details(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        ends = [
            f"{one}: {why}" for one, why in row.reasons.items() if why not in {"budget", "finished", "ended"}
        ]
        yield f"{row.name} ({row.seconds:.0f} s{'; ' if ends else ''}{', '.join(ends)})"
        for letter, book in row.books.items():
            yield from _of_book(letter, book)


def _of_book(letter: str, book: Book) -> Iterator[str]:
    for rule in book.rules[:30]:
        yield f"  {letter} in force: {rule}"
    for what, level, every in (
        ("LOST", "LOST", book.lost),
        ("new links", "new links", book.lost),
        ("MIXED", "LOST", book.mixed),
    ):
        all_lost = [one for one in every if one.level == level]
        by_rules: dict[str, list[Lost]] = {}
        for lost in all_lost:
            by_rules.setdefault("; ".join(lost.rules) or "rules that were not asked for", []).append(lost)
        for rules, of_rules in by_rules.items():
            yield f"  {letter} {what} {len(of_rules)} by {rules}"
            for lost in of_rules[:2]:
                yield from _of_lost(lost)


def _of_lost(lost: Lost) -> Iterator[str]:
    yield f"    {lost.url}"
    yield f"    beside {lost.keeper or 'no page of its class'}"
    for new in lost.new:
        yield f"        {new}"
