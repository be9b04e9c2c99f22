"""Keys as they are: ``python -m tests.crawl.golden_keys`` writes them down, where they have changed on purpose.

A key that changes with a library's version makes every JOBDIR, HTTP cache and shared Redis forget what was seen. So
`test_golden_keys.py` compares, on each version that we are tested with; ``tox -e canary`` on those to come.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from scrapy import Request, Spider
from scrapy.utils.request import RequestFingerprinter
from scrapy.utils.test import get_crawler

from scrapy_dust.crawl.fingerprinter import DustRequestFingerprinter
from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rules.parameters import AnyValue, DropParameter
from scrapy_dust.rules.queries import SortParameters
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute

FILE = Path(__file__).with_name("golden_keys.tsv")

_HOSTS = ("http://a.example", "https://a.example:8443", "http://b.example", "http://www.a.example")
_PATHS = ("", "/", "/p", "/p/index.html", "/%7Euser/%c3%a9", "/é", "/a//b/../c", "/p;v=1")
_QUERIES = ("", "?", "?sid=1", "?b=2&a=1&a=", "?q=%E4+x%20y&sid=2", "?a[]=1;b=2#top", "?sid=1&sid=2&z")
_RULES = {
    "a.example": (Rule.of(DropParameter("sid")), Rule.of(Substitute("/index.html", "/", end=True))),
    "b.example": (Rule((AnyValue("sid"),)), Rule((SortParameters(),))),
}


def requests() -> Iterator[tuple[str, Request]]:
    """With their names: the URLs as they are given, not as a version of Scrapy quotes them."""
    for parts in product(_HOSTS, _PATHS, _QUERIES):
        url = "".join(parts)
        yield f"GET {url}", Request(url)
    yield "HEAD", Request("http://a.example/p?sid=1", method="HEAD")
    yield "POST", Request("http://a.example/p?sid=1", method="POST", body=b"sid=1")
    yield "verbatim", Request("http://a.example/p?b=2&a=1", meta={"verbatim_url": True})


def keys() -> dict[str, tuple[str, str]]:
    """By request: Scrapy's own fingerprint, and ours."""
    with TemporaryDirectory() as folder:
        book = RuleBook()
        for site, rules in _RULES.items():
            book = book.with_site(site, [Entry(rule) for rule in rules])
        book.save(Path(folder, "rules.json"))
        crawler = get_crawler(Spider, {"DUST_RULES": [str(Path(folder, "rules.json"))], "DUST_DIR": folder})
        scrapys, ours = RequestFingerprinter(crawler), DustRequestFingerprinter.from_crawler(crawler)
        return {
            name: (scrapys.fingerprint(request).hex(), ours.fingerprint(request).hex())
            for name, request in requests()
        }


def written() -> dict[str, tuple[str, str]]:
    lines = FILE.read_text("utf-8").splitlines()
    return {name: (scrapys, ours) for name, scrapys, ours in (line.split("\t") for line in lines)}


def with_what() -> str:
    return ", ".join(f"{name} {version(name)}" for name in ("scrapy", "w3lib", "xxhash", "tldextract"))


if __name__ == "__main__":
    FILE.write_text("".join(f"{name}\t{a}\t{b}\n" for name, (a, b) in keys().items()), "utf-8", newline="\n")
