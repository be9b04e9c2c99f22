"""What units cost on pages: ``python -m benchmarks.units [--pages 240] [--folder FOLDER]``.

Pages of a shop: a frame that all have in common, with a menu, and an article of one to ten paragraphs beside twenty
products of its own. Each is described with units and without, turn and turn about, by processor time, the least of
three rounds: once with nothing remembered of other pages, and once more with what that has left. Then what a record
takes in a log, compressed. All that once for texts in which each word has a number, and once for plain words.

``--folder``: the same for the HTML in a folder, such as a manual, as the pages of one site.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import random
import time
from datetime import UTC, datetime
from pathlib import Path

from scrapy_dust.crawl_log.place_names import Naming
from scrapy_dust.crawl_log.recording import _GARBAGE
from scrapy_dust.crawl_log.records import fields_of, record_of_answer
from scrapy_dust.page import unit_reading
from scrapy_dust.page.elements import Memory
from scrapy_dust.page.sketch import describe_each

Asked = tuple[bytes, str, str, str]
_ROUNDS = 3
_AT_ONCE = 12  #: as a recorder has them from a fast crawl
_LETTERS = str.maketrans("0123456789", "klmnpqstuv")
_WHEN = datetime(2026, 11, 19, tzinfo=UTC)


def shop(count: int, *, plain: bool = False) -> list[Asked]:
    """The same for ever. *plain*: words have letters in the place of numbers."""
    chance = random.Random(5)
    words = [f"{chance.choice('abcdefgh')}ord{i}" for i in range(3000)]
    if plain:
        words = [word.translate(_LETTERS) for word in words]

    def said(least: int, most: int) -> str:
        return " ".join(chance.choices(words, k=chance.randint(least, most)))

    menu = "".join(f"<li class=item><a href='/c/{i}?sort=name'>{said(1, 3)}</a>" for i in range(60))
    frame = f"<header><img src=/logo.png alt=Shop><form action=/find><input name=q></form><nav><ul>{menu}</ul></nav></header>"
    foot = f"<footer><ul>{menu[:1500]}</ul><p>{said(30, 60)}</footer>"

    def product(number: int) -> str:
        link = f"<a href='/p/{number}' title='{said(2, 4)}'>{said(2, 5)}</a>"
        return f"<div class=card id=p{number}><img src='/i/{number}.jpg'>{link}<b class=price>{number}.99</b></div>"

    def page(number: int) -> str:
        article = "".join(f"<p>{said(20, 80)}</p>" for _ in range(chance.randint(1, 10)))
        products = "".join(product(chance.randrange(5000)) for _ in range(20))
        head = f"<title>{said(2, 5)}</title><meta name=description content='{said(5, 12)}'>"
        return (
            f"<html><head>{head}</head><body>{frame}<main><h1>{number}</h1>{article}{products}</main>{foot}"
        )

    return [(page(i).encode(), "text/html", "utf-8", f"http://a.test/a/{i}?from=list") for i in range(count)]


def _seconds(pages: list[Asked], ignore: tuple[str, ...] | None) -> float:
    gc.collect()
    begun = time.process_time()
    for begin in range(0, len(pages), _AT_ONCE):
        describe_each(pages[begin : begin + _AT_ONCE], ignore)
    return time.process_time() - begun


def _times(pages: list[Asked]) -> list[float]:
    """Without units, with them, and with them again: the least of several rounds."""
    rounds = []
    for _ in range(_ROUNDS):
        unit_reading._memory = Memory()
        rounds.append([_seconds(pages, None), _seconds(pages, ()), _seconds(pages, ())])
    return [min(times) for times in zip(*rounds, strict=True)]


def _bytes_of_a_record(pages: list[Asked], ignore: tuple[str, ...] | None) -> float:
    naming, lines = Naming(), []
    for (body, _, _, url), text in zip(pages, describe_each(pages, ignore), strict=True):
        record = record_of_answer(url, 200, size=len(body), fetched_at=_WHEN) | fields_of(text, naming)
        lines.append(json.dumps(record, separators=(",", ":")))
    return len(gzip.compress("\n".join(lines).encode(), 6)) / len(pages)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.units", description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=240)
    parser.add_argument("--folder", type=Path, help="of HTML to be measured in the place of generated pages")
    args = parser.parse_args()
    # As the process beside a crawl has it.
    gc.set_threshold(_GARBAGE)
    if args.folder is not None:
        _measure(_found_in(args.folder, args.pages))
        return
    for plain in (False, True):
        print("plain words" if plain else "a number in each word")
        _measure(shop(args.pages, plain=plain))


def _found_in(folder: Path, count: int) -> list[Asked]:
    """So many pages of *folder*, spread over its whole."""
    files = sorted(folder.rglob("*.html"))
    chosen = files[:: max(1, len(files) // count)][:count]
    return [
        (file.read_bytes(), "text/html", "utf-8", f"http://a.test/{file.relative_to(folder)}")
        for file in chosen
    ]


def _measure(pages: list[Asked]) -> None:
    without, cold, warm = _times(pages)
    print(
        f"{len(pages)} pages of {sum(len(body) for body, *_ in pages) / len(pages) / 1000:.1f} kB:"
        f" {without / len(pages) * 1e3:.2f} ms without units; with them {cold / without:.2f} times that,"
        f" {warm / without:.2f} times when seen again"
    )
    plain, both = (_bytes_of_a_record(pages, ignore) for ignore in (None, ()))
    print(f"a record, gzipped: {plain:.0f} bytes without units; with them {both / plain:.2f} times that")


if __name__ == "__main__":
    main()
