"""The two-way check of Mahajan, Gupta and Bedi on a site: ``python -m benchmarks.two_way URL … [--allow REGEX]``.

    python -m benchmarks.two_way --example
    python -m benchmarks.two_way http://blog.test/ --hosts www.blog.test

Five crawls follow every link. The first fetches all that Scrapy's own dupefilter lets through, and rules are mined
from its log and validated. Two do what the paper prints, the second with the database of the first. One drops copies by
our signatures alone; the last has the rules too. Of each
it is told how many URLs were found, how many were rejected before the fetch and how many after it, and how many
pages came out.

The truth is made of what came, by other code than ours: a page is its title and its text, or its bytes where it has
none; the example knows its own. A false drop is a page that was dropped as a copy of one that it is not. What was not
reached are contents of the first crawl of which no URL, and no other page that shows it, came out of this one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urldefrag, urlsplit

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import IGNORED_EXTENSIONS, LinkExtractor
from selectolax.lexbor import LexborHTMLParser

EXAMPLE = Path(__file__).resolve().parent.parent / "example_project"
PUBLISHED = ("as published", "as published, a second crawl")
ROUNDS = ("all", *PUBLISHED, "signatures", "rules and signatures")


def truth_of(response: Response) -> str:
    if b"html" not in (response.headers.get("Content-Type") or b""):
        return hashlib.sha1(response.body).hexdigest()
    tree = LexborHTMLParser(response.body)
    title = tree.css_first("title")
    said = [title.text() if title is not None else ""]
    tree.strip_tags(["script", "style", "noscript", "template"], recursive=True)
    said.append(tree.body.text(separator=" ") if tree.body is not None else "")
    words = "\n".join(" ".join(part.split()) for part in said)
    return hashlib.sha1(
        (words if words.strip() else "").encode("utf-8", "replace") or response.body
    ).hexdigest()


class Witness:
    """Before our middleware: what came. After it: what it said."""

    came: ClassVar[dict[str, str]] = {}
    dropped: ClassVar[dict[str, str]] = {}

    def process_spider_input(self, response: Response) -> None:
        self.came[response.url] = truth_of(response)


class Listener:
    def process_spider_input(self, response: Response) -> None:
        assert response.request is not None
        keeper = response.request.meta.get("dust_duplicate_of")
        if keeper is not None:
            Witness.dropped[response.url] = keeper


class Proxied:
    """The example's sites are behind a proxy."""

    def process_request(self, request: Request) -> None:
        request.meta["proxy"] = os.environ["EXAMPLE_WEB"]


class Everything(Spider):
    name = "everything"

    def __init__(self, starts: list[str], hosts: list[str], allow: str | None, **_: Any) -> None:
        super().__init__()
        self.start_urls = starts
        self.allowed = {urlsplit(url).netloc for url in starts} | set(hosts)
        self.allow = re.compile(allow or "")
        self.links = LinkExtractor(unique=True, deny_extensions=[*IGNORED_EXTENSIONS, "gz", "xz", "patch"])
        self.found: set[str] = set()
        self.out: set[str] = set()

    def parse(self, response: Response) -> Iterator[Request]:
        self.out.add(response.url)
        if not isinstance(response, TextResponse):
            return
        for link in self.links.extract_links(response):
            url = urldefrag(link.url).url
            if urlsplit(url).netloc in self.allowed and self.allow.search(url):
                self.found.add(url)
                yield Request(url)


def crawl(options: argparse.Namespace) -> dict[str, Any]:
    """In this process; it should do nothing else."""
    settings: dict[str, Any] = {
        "ADDONS": {"scrapy_dust.Addon": 900},
        "SPIDER_MIDDLEWARES": {Witness: 940, Listener: 960},
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "CONCURRENT_REQUESTS_PER_DOMAIN": options.concurrent,
        "CLOSESPIDER_PAGECOUNT": options.pages,
        "ROBOTSTXT_OBEY": bool(options.example),
        "DOWNLOAD_DELAY": 0,
        "DUST_DIR": str(Path(options.dir, "dust")),
        "DUST_RULES": [str(Path(options.dir, "rules.json"))],
        "DUST_CANARY_RATE": 0,
        "DUST_CONTENT_DEDUP": {"all": "off", **dict.fromkeys(PUBLISHED, "paper")}.get(options.round, "drop"),
        "DUST_CONTENT_FOLLOW": options.follow,
        "DUST_LEARN": "close" if options.round == "all" else "off",
        "DUST_VALIDATION_BUDGET": options.budget,
        "DUST_MODE": "enforce" if options.round in ("all", "rules and signatures") else "off",
    }
    if options.example:
        settings |= {"DOWNLOADER_MIDDLEWARES": {Proxied: 740}, "CONCURRENT_REQUESTS_PER_DOMAIN": 8}
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(Everything)
    process.crawl(crawler, starts=options.start, hosts=options.hosts, allow=options.allow)
    process.start()
    spider = crawler.spider
    assert isinstance(spider, Everything)
    stats = crawler.stats.get_stats()
    return {
        "found": sorted(spider.found | set(spider.start_urls)),
        "came": Witness.came,
        "dropped": Witness.dropped,
        "out": sorted(spider.out),
        "requests": stats.get("downloader/request_count", 0),
        "stats": {name: value for name, value in stats.items() if name.startswith("dust/content")},
    }


def told(
    done: dict[str, Any], everything: dict[str, Any], truth: Callable[[str], str | None], *, known: bool
) -> dict[str, Any]:
    out, dropped = set(done["out"]), done["dropped"]
    contents = {content for url in everything["came"] if (content := truth(url)) is not None}
    reached = {truth(url) for url in out} | {
        _shown(everything, done["came"][url]) for url in out if url in done["came"]
    }
    return {
        "URLs found": len(done["found"]),
        "rejected before the fetch": len(set(done["found"]) - set(done["came"])),
        "pages fetched": len(done["came"]),
        "rejected after it": len(set(done["came"]) - out),
        "pages that came out": len(out),
        "different pages among them": len({truth(url) or done["came"].get(url) for url in out}),
        # Of what the published check drops nobody is told whose copy it is.
        "false drops": sum(
            _differ(url, keeper, done["came"], truth, known=known) for url, keeper in dropped.items()
        ),
        "contents in all": len(contents),
        "contents not reached": len(contents - reached),
        "requests": done["requests"],
        **done["stats"],
    }


def _shown(everything: dict[str, Any], digest: str) -> str | None:
    """The content of a URL that was not in the first crawl, by what it shows."""
    return digest if digest in everything["came"].values() else None


def _differ(
    url: str, keeper: str, came: dict[str, str], truth: Callable[[str], str | None], *, known: bool
) -> bool:
    """*known*: the site's own truth. Otherwise what came at that moment is."""
    if known and None not in (of_both := (truth(url), truth(keeper))):
        return of_both[0] != of_both[1]
    return came[url] != came.get(keeper)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.two_way", description=__doc__.splitlines()[0])
    parser.add_argument("start", nargs="*")
    parser.add_argument("--example", action="store_true", help="the project's own example site")
    parser.add_argument("--hosts", nargs="*", default=[])
    parser.add_argument("--allow")
    parser.add_argument("--pages", type=int, default=0, help="stop after so many responses")
    parser.add_argument("--concurrent", type=int, default=4)
    parser.add_argument("--budget", type=int, default=300, help="fetches that validation may spend")
    parser.add_argument("--follow", action="store_true", help="follow the links of copies")
    parser.add_argument("--round", choices=ROUNDS, help=argparse.SUPPRESS)
    parser.add_argument("--dir", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.round:
        Path(options.dir, f"{options.round}.json").write_text(json.dumps(crawl(options)))
        return
    with tempfile.TemporaryDirectory() as folder, web(options):
        rounds = {}
        for name in ROUNDS:
            command = [
                sys.executable,
                "-m",
                "benchmarks.two_way",
                *sys.argv[1:],
                *options.start * options.example,
            ]
            subprocess.run([*command, "--round", name, "--dir", folder], check=True)
            rounds[name] = json.loads(Path(folder, f"{name}.json").read_text())
            truth = _example_truth() if options.example else rounds["all"]["came"].get
            print(
                json.dumps(
                    {"crawl": name, **told(rounds[name], rounds["all"], truth, known=options.example)}
                ),
                flush=True,
            )


@contextmanager
def web(options: argparse.Namespace) -> Iterator[None]:
    if not options.example:
        yield
        return
    sys.path.insert(0, str(EXAMPLE))
    from dusty_web.running import running_web  # noqa: PLC0415
    from dusty_web.sites import SITES  # noqa: PLC0415

    options.start = [f"http://{site.hosts[0]}/" for site in SITES]
    options.hosts = [host for site in SITES for host in site.hosts]
    with running_web() as web:
        os.environ["EXAMPLE_WEB"] = web.proxy
        yield


def _example_truth() -> Callable[[str], str | None]:
    """The example's own: what it shows is known, also of pages that change at every fetch."""
    from dusty_web.truth import truth_of as example_truth  # noqa: PLC0415
    from dusty_web.web import DustyWeb  # noqa: PLC0415

    web = DustyWeb()
    return lambda url: example_truth(web, url).content


if __name__ == "__main__":
    main()
