"""The whole loop at a site that wants something else, behind a proxy of this machine that counts what is asked of anybody.

While it is crawled the site looks harmless. What nobody links to, and so only who makes URLs up asks for, leads into the
private network, to other sites, to log-outs and deletions, and to where its robots.txt forbids to go. Its pages, headers
and robots.txt say wrong things about its own URLs and about those of another site.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.crawl.site import Answer, Site, error, redirect, serving
from tests.trials.running import html, prose
from tests.waiting import PATIENCE

pytestmark = pytest.mark.e2e

HOSTILE, VICTIM = "http://hostile.test", "http://victim.test"
COUNT = 12
ROBOTS = """User-agent: *
Disallow: /private/
Disallow: /b/*/plain$
Clean-param: page /list
Clean-param: page http://victim.test/list
Clean-param: id&number /
"""
#: Where URLs that somebody made up are led to, by one redirect or by a chain of them.
LURES = (
    "http://169.254.169.254/latest/meta-data/",
    "http://127.0.0.1:6379/",
    "http://localhost/admin",
    "http://10.0.0.1/",
    "http://2130706433/",
    "http://[::1]/",
    "http://hostile.test:8080/",
    "ftp://hostile.test/",
    "file:///etc/passwd",
    f"{VICTIM}/secret",
    f"{VICTIM}/list?page=1&led=here",
    "https://hostile.test/",
    "/logout",
    "/account/delete?id=7",
    "/cart/add-to-cart?id=7",
    "/private/1",
)
SPIDER = """
import json
from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor

class Links(Spider):
    name = "links"
    allowed_domains = ["hostile.test", "victim.test"]
    links = LinkExtractor(canonicalize=False, deny="logout|checkout")

    async def start(self):
        for site in ("hostile", "victim"):
            yield Request(f"http://{site}.test/")

    def parse(self, response):
        for link in self.links.extract_links(response):
            yield Request(link.url)
"""
SETTINGS = """
SPIDER_MODULES = ["spiders"]
ADDONS = {"scrapy_dust.Addon": 900}
ROBOTSTXT_OBEY = True
TELNETCONSOLE_ENABLED = REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "ERROR"
DUST_CANARY_RATE = 0.2
DUST_CONTENT_STORE = "pages.sqlite"
RETRY_TIMES = 0
DNS_TIMEOUT = 2
"""

#: What the spider may find: path → the page's name, on each of the two sites.
LINKED: dict[str, dict[str, str]] = {
    HOSTILE: {
        "/": "home",
        **{f"/p?id={n}&sid={s}{n}": f"p{n}" for n in range(COUNT) for s in "abc"},
        **{f"/list?page={n}": f"list{n}" for n in range(COUNT)},
        **{f"/copy?number={n}": "victim list0" for n in range(COUNT)},
        **{f"/show/{n}": f"item{n}" for n in range(COUNT)},
        # The spider does not mind these. A rule that is made of them would make more.
        **{f"/delete/{n}": f"item{n}" for n in range(4)},
        **{f"/a/{n}/{end}": f"a{n}" for n in range(COUNT) for end in ("plain", "print")},
        **{f"/b/{n}/print": f"b{n}" for n in range(COUNT)},
    },
    VICTIM: {
        "/": "victim home",
        **{f"/list?page={n}": f"victim list{n}" for n in range(COUNT)},
        **{f"/p{n}{end}": f"victim p{n}" for n in range(COUNT) for end in ("", "?sid=1", f"?sid={n + 2}")},
    },
}


def web(path: str) -> Answer:
    """As a proxy is asked: *path* is a whole URL."""
    parts = urlsplit(path)
    site, rest = f"{parts.scheme}://{parts.netloc}", path.partition(parts.netloc)[2]
    if rest == "/robots.txt":
        said = ROBOTS if site == HOSTILE else "User-agent: *\nAllow: /\n"
        return Answer(said.encode(), 200, {"Content-Type": "text/plain"})
    known = LINKED.get(site, {})
    if rest in known:
        return _shown(site, rest, known[rest])
    return _lure(rest) if site == HOSTILE else error(404)


def _shown(site: str, path: str, name: str) -> Answer:
    links = "".join(f'<a href="{link}">x</a>' for link in LINKED[site]) if path == "/" else ""
    lie = f'<link rel="canonical" href="{VICTIM}/list?page=0">' if site == HOSTILE else ""
    answer = html(prose(name), head=lie)
    headers = {**answer.headers, "No-Vary-Search": "params"} if site == HOSTILE else answer.headers
    return Answer(answer.body.replace(b"</body>", links.encode() + b"</body>"), 200, headers)


def _lure(rest: str) -> Answer:
    number = sum(rest.encode())
    if "hop=" not in rest and number % 3 == 0:
        return redirect(f"/p?hop={number}")
    return redirect(LURES[number % len(LURES)])


@dataclass(frozen=True)
class Loop:
    asked: dict[str, list[str]]  #: step → URLs
    mined: dict[str, object]


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Loop:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (folder / "settings.py").write_text(SETTINGS)
    (folder / "spiders").mkdir()
    (folder / "spiders" / "links.py").write_text(SPIDER)
    (folder / "urls.txt").write_text("".join(f"{url}\n" for url in sorted(_linked(HOSTILE))))
    said: dict[str, list[str]] = {}
    with serving(web) as proxy:

        def step(name: str, *command: str) -> str:
            proxy.asked.clear()
            out = _scrapy(folder, proxy, *command)
            said[name] = list(proxy.asked)
            return out

        step("crawl", "crawl", "links")
        mined = json.loads(step("mine", "dustmine", "--json", "--report", "report.html"))
        step("crawl with rules", "crawl", "links", "-s", "DUST_CONTENT_DEDUP=drop")
        step("learn online", "crawl", "links", "-s", "DUST_LEARN=online", "-s", "DUST_RULES=none.json")
        step("learn at the end", "crawl", "links", "-s", "DUST_LEARN=close", "-s", "DUST_RULES=late.json")
        for command in (
            "dustmine --dry-run --no-validate",
            "dusteval --methods keepall",
            "dustpages stats",
            "dustrules list",
            "dustrules export json",
            "dustrules keys urls.txt",
            "dustcompletion bash",
        ):
            step(command, *command.split())
    return Loop(said, mined)


def _scrapy(folder: Path, proxy: Site, *command: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key.lower() != "no_proxy"}
    through = dict.fromkeys(("http_proxy", "https_proxy", "ftp_proxy"), proxy.url(""))
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *command],
        cwd=folder,
        env=environment | through,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    assert "Traceback" not in done.stderr, f"{command}: {done.stderr}"
    return done.stdout


def _linked(site: str) -> set[str]:
    return {site + path for path in LINKED[site]}


ALL_LINKED = _linked(HOSTILE) | _linked(VICTIM)
CRAWLS = ("crawl", "crawl with rules", "learn online")
VALIDATE = ("mine", "learn at the end")


def is_forbidden(url: str) -> bool:
    """What nobody may ask for who was not told to by a link."""
    parts = urlsplit(url)
    if url in ALL_LINKED or parts.path == "/robots.txt":
        return False
    to_elsewhere = f"{parts.scheme}://{parts.netloc}" not in (HOSTILE, VICTIM)
    is_led_to = url in LURES or parts.path in {lure.partition("?")[0] for lure in LURES}
    acts = any(word in url for word in ("logout", "delete", "cart", "checkout"))
    is_disallowed = parts.netloc == "hostile.test" and (
        parts.path.startswith("/private/") or (parts.path.startswith("/b/") and parts.path.endswith("/plain"))
    )
    return to_elsewhere or is_led_to or acts or is_disallowed or parts.path == "/secret" or "led=here" in url


def test_the_lures_are_laid_out_where_validation_comes_by(loop):
    """Or all that follows would prove nothing."""
    made_up = {url for step in VALIDATE for url in loop.asked[step]} - ALL_LINKED
    followed = [url for url in made_up if url.startswith(HOSTILE) and "robots.txt" not in url]
    assert len(followed) > 10
    assert sum(1 for url in followed if "hop=" in url) > 0
    assert loop.mined["fetches"] > 20


def test_requests_that_must_not_happen_0(loop):
    assert {step: [url for url in asked if is_forbidden(url)] for step, asked in loop.asked.items()} == {
        step: [] for step in loop.asked
    }


def test_a_crawl_asks_for_what_is_linked_and_for_nothing_else(loop):
    robots = {f"{site}/robots.txt" for site in LINKED}
    for step in CRAWLS:
        assert set(loop.asked[step]) <= ALL_LINKED | robots, step


def test_nothing_else_asks_for_anything(loop):
    assert {step: asked for step, asked in loop.asked.items() if step not in (*CRAWLS, *VALIDATE)} == {
        step: [] for step in loop.asked if step not in (*CRAWLS, *VALIDATE)
    }


@pytest.mark.parametrize("site", [HOSTILE, VICTIM])
def test_whatever_a_site_says_no_page_of_it_or_of_another_is_lost(loop, site):
    def pages(step: str) -> set[str]:
        return {LINKED[site][url.removeprefix(site)] for url in loop.asked[step] if url in _linked(site)}

    assert pages("crawl") == set(LINKED[site].values())
    assert {step: pages("crawl") - pages(step) for step in CRAWLS} == {step: set() for step in CRAWLS}


def test_the_victims_own_rules_are_learned_all_the_same(loop):
    assert loop.mined["valid"] > 0
    assert len(loop.asked["crawl with rules"]) < len(loop.asked["crawl"])
