"""Copies of pages in crawls: ``python -m benchmarks.contents [cost|copies|near]``.

``cost [--pages 20000] [--pairs 1]``: the crawl of `benchmarks.recorder` with ``DUST_CONTENT_DEDUP = "drop"`` and without,
each in a process of its own, turn and turn about: ratios by the clock and in CPU time, and memory.
``copies [--pages 10000]``: a crawl of pages of which 30 % are copies at other URLs, a third each of equal bytes, of
equal units in other markup, and of text in which a counter, a date and an advertisement differ. What comes out is counted.
``near``: precision and recall of ``DUST_CONTENT_NEAR = True`` on made-up pages, by how long they are and what changed,
and what becomes of pages that are different and only look alike.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any

from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response

from benchmarks import recorder
from benchmarks.recorder import Cost, Follower
from scrapy_dust.crawl.seen_contents import Contents
from scrapy_dust.crawl_log.recording import Body
from scrapy_dust.settings import DustSettings
from scrapy_dust.signatures.sqlite_store import SqliteStore

_CHANCE = random.Random(5)
_WORDS = ["".join(_CHANCE.choices("abcdefghijklmnopqrstuvwxyz", k=2 + n % 9)) for n in range(20_000)]
_FRAME = " ".join(_CHANCE.choices(_WORDS, k=150))
_BYTES, _MARKUP, _NEAR = range(3)
_PARAMETERS = ("bytes", "markup", "near")
_SETTINGS: dict[str, Any] = {
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DUST_RULES": [],
}


def prose(number: object, words: int) -> str:
    return " ".join(random.Random(f"{number}").choices(_WORDS, k=words))


def made(title: str, said: str, more: str = "", frame: str = _FRAME) -> bytes:
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><nav>{frame}</nav><main><p>{said}</p>{more}"
        "</main></body></html>"
    ).encode()


def changed(words: int, seed: object, *, parts: str = "counter date advertisement") -> str:
    """What a site adds to a page anew each time."""
    chance = random.Random(f"changed {seed}")
    said = {
        "counter": f"<p>read {chance.randrange(10**6)} times</p>",
        "date": f"<p>it is {chance.randrange(1, 28)} May 20{chance.randrange(10, 26)}</p>",
        "advertisement": f"<aside>{' '.join(chance.choices(_WORDS, k=words))}</aside>",
    }
    return "".join(said[part] for part in parts.split())


# A crawl with copies


class Shelf:
    """*pages* paths in no order that says anything; 30 % show what another one shows, which has the same path."""

    def __init__(self, pages: int) -> None:
        chance = random.Random(11)
        self.unique = pages * 7 // 10
        self.shows = {n: (n, None) for n in range(self.unique)}
        for n in range(self.unique, pages):
            self.shows[n] = chance.randrange(self.unique), n % 3
        order = list(range(pages))
        chance.shuffle(order)
        names = {n: f"/{chance.getrandbits(48):012x}.html" for n in range(self.unique)}
        self.paths = {}
        for n in order:
            content, how = self.shows[n]
            self.paths[names[content] + ("" if how is None else f"?{_PARAMETERS[how]}={n}")] = n
        paths = list(self.paths)
        self.lists = [paths[start : start + 100] for start in range(0, pages, 100)]

    def answer(self, path: str) -> bytes:
        if path == "/":
            return made(
                "All",
                prose("all", 50),
                "".join(f'<a href="/list/{n}">{n}</a>' for n in range(len(self.lists))),
            )
        if path.startswith("/list/"):
            number = int(path.rpartition("/")[2])
            links = "".join(f'<a href="{one}">{one}</a> ' for one in self.lists[number])
            return made(f"List {number}", prose(path, 40), links)
        content, how = self.shows[self.paths[path]]
        title, said = f"About {content}", prose(content, 200 + content % 400)
        if how == _MARKUP:
            return made(title, said, f"<!-- made for {path} --><input type=hidden name=back value='{path}'>")
        return made(title, said, changed(8, path) if how == _NEAR else "")


class Reader(Spider):
    """An item of each page but the lists."""

    name = "reader"

    def __init__(self, port: int, **_: Any) -> None:
        super().__init__()
        self.start_urls = [f"http://127.0.0.1:{port}/"]
        self.got: list[str] = []

    def parse(self, response: Response) -> Iterator[Any]:
        if ".html" in response.url:
            self.got.append(response.url)
            yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)


async def serve(pages: int) -> None:
    shelf = Shelf(pages)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            path = line.split()[1].decode()
            while (await reader.readline()).strip():
                pass
            body = shelf.answer(path)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def copies(options: argparse.Namespace) -> dict[str, object]:
    """With exact signatures, and with near-duplicates too."""
    shelf, found = Shelf(options.pages), {}
    for near in (False, True):
        with _Serving("serve", options) as server:
            command = [
                sys.executable,
                "-m",
                "benchmarks.contents",
                "read",
                "--port",
                server.readline().strip(),
            ]
            done = subprocess.run(command + ["--near"] * near, check=True, stdout=subprocess.PIPE, text=True)
        got, stats = json.loads(done.stdout)
        contents = [shelf.shows[shelf.paths[path]] for path in got]
        exact = Counter(content for content, how in contents if how != _NEAR)
        found["near" if near else "exact"] = {
            "pages": options.pages,
            "contents": shelf.unique,
            "items out": len(got),
            "contents out": len({content for content, _ in contents}),
            "out twice, of exact copies": sum(count - 1 for count in exact.values()),
            "near-duplicates there were": sum(how == _NEAR for _, how in shelf.shows.values()),
            "near-duplicates out": len(got) - exact.total() - len({c for c, _ in contents} - set(exact)),
            **stats,
        }
    return found


class _Serving:
    def __init__(self, what: str, options: argparse.Namespace) -> None:
        command = [sys.executable, "-m", "benchmarks.contents", what, "--pages", str(options.pages)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Any:
        return self.process.stdout

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()


def read(options: argparse.Namespace) -> list[object]:
    with tempfile.TemporaryDirectory() as folder:
        ours = {"ADDONS": {"scrapy_dust.Addon": 900}, "DUST_CONTENT_DEDUP": "drop", "DUST_DIR": folder}
        near = {"DUST_CONTENT_NEAR": True} if options.near else {}
        process = AsyncCrawlerProcess(_SETTINGS | ours | near)
        crawler = process.create_crawler(Reader)
        process.crawl(crawler, port=int(options.port))
        process.start()
        assert isinstance(crawler.spider, Reader)
        paths = ["/" + url.rpartition("/")[2] for url in crawler.spider.got]
        stats = crawler.stats.get_stats()
        return [paths, {name: value for name, value in stats.items() if name.startswith("dust/content")}]


# What near-duplicates are found


_KINDS = {
    "a counter": (0, "counter"),
    "a date": (0, "date"),
    "an advertisement of 8 words": (8, "advertisement"),
    "all three": (8, "counter date advertisement"),
}


def near(options: argparse.Namespace) -> dict[str, object]:
    """Pages of several lengths, each with one near-duplicate, some with four; and pages that only look like others."""
    found: dict[str, object] = {}
    right = wrong = sought = 0
    for words in (100, 200, 400, 800):
        contents = Contents(DustSettings.parse({"DUST_CONTENT_NEAR": True}), SqliteStore(None), str)
        of_length: dict[str, str] = {}
        for what, pages in _near_pages(words).items():
            for original, _ in pages.values():
                _look(contents, *original)
            hits = {name: contents_of(contents, *copy) for name, (_, copy) in pages.items()}
            good = sum(hit == f"http://a.test/{pages[name][0][0]}" for name, hit in hits.items())
            of_length[what] = f"{good}/{len(hits)}"
            right, sought = right + good, sought + len(hits)
            wrong += sum(hit is not None for hit in hits.values()) - good
        for what, others in _other_pages(words).items():
            false = sum(
                contents_of(contents, f"{what}/{n}", body) is not None for n, body in enumerate(others)
            )
            wrong += false
            of_length[f"different: {what}"] = f"{false} of {len(others)} taken for copies"
        found[f"{words} words"] = of_length
    return found | {
        "precision": right / (right + wrong),
        "recall": right / sought,
        "found": right,
        "false": wrong,
    }


Named = tuple[str, bytes]


def _near_pages(words: int) -> dict[str, dict[str, tuple[Named, Named]]]:
    """By what changed, by name: an original and its near-duplicate, each with its name."""

    def pair(title: str, name: str, kind: tuple[int, str]) -> tuple[Named, Named]:
        said = prose((words, title), words)
        return (f"original/{title}", made(title, said)), (
            name,
            made(title, said, changed(kind[0], name, parts=kind[1])),
        )

    pages = {
        what: {f"{what}/{n}": pair(f"About {what} {n}", f"{what}/{n}", kind) for n in range(300)}
        for what, kind in _KINDS.items()
    }
    four = {
        f"four/{n}/{m}": pair(f"About four {n}", f"four/{n}/{m}", kind)
        for n in range(75)
        for m, kind in enumerate(_KINDS.values())
    }
    return pages | {"four near-duplicates of one page": four}


def _other_pages(words: int) -> dict[str, list[bytes]]:
    """Each is another page, and so must come out."""

    def variant(number: int) -> bytes:
        return made(
            f"About a counter {number}, in red", f"{prose((words, f'About a counter {number}'), words)} red"
        )

    def listing(number: int) -> bytes:
        return made("List", " ".join(f"entry {number * 10 + n} of many" for n in range(words // 4)))

    def half(number: int) -> bytes:
        return made(
            f"About {number}", prose((words, number), words // 2) + " " + prose(("half", number), words // 2)
        )

    frame = prose("another frame", 900)
    return {
        "the same text under another title": [variant(n) for n in range(300)],
        "half of the text": [half(n) for n in range(300)],
        "lists under one title": [listing(n) for n in range(300)],
        "one title, 30 own words in a frame of 900": [
            made("Shop", prose(("own", n), 30), frame=frame) for n in range(300)
        ],
        "one title, 12 own words in a frame of 900": [
            made("Store", prose(("little", n), 12), frame=prose("yet another frame", 900)) for n in range(300)
        ],
    }


def _look(contents: Contents, name: str, body: bytes) -> Any:
    return contents.examine(f"http://a.test/{name}", Body(body, "text/html; charset=utf-8", None))


def contents_of(contents: Contents, name: str, body: bytes) -> str | None:
    """Of which page it is taken for a copy."""
    seen = _look(contents, name, body)
    keeper: str | None = seen.keeper if seen.is_copy else None
    return keeper


# What it costs


def cost(options: argparse.Namespace) -> dict[str, object]:
    pairs: list[tuple[Cost, Cost]] = []
    with recorder._server(options.words) as port:
        for number in range(options.pairs):
            order = (False, True) if number % 2 == 0 else (True, False)
            costs = {with_: _crawled(port, options.pages, with_, options.near) for with_ in order}
            pairs.append((costs[False], costs[True]))
    return {
        "pages": pairs[0][0].pages,
        "clock": median(with_.seconds / without.seconds for without, with_ in pairs),
        "cpu": median(with_.cpu / without.cpu for without, with_ in pairs),
        "cpu_ms_a_page": median(1000 * (with_.cpu - without.cpu) / with_.pages for without, with_ in pairs),
        "peak_mb": median((with_.peak - without.peak) / 2**20 for without, with_ in pairs),
        "pages_per_second": median(without.pages / without.seconds for without, _ in pairs),
    }


def _crawled(port: int, pages: int, with_: bool, near: bool) -> Cost:
    command = [
        sys.executable,
        "-m",
        "benchmarks.contents",
        "follow",
        "--port",
        str(port),
        "--pages",
        str(pages),
    ]
    command += ["--dedup"] * with_ + ["--near"] * near
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Cost(**json.loads(done.stdout))


def follow(options: argparse.Namespace) -> dict[str, object]:
    settings = dict(_SETTINGS)
    if options.dedup:
        settings |= {
            "SPIDER_MIDDLEWARES": {"scrapy_dust.ContentDedupMiddleware": 955},
            "DUST_CONTENT_DEDUP": "drop",
        }
        settings |= {"DUST_CONTENT_NEAR": True} if options.near else {}
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(Follower)
    process.crawl(crawler, port=int(options.port), pages=options.pages)
    process.start()
    assert isinstance(crawler.spider, Follower)
    return recorder.cost_of(crawler.spider).__dict__


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.contents", description=__doc__.splitlines()[0]
    )
    parser.add_argument("what", choices=("cost", "copies", "near", "serve", "read", "follow"))
    parser.add_argument("--pages", type=int)
    parser.add_argument("--pairs", type=int, default=1)
    parser.add_argument("--words", type=int, default=600)
    parser.add_argument("--near", action="store_true")
    parser.add_argument("--dedup", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--port", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.pages = options.pages or (20_000 if options.what == "cost" else 10_000)
    if options.what == "serve":
        asyncio.run(serve(options.pages))
        return
    found = globals()[options.what](options)
    print(json.dumps(found, indent=None if options.what in ("read", "follow") else 2))


if __name__ == "__main__":
    main()
