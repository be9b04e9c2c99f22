"""A shop full of duplicate URLs on this machine, for `follow.py`: as an HTTP proxy, so that its name can be anything.

`http://shop.example/` has categories and products. Each link has a session id that says nothing, `www.` is the same
host, and a last `index.html` the same page. Of 28 pages some 200 URLs are linked. What somebody's server or archive would have of it is made here too.
"""

from __future__ import annotations

import gzip
import json
import random
import threading
from base64 import b32encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

HOST = "shop.example"
_PRODUCTS, _CATEGORIES = 24, 3
_WORDS = [a + b + c for a in "bdfgklmnprstvz" for b in "aeiou" for c in ("", "l", "n", "r", "st")]


def page(url: str) -> tuple[int, bytes]:
    """Status and HTML of a URL of the shop."""
    parts = urlsplit(url)
    path = parts.path.removesuffix("index.html")
    if path == "/robots.txt":
        return 200, b"User-agent: *\nAllow: /\n"
    if path in ("/", ""):
        return 200, _html("Shop", [f"/c/{n}/" for n in range(_CATEGORIES)])
    kind, _, name = path.strip("/").partition("/")
    if kind == "c" and name.isdigit() and int(name) < _CATEGORIES:
        products = range(int(name), _PRODUCTS, _CATEGORIES)
        return 200, _html(f"Category {name}", [f"/p/{n}/" for n in products])
    if kind == "p" and name.isdigit() and int(name) < _PRODUCTS:
        return 200, _html(f"Product {name}", ["/", f"/c/{int(name) % _CATEGORIES}/"])
    return 404, b"<html><title>Not found</title><body><p>There is no such page.</p></body></html>"


def _html(title: str, paths: list[str]) -> bytes:
    said = " ".join(random.Random(title).choices(_WORDS, k=80))
    links = "".join(f'<a href="{link}">{link}</a>' for path in paths for link in _aliases(path, title))
    return f"<html><head><title>{title}</title></head><body><p>{said}</p>{links}</body></html>".encode()


def _aliases(path: str, of: str) -> list[str]:
    """The two ways in which one page *of* the shop links a path."""
    chance = random.Random(f"{path} {of}")
    hosts = ("", "", f"http://www.{HOST}")
    ends = ("", "", "index.html")
    return [
        f"{chance.choice(hosts)}{path}{chance.choice(ends)}?sid={chance.randrange(1, 1 << 16):04x}"
        for _ in range(2)
    ]


def some_urls(count: int = 400) -> list[str]:
    """URLs as visitors ask for them."""
    chance = random.Random(4)
    paths = [f"/p/{n}/" for n in range(_PRODUCTS)] + [f"/c/{n}/" for n in range(_CATEGORIES)]
    found = []
    while len(found) < count:
        links = [*_aliases(chance.choice(paths), str(chance.randrange(1000))), chance.choice(paths)]
        found += [link if link.startswith("http") else f"http://{HOST}{link}" for link in links]
    return found


def access_log() -> str:
    """As nginx writes it, of all hosts that it has."""
    day = "18/Nov/2026:10:00:00 +0000"
    lines = []
    for url in some_urls():
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        size = len(page(url)[1])
        lines.append(f'192.0.2.7 - - [{day}] "GET {target} HTTP/1.1" 200 {size} "-" "Mozilla/5.0"')
    return "\n".join(lines) + "\n"


def access_log_with_hosts(form: str) -> str:
    """As another server writes it; *form* is of `str.format`."""
    requests = (urlsplit(url) for url in some_urls(60))
    named = ((parts.netloc, parts.path + (f"?{parts.query}" if parts.query else "")) for parts in requests)
    return "".join(form.format(host=host, target=target) + "\n" for host, target in named)


def web_archive() -> bytes:
    """The shop's pages as WARC records."""
    records = b""
    for url in dict.fromkeys(some_urls()):
        answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page(url)[1]
        head = f"WARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-11-18T10:00:00Z\r\n"
        head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n"
        records += b"WARC/1.1\r\n" + head.encode() + b"\r\n" + answer + b"\r\n\r\n"
    return gzip.compress(records)


def index_of_archive() -> bytes:
    """A CDX of it."""
    lines = [" CDX N b a m s k r M S V g"]
    for url in sorted(dict.fromkeys(some_urls())):
        digest = b32encode(sha1(page(url)[1], usedforsecurity=False).digest()).decode()
        key = f"example,shop){urlsplit(url).path}?{urlsplit(url).query}"
        lines.append(f"{key} 20261118100000 {url} text/html 200 {digest} - - 900 0 a.warc.gz")
    return gzip.compress(("\n".join(lines) + "\n").encode())


def crawl_log(count: int = 500) -> bytes:
    """A URL list of the shop: what a crawl by another program knows of it."""
    lines = [
        {"url": url, "status": 200, "text_digest": sha256(body).hexdigest(), "size": len(body)}
        for url, body in ((url, page(url)[1]) for url in dict.fromkeys(some_urls(count)))
    ]
    return gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode())


@contextmanager
def serving() -> Iterator[int]:
    """The port of a proxy that knows the shop and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = (urlsplit(self.path).hostname or "").removeprefix("www.")
            status, body = page(self.path) if host == HOST else (502, b"")
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_project(folder: Path) -> None:
    """A Scrapy project with a spider that follows every link of the shop."""
    package = folder / "shop"
    (package / "spiders").mkdir(parents=True)
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = shop.settings\n")
    for name in ("__init__.py", "spiders/__init__.py"):
        (package / name).touch()
    (package / "settings.py").write_text(_SETTINGS)
    (package / "spiders" / "shop.py").write_text(_SPIDER)


_SETTINGS = """\
BOT_NAME = "shop"
SPIDER_MODULES = ["shop.spiders"]
NEWSPIDER_MODULE = "shop.spiders"
ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 0
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "WARNING"
"""

_SPIDER = """\
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class ShopSpider(CrawlSpider):
    name = "shop"
    allowed_domains = ["shop.example"]
    start_urls = ["http://shop.example/"]
    rules = [Rule(LinkExtractor(), callback="parse_page", follow=True)]

    def parse_page(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
"""
