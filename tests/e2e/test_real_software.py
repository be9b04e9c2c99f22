"""The whole loop on web software that others wrote, served on this machine; $DUST_SITES says where it is set up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from tests.waiting import PATIENCE

pytestmark = pytest.mark.e2e

_NOTHING = ""  #: what is at the end of a link that leads nowhere

SPIDER = Path(__file__).with_name("everything.py")


@dataclass(frozen=True)
class Site:
    start: str
    deny: str  #: parts left out, to keep the crawl short
    left: float  #: of the requests of the first crawl, at most so many are left in the second
    ignore: str = ""  #: what a user says that is no content: `DUST_IGNORE`


SITES = {
    # Host and directory aliases, index pages, sort orders of listings.
    "apache": Site(
        "http://apache.test/", r"/(python3\.11|sqlite3|manual|git|handbook|debian-policy)(/|$)", 0.42
    ),
    # Links to reply to a comment, on every page with comments: half of all URLs.
    # The form says whom the reply is for, so that nobody but a user can say that such a page shows nothing new.
    "wordpress": Site(
        "http://blog.test/",
        r"/wp-(admin|login|json)|/feed/|/202[23]/|/(author|tag)/",
        0.5,
        "#respond, meta[name=robots]",
    ),
}


@dataclass(frozen=True)
class Crawl:
    requests: int
    pages: tuple[Mapping[str, list[str]], ...]  #: what is on each: see `everything.py`

    def every(self, kind: str) -> set[str]:
        return {one for page in self.pages for one in page.get(kind, ())}


@dataclass(frozen=True)
class Loop:
    site: Site
    before: Crawl
    after: Crawl
    mined: dict[str, int]


@pytest.fixture(scope="module", params=sorted(SITES))
def loop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loop:
    site = SITES[request.param]
    if "DUST_SITES" not in os.environ or not (Path(os.environ["DUST_SITES"]) / request.param).is_dir():
        pytest.skip(
            f"{request.param} is not set up on this machine; set DUST_SITES to the folder of the sites"
        )
    if not _answers(site.start):
        pytest.skip(f"{site.start} does not answer; start it with all.sh in $DUST_SITES")
    folder = tmp_path_factory.mktemp(request.param)
    before = crawl(folder, site, "before")
    mined = json.loads(
        _scrapy(folder, "dustmine", "--json", str(folder / "before"), *_settings(folder, site))
    )
    after = crawl(folder, site, "after")
    print(
        f"\n{request.param}: {before.requests} requests before, {after.requests} after; {mined['valid']} rules, "
        f"{mined['fetches']} validation fetches; {len(lost(before, after))} texts, links and pictures lost"
    )
    return Loop(site, before, after, mined)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def crawl(folder: Path, site: Site, name: str) -> Crawl:
    stats = folder / f"{name}.json"
    taken = folder / f"{name}.jsonl"
    arguments = [f"-astart={site.start}", f"-adeny={site.deny}", f"-astats={stats}"]
    arguments += [f"-ataken={taken}", f"-aignore={site.ignore}", *_settings(folder, site)]
    _scrapy(folder, "runspider", str(SPIDER), *arguments, f"-sDUST_DIR={folder / name}")
    counted = json.loads(stats.read_text())
    assert counted["reason"] == "finished"
    pages = tuple(map(json.loads, taken.read_text("utf-8").splitlines()))
    return Crawl(counted["downloader/request_count"], pages)


def _settings(folder: Path, site: Site) -> list[str]:
    return [
        f"-sDUST_IGNORE={site.ignore}",
        '-sADDONS={"scrapy_dust.Addon": 900}',
        f"-sDUST_DIR={folder / 'state'}",
        f"-sDUST_RULES={folder / 'rules.json'}",
        "-sLOG_LEVEL=ERROR",
        "-sCONCURRENT_REQUESTS_PER_DOMAIN=8",
        "-sTELNETCONSOLE_ENABLED=False",
        "-sREMOTE_CONTROL_ENABLED=False",
    ]


def _scrapy(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def lost(before: Crawl, after: Crawl) -> list[str]:
    """What is on some page of the first crawl, and on no page of the second.

    A link is there as long as what it leads to is. What is at the end of a link that the first crawl followed is judged by
    itself. Of others the site is asked. A link that leads nowhere is no loss.
    """
    texts = before.every("texts") - after.every("texts") | before.every("rows") - after.every("rows")
    return sorted({*texts, *_urls_lost(before, after, "links"), *_urls_lost(before, after, "media")})


def _urls_lost(before: Crawl, after: Crawl, kind: str) -> Iterator[str]:
    followed = {str(page["url"]) for page in before.pages}
    gone = before.every(kind) - after.every(kind) - followed
    shown = {_shows(url) for url in after.every(kind) - followed} if gone else set()
    return (url for url in gone if _shows(url) not in {*shown, _NOTHING})


@cache
def _shows(url: str) -> str:
    """A digest of what *url* shows; of other sites the URL itself."""
    if not any(url.replace("://www.", "://", 1).startswith(site.start) for site in SITES.values()):
        return url
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return sha256(answer.read()).hexdigest()
    except urllib.error.HTTPError:
        return _NOTHING


def test_the_second_crawl_asks_for_no_more_than_is_left(loop: Loop) -> None:
    assert loop.mined["valid"] > 0
    assert loop.after.requests <= loop.site.left * loop.before.requests


def test_nothing_that_a_spider_could_take_is_lost(loop: Loop) -> None:
    assert lost(loop.before, loop.after) == []


def test_validation_stays_within_its_budget(loop: Loop) -> None:
    assert loop.mined["fetches"] <= 1000
